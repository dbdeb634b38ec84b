//! What was counted, in Prometheus's text format 0.0.4: made a line at a time, as a table of families says.
//!
//! Every line is of one moment; two lines may be of two, as a scrape takes a while and nobody waits for it. Label values come
//! from tables of ours, never from a peer.

use core::fmt;

use protocol_core::{FaultKind, Node, Tally, Usage, push::PushCounts, time::Millis};

use crate::{
    pieces::{self, Parts},
    status::{Facts, TARGET, VERSION},
};

/// The counters of a device, while they are being read.
pub struct Metrics<'n, 's> {
    view: View<'n, 's>,
    family: usize,
    series: usize,
    /// The line of the series that is being given; the family's own lines where there is none yet.
    line: Option<Series>,
    given: usize,
}

/// Where the numbers come from.
#[derive(Clone, Copy)]
struct View<'n, 's> {
    node: &'n Node<'s>,
    facts: &'n Facts,
}

/// What belongs under one name.
struct Family {
    name: &'static str,
    kind: &'static str,
    help: &'static str,
    from: From,
}

/// Where the numbers of a family come from.
enum From {
    /// One number, or none.
    One(fn(View<'_, '_>) -> Option<u64>),
    /// A counter of the engine's.
    Tally(fn(&Tally) -> u32),
    /// How full each table is, by its name.
    Tables(fn(&Usage) -> u32),
    /// As many as there are values of that label.
    Named(&'static str, fn(View<'_, '_>, usize) -> Option<(&'static str, u32)>),
    /// As many as there are.
    Many(fn(View<'_, '_>, usize) -> Option<Series>),
}

impl From {
    /// The series of that number; nothing behind the last one.
    fn series(&self, view: View<'_, '_>, number: usize) -> Option<Series> {
        let named = match self {
            Self::Many(at) => return at(view, number),
            Self::Named(label, at) => at(view, number).map(|(word, count)| (*label, word, u64::from(count))),
            Self::Tables(of) => {
                view.facts.usage(view.node, number).map(|(word, usage)| ("table", word, u64::from(of(&usage))))
            }
            Self::Tally(of) if number == 0 => Some(("", "", u64::from(view.node.tally(of)))),
            Self::One(of) if number == 0 => of(view).map(|count| ("", "", count)),
            Self::Tally(_) | Self::One(_) => None,
        };
        let (label, word, count) = named?;
        let value = if label.is_empty() { Value::None } else { Value::Word(word) };
        Some(Series { labels: [(label, value), NO_LABEL, NO_LABEL], number: Number::Whole(count) })
    }
}

const NO_LABEL: (&str, Value) = ("", Value::None);

/// One line.
#[derive(Clone, Copy)]
struct Series {
    labels: [(&'static str, Value); 3],
    number: Number,
}

/// The value of a label.
#[derive(Clone, Copy)]
enum Value {
    None,
    Word(&'static str),
    Code(u16),
}

#[derive(Clone, Copy)]
enum Number {
    Whole(u64),
    /// In seconds, which are the unit to use.
    Time(Millis),
    /// There is no such line.
    Skipped,
}

impl<'n, 's> Metrics<'n, 's> {
    /// From the first line on.
    pub fn new(node: &'n Node<'s>, facts: &'n Facts) -> Self {
        Self { view: View { node, facts }, family: 0, series: 0, line: None, given: 0 }
    }

    /// Fills `out` with the next bytes and says how many; 0 is the end.
    pub fn fill(&mut self, out: &mut [u8]) -> usize {
        let mut given = self.given;
        let filled = pieces::fill(self, &mut given, out);
        self.given = given;
        filled
    }
}

impl Parts for Metrics<'_, '_> {
    fn write(&self, out: &mut dyn fmt::Write) -> fmt::Result {
        let Some(Family { name, kind, help, .. }) = FAMILIES.get(self.family) else { return Ok(()) };
        let Some(Series { labels, number }) = &self.line else {
            return write!(out, "# HELP {name} {help}\n# TYPE {name} {kind}\n");
        };
        if let Number::Skipped = number {
            return Ok(());
        }
        out.write_str(name)?;
        let mut between = "{";
        for (label, value) in labels {
            match value {
                Value::None => continue,
                Value::Word(word) => write!(out, "{between}{label}=\"{word}\"")?,
                Value::Code(code) => write!(out, "{between}{label}=\"{code}\"")?,
            }
            between = ",";
        }
        let end = if between == "," { "}" } else { "" };
        match number {
            Number::Whole(number) => writeln!(out, "{end} {number}"),
            Number::Time(Millis(millis)) => writeln!(out, "{end} {}.{:03}", millis / 1000, millis % 1000),
            Number::Skipped => Ok(()),
        }
    }

    fn go_on(&mut self) {
        let next = FAMILIES.get(self.family).and_then(|family| family.from.series(self.view, self.series));
        self.series = self.series.saturating_add(1);
        if next.is_none() {
            self.family = self.family.saturating_add(1);
            self.series = 0;
        }
        self.line = next;
    }

    fn is_done(&self) -> bool {
        self.family >= FAMILIES.len()
    }
}

const fn counter(name: &'static str, help: &'static str, from: From) -> Family {
    Family { name, kind: "counter", help, from }
}

const fn gauge(name: &'static str, help: &'static str, from: From) -> Family {
    Family { name, kind: "gauge", help, from }
}

/// All of them. docs/operations.md has the same table, and a test holds it to that.
static FAMILIES: [Family; 30] = [
    gauge("mote_build_info", "What is running, always 1.", From::Many(build)),
    gauge(
        "mote_reset_info",
        "Why the device started, always 1.",
        From::Named("reason", |view, number| (number == 0).then(|| (view.facts.past.reason.as_str(), 1))),
    ),
    gauge("mote_uptime_seconds", "Time since the start.", From::Many(uptime)),
    counter("mote_requests_total", "JSON-RPC requests by dialect, method and outcome.", From::Many(requests)),
    counter(
        "mote_faults_total",
        "JSON-RPC errors by reason.",
        From::Named("reason", |view, number| {
            Some((*FaultKind::NAMES.get(number)?, view.node.tally(|tally| tally.refused(number))))
        }),
    ),
    counter("mote_http_responses_total", "HTTP answers by status.", From::Many(responses)),
    counter(
        "mote_http_refusals_total",
        "What the HTTP edge refused, by reason.",
        From::Named("reason", |view, number| view.facts.edge.traffic.refusals(number)),
    ),
    counter(
        "mote_connections_ended_total",
        "Connections by how they ended.",
        From::Named("ending", |view, number| view.facts.edge.traffic.endings(number)),
    ),
    counter(
        "mote_received_bytes_total",
        "Bytes from HTTP clients.",
        From::One(|view| Some(view.facts.edge.traffic.received_bytes())),
    ),
    counter(
        "mote_sent_bytes_total",
        "Bytes to HTTP clients.",
        From::One(|view| Some(view.facts.edge.traffic.sent_bytes())),
    ),
    gauge(
        "mote_tasks",
        "Tasks that are kept, by state.",
        From::Named("state", |view, number| Some((*Tally::STATES.get(number)?, view.node.tasks_in(number)))),
    ),
    counter("mote_tasks_created_total", "Tasks that were created.", From::Tally(|tally| tally.created)),
    counter(
        "mote_task_moves_total",
        "Tasks that came to a state, by state.",
        From::Named("state", |view, number| {
            Some((*Tally::STATES.get(number)?, view.node.tally(|tally| tally.moved(number))))
        }),
    ),
    counter("mote_replies_total", "Tasks that turned out to be messages.", From::Tally(|tally| tally.replied)),
    counter("mote_evictions_total", "Finished tasks that made room for others.", From::Tally(|tally| tally.evicted)),
    counter(
        "mote_dropped_records_total",
        "Records that made room for newer ones of their task.",
        From::Tally(|tally| tally.dropped),
    ),
    counter("mote_log_records_total", "Records of tasks.", From::One(|view| Some(view.node.records()))),
    counter("mote_log_lines_total", "Lines of the log.", From::One(|view| Some(view.node.next_line()))),
    counter("mote_stream_events_total", "Events on streams.", From::Tally(|tally| tally.events)),
    counter(
        "mote_push_attempts_total",
        "Calls of webhooks by outcome.",
        From::Named("outcome", |view, number| {
            let push = pushes(view);
            [("delivered", push.delivered), ("failed", push.failed)].get(number).copied()
        }),
    ),
    counter(
        "mote_push_given_up_total",
        "Webhooks that were given up until there is something new.",
        From::One(|view| Some(pushes(view).given_up.into())),
    ),
    counter(
        "mote_push_lost_total",
        "Webhooks that made room for others before they were told all.",
        From::One(|view| Some(pushes(view).lost.into())),
    ),
    gauge("mote_table_used", "How much of a table is in use.", From::Tables(|usage| usage.used)),
    gauge("mote_table_most", "The most of a table that ever was in use.", From::Tables(|usage| usage.most)),
    gauge("mote_table_size", "How much there is of a table.", From::Tables(|usage| usage.all)),
    gauge("mote_door_open", "Whether everybody gets in.", From::One(|view| Some(view.node.door().is_open().into()))),
    gauge("mote_principals", "How many are known by their tokens.", From::One(principals)),
    gauge(
        "mote_wall_clock_known",
        "Whether the device knows the time.",
        From::One(|view| Some(view.node.wall_time().is_some().into())),
    ),
    gauge(
        "mote_stack_deepest_bytes",
        "The deepest that the stack has been, where that is measured.",
        From::One(|view| view.facts.stack.map(|measure| measure().deepest_bytes as u64)),
    ),
    gauge(
        "mote_stack_size_bytes",
        "The deepest that the stack can be, where that is measured.",
        From::One(|view| view.facts.stack.map(|measure| measure().all_bytes as u64)),
    ),
];

fn build(view: View<'_, '_>, number: usize) -> Option<Series> {
    let labels =
        [("version", Value::Word(VERSION)), ("board", Value::Word(view.facts.board)), ("target", Value::Word(TARGET))];
    (number == 0).then_some(Series { labels, number: Number::Whole(1) })
}

fn uptime(view: View<'_, '_>, number: usize) -> Option<Series> {
    (number == 0).then(|| Series { labels: [NO_LABEL; 3], number: Number::Time(view.node.now()) })
}

fn requests(view: View<'_, '_>, number: usize) -> Option<Series> {
    if number >= Tally::ASKED {
        return None;
    }
    // There is a place for each method in each dialect, but not each dialect has it.
    let Some(asked) = Tally::asked(number) else {
        return Some(Series { labels: [NO_LABEL; 3], number: Number::Skipped });
    };
    let labels = [
        ("dialect", Value::Word(asked.dialect)),
        ("method", Value::Word(asked.method)),
        ("outcome", Value::Word(asked.outcome)),
    ];
    let count = view.node.tally(|tally| tally.requests(number));
    Some(Series { labels, number: Number::Whole(count.into()) })
}

fn responses(view: View<'_, '_>, number: usize) -> Option<Series> {
    let (code, count) = view.facts.edge.traffic.answers(number)?;
    Some(Series { labels: [("code", Value::Code(code)), NO_LABEL, NO_LABEL], number: Number::Whole(count.into()) })
}

fn pushes(view: View<'_, '_>) -> PushCounts {
    view.node.push_counts().unwrap_or_default()
}

fn principals(view: View<'_, '_>) -> Option<u64> {
    Some(view.node.door().principals().fold(0, |count: u64, _| count.saturating_add(1)))
}

#[cfg(test)]
mod tests;
