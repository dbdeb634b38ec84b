//! What was counted, in Prometheus's text format 0.0.4: made a line at a time, as a table of families says.
//!
//! Every line is of one moment; two lines may be of two, as a scrape takes a while and nobody waits for it. Label values come
//! from tables of ours, never from a peer.

use core::fmt;

use protocol_core::{FaultKind, Node, Tally, Usage, time::Millis};

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
    /// The series of that number; nothing behind the last one.
    at: fn(View<'_, '_>, usize) -> Option<Series>,
}

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
        let next = FAMILIES.get(self.family).and_then(|family| (family.at)(self.view, self.series));
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

impl Series {
    fn plain(number: impl Into<u64>) -> Self {
        Self { labels: [("", Value::None); 3], number: Number::Whole(number.into()) }
    }

    fn with(label: &'static str, word: &'static str, number: impl Into<u64>) -> Self {
        let mut series = Self::plain(number);
        series.labels[0] = (label, Value::Word(word));
        series
    }
}

/// The only series of a family.
fn only(number: usize, series: impl FnOnce() -> Series) -> Option<Series> {
    (number == 0).then(series)
}

/// The only series of a family whose number is the engine's.
fn tallied(view: View<'_, '_>, number: usize, count: impl FnOnce(&Tally) -> u64) -> Option<Series> {
    only(number, || Series::plain(view.node.tally(count)))
}

fn table(view: View<'_, '_>, number: usize, of: fn(Usage) -> u32) -> Option<Series> {
    let (table, usage) = view.facts.usage(view.node, number)?;
    Some(Series::with("table", table, of(usage)))
}

const fn counter(name: &'static str, help: &'static str, at: fn(View<'_, '_>, usize) -> Option<Series>) -> Family {
    Family { name, kind: "counter", help, at }
}

const fn gauge(name: &'static str, help: &'static str, at: fn(View<'_, '_>, usize) -> Option<Series>) -> Family {
    Family { name, kind: "gauge", help, at }
}

/// All of them. docs/operations.md has the same table, and a test holds it to that.
static FAMILIES: [Family; 30] = [
    gauge("mote_build_info", "What is running, always 1.", |view, number| {
        only(number, || Series {
            labels: [
                ("version", Value::Word(VERSION)),
                ("board", Value::Word(view.facts.board)),
                ("target", Value::Word(TARGET)),
            ],
            number: Number::Whole(1),
        })
    }),
    gauge("mote_reset_info", "Why the device started, always 1.", |view, number| {
        only(number, || Series::with("reason", view.facts.past.reason.as_str(), 1_u32))
    }),
    gauge("mote_uptime_seconds", "Time since the start.", |view, number| {
        only(number, || Series { number: Number::Time(view.node.now()), ..Series::plain(0_u32) })
    }),
    counter(
        "mote_requests_total",
        "JSON-RPC requests by the dialect that answered, by method, and by whether they were answered or refused.",
        |view, number| {
            if number >= Tally::ASKED {
                return None;
            }
            let count = view.node.tally(|tally| tally.requests(number));
            Some(Tally::asked(number).map_or(Series { number: Number::Skipped, ..Series::plain(0_u32) }, |asked| {
                Series {
                    labels: [
                        ("dialect", Value::Word(asked.dialect)),
                        ("method", Value::Word(asked.method)),
                        ("outcome", Value::Word(asked.outcome)),
                    ],
                    number: Number::Whole(count.into()),
                }
            }))
        },
    ),
    counter("mote_faults_total", "JSON-RPC errors by reason.", |view, number| {
        let reason = FaultKind::NAMES.get(number)?;
        Some(Series::with("reason", reason, view.node.tally(|tally| tally.refused(number))))
    }),
    counter("mote_http_responses_total", "HTTP answers by status.", |view, number| {
        let (code, count) = view.facts.edge.traffic.answers(number)?;
        let mut series = Series::plain(count);
        series.labels[0] = ("code", Value::Code(code));
        Some(series)
    }),
    counter("mote_http_refusals_total", "What the HTTP edge refused, by reason.", |view, number| {
        let (reason, count) = view.facts.edge.traffic.refusals(number)?;
        Some(Series::with("reason", reason, count))
    }),
    counter("mote_connections_ended_total", "Connections by how they ended.", |view, number| {
        let (ending, count) = view.facts.edge.traffic.endings(number)?;
        Some(Series::with("ending", ending, count))
    }),
    counter("mote_received_bytes_total", "Bytes that HTTP clients sent.", |view, number| {
        only(number, || Series::plain(view.facts.edge.traffic.received_bytes()))
    }),
    counter("mote_sent_bytes_total", "Bytes that HTTP clients were sent.", |view, number| {
        only(number, || Series::plain(view.facts.edge.traffic.sent_bytes()))
    }),
    gauge("mote_tasks", "Tasks that are kept, by state.", |view, number| {
        let state = Tally::STATES.get(number)?;
        Some(Series::with("state", state, view.node.tasks_in(number)))
    }),
    counter("mote_tasks_created_total", "Tasks that were created.", |view, number| {
        tallied(view, number, |tally| tally.created.into())
    }),
    counter("mote_task_moves_total", "Tasks that came to a state, by state.", |view, number| {
        let state = Tally::STATES.get(number)?;
        Some(Series::with("state", state, view.node.tally(|tally| tally.moved(number))))
    }),
    counter("mote_replies_total", "Tasks that turned out to be messages.", |view, number| {
        tallied(view, number, |tally| tally.replied.into())
    }),
    counter("mote_evictions_total", "Finished tasks that made room for others.", |view, number| {
        tallied(view, number, |tally| tally.evicted.into())
    }),
    counter(
        "mote_dropped_records_total",
        "Pieces of artifacts and passed statuses that made room for newer ones of their task.",
        |view, number| tallied(view, number, |tally| tally.dropped.into()),
    ),
    counter("mote_log_records_total", "Records that were written for tasks.", |view, number| {
        tallied(view, number, |tally| tally.records)
    }),
    counter("mote_log_lines_total", "Lines that were written to /log.", |view, number| {
        only(number, || Series::plain(view.node.next_line()))
    }),
    counter("mote_stream_events_total", "Events that were sent on streams.", |view, number| {
        tallied(view, number, |tally| tally.events.into())
    }),
    counter("mote_push_attempts_total", "Calls of webhooks by outcome.", |view, number| {
        let push = view.node.push_counts().unwrap_or_default();
        let (outcome, count) = [("delivered", push.delivered), ("failed", push.failed)].get(number).copied()?;
        Some(Series::with("outcome", outcome, count))
    }),
    counter(
        "mote_push_given_up_total",
        "Times that a webhook was left alone until there is something new to tell.",
        |view, number| only(number, || Series::plain(view.node.push_counts().unwrap_or_default().given_up)),
    ),
    counter(
        "mote_push_lost_total",
        "Configurations of webhooks that made room for others before all was told.",
        |view, number| only(number, || Series::plain(view.node.push_counts().unwrap_or_default().lost)),
    ),
    gauge("mote_table_used", "How much of a table is in use.", |view, number| table(view, number, |usage| usage.used)),
    gauge("mote_table_most", "The most of a table that ever was in use.", |view, number| {
        table(view, number, |usage| usage.most)
    }),
    gauge("mote_table_size", "How much there is of a table.", |view, number| table(view, number, |usage| usage.all)),
    gauge("mote_door_open", "Whether everybody gets in.", |view, number| {
        only(number, || Series::plain(view.node.door().is_open()))
    }),
    gauge("mote_principals", "How many are known by their tokens.", |view, number| {
        only(number, || Series::plain(view.node.door().principals().fold(0_u32, |count, _| count.saturating_add(1))))
    }),
    gauge("mote_wall_clock_known", "Whether the device knows what time it is.", |view, number| {
        only(number, || Series::plain(view.node.wall_time().is_some()))
    }),
    gauge(
        "mote_stack_deepest_bytes",
        "The deepest that the stack has been, where that is measured.",
        |view, number| {
            view.facts.stack.filter(|_| number == 0).map(|measure| Series::plain(measure().deepest_bytes as u64))
        },
    ),
    gauge("mote_stack_size_bytes", "The deepest that the stack can be, where that is measured.", |view, number| {
        view.facts.stack.filter(|_| number == 0).map(|measure| Series::plain(measure().all_bytes as u64))
    }),
];

#[cfg(test)]
mod tests;
