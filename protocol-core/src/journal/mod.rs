//! What happened lately: a ring of lines that are kept as numbers and words of ours, and put together when they are read.
//!
//! Whatever a peer sent, nothing of it is in a line but the id of its task and of its trace: no secret can be, nor anything
//! that pretends to be another line. Old lines make room for new ones.

use core::fmt;

use crate::{
    door::{Caller, Owner},
    json::{Sink, escape},
    model::{Access, Fault, FaultKind, TaskState},
    time::Millis,
    trace::Trace,
};

/// How much somebody should care.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[repr(u8)]
pub enum Level {
    /// What helps to find a mistake. Whoever reaches the device can make as many of these as it wants, so that they are not
    /// kept unless that is asked for.
    Debug,
    /// What is as it should be.
    Info,
    /// What somebody may want to look into.
    Warn,
    /// What is broken.
    Error,
}

impl Level {
    /// In one word.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Debug => "debug",
            Self::Info => "info",
            Self::Warn => "warn",
            Self::Error => "error",
        }
    }

    /// The level of that name.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        [Self::Debug, Self::Info, Self::Warn, Self::Error].into_iter().find(|level| level.as_str() == name)
    }
}

/// What happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Note(What);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
enum What {
    /// A task moved.
    Task(TaskState),
    /// It was a message, not a task.
    Replied,
    /// A task had ended, and made room for another.
    Evicted,
    /// A call came to nothing.
    Refused(FaultKind, &'static str, &'static str),
    /// Anything else: how bad, what, why; a number that belongs to it is between them, if it is not 0.
    Said(Level, u16, &'static str, &'static str),
}

impl Note {
    pub(crate) const REPLIED: Self = Self(What::Replied);
    pub(crate) const EVICTED: Self = Self(What::Evicted);

    /// Says something in words of ours.
    #[must_use]
    pub const fn new(level: Level, words: &'static str) -> Self {
        Self(What::Said(level, 0, words, ""))
    }

    /// And why, or which.
    #[must_use]
    pub const fn because(level: Level, words: &'static str, why: &'static str) -> Self {
        Self(What::Said(level, 0, words, why))
    }

    /// And how many, or which.
    #[must_use]
    pub const fn counting(level: Level, words: &'static str, number: u16, why: &'static str) -> Self {
        Self(What::Said(level, number, words, why))
    }

    pub(crate) const fn task(state: TaskState) -> Self {
        Self(What::Task(state))
    }

    pub(crate) const fn refused(fault: &Fault) -> Self {
        Self(What::Refused(fault.kind, fault.field, fault.why))
    }

    /// How bad it is.
    pub(crate) const fn level(&self) -> Level {
        match self.0 {
            What::Task(TaskState::Failed) => Level::Warn,
            What::Task(TaskState::Working) | What::Evicted => Level::Debug,
            What::Task(_) | What::Replied => Level::Info,
            What::Refused(FaultKind::Internal | FaultKind::InvalidAgentResponse, ..) => Level::Error,
            What::Refused(FaultKind::Busy, ..) => Level::Warn,
            // Anybody at all can make these.
            What::Refused(FaultKind::Unauthenticated | FaultKind::TooOften, ..) => Level::Debug,
            What::Refused(..) => Level::Info,
            What::Said(level, ..) => level,
        }
    }

    fn write(&self, sink: &mut dyn Sink) {
        let [first, second, third, fourth] = match self.0 {
            What::Task(TaskState::Submitted) => ["submitted", "", "", ""],
            What::Task(state) => [state.as_str(), "", "", ""],
            What::Replied => ["answered with a message", "", "", ""],
            What::Evicted => ["made room for another task", "", "", ""],
            What::Refused(kind, field, why) => ["refused", kind.as_str(), field, why],
            What::Said(_, number, words, why) => {
                sink.put(words);
                if number > 0 {
                    sink.put(" ");
                    decimal(number, sink);
                }
                ["", "", "", why]
            }
        };
        sink.put(first);
        for (dash, text) in [(": ", second), (": ", third), (if third.is_empty() { ": " } else { " " }, fourth)] {
            if !text.is_empty() {
                sink.put(dash);
                sink.put(text);
            }
        }
    }
}

fn decimal(number: u16, sink: &mut dyn Sink) {
    let mut text = [b'0'; 5];
    let mut rest = number;
    for digit in text.iter_mut().rev() {
        *digit = b'0'.wrapping_add((rest % 10) as u8);
        rest /= 10;
    }
    let text = core::str::from_utf8(&text).unwrap_or_default().trim_start_matches('0');
    sink.put(if text.is_empty() { "0" } else { text });
}

/// Bytes of a task's id that a line keeps: those that we make are as long.
const ID_KEPT: usize = 36;

/// One line.
#[derive(Clone, Copy)]
pub struct Line {
    at: Millis,
    what: What,
    trace: [u8; 16],
    /// Whom it is about, if it is about anybody.
    owner: Option<Owner>,
    /// How often it happened one after the other.
    times: u16,
    id_bytes: u8,
    id: Id,
}

/// Where words can be copied at a time.
#[derive(Clone, Copy)]
#[repr(align(4))]
struct Id([u8; ID_KEPT]);

impl Line {
    const EMPTY: Self = Self {
        at: Millis(0),
        what: What::Task(TaskState::Submitted),
        trace: [0; 16],
        owner: None,
        times: 0,
        id_bytes: 0,
        id: Id([0; ID_KEPT]),
    };

    /// When it happened, for the last time if it did more than once.
    #[must_use]
    pub const fn at(&self) -> Millis {
        self.at
    }

    /// How bad it is.
    #[must_use]
    pub const fn level(&self) -> Level {
        Note(self.what).level()
    }

    /// The id of the task that it is about. Of one that a client has made and that is longer than ours only the beginning
    /// is kept.
    #[must_use]
    pub fn task(&self) -> Option<&str> {
        let id = self.id.0.get(..usize::from(self.id_bytes))?;
        core::str::from_utf8(id).ok().filter(|id| !id.is_empty())
    }

    /// The trace that it belongs to.
    #[must_use]
    pub fn trace(&self) -> Option<heapless::String<32>> {
        Trace::of(self.trace).known().map(|trace| trace.id())
    }

    /// What happened. Nothing in it has to be escaped.
    pub fn write_text(&self, sink: &mut dyn Sink) {
        Note(self.what).write(sink);
        if self.times > 1 {
            sink.put(" (");
            decimal(self.times, sink);
            sink.put(" times)");
        }
    }

    /// Whether somebody may read it: what is about others is for operators.
    fn is_for(&self, reader: Caller) -> bool {
        self.owner.is_none_or(|owner| owner == reader.owner) || reader.classes.has(Access::Operator)
    }
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut done = f.write_str(self.level().as_str());
        let mut put = |text: &str| done = done.and_then(|()| f.write_str(text));
        put(": ");
        if let Some(task) = self.task() {
            put("task=");
            // What a client calls its task may not end the line.
            escape(task, &mut put);
            put(" ");
        }
        if let Some(trace) = self.trace() {
            put("trace=");
            put(&trace);
            put(" ");
        }
        self.write_text(&mut put);
        done
    }
}

#[cfg(feature = "defmt")]
impl defmt::Format for Line {
    fn format(&self, f: defmt::Formatter<'_>) {
        defmt::write!(f, "{=str} {}", self.task().unwrap_or("-"), self.what);
    }
}

/// Memory for so many lines. All zero when new: a static one costs no flash.
pub struct JournalStorage<const LINES: usize> {
    lines: [Line; LINES],
}

impl<const LINES: usize> JournalStorage<LINES> {
    /// Empty memory.
    pub const fn new() -> Self {
        Self { lines: [Line::EMPTY; LINES] }
    }
}

impl<const LINES: usize> Default for JournalStorage<LINES> {
    fn default() -> Self {
        Self::new()
    }
}

/// The ring. The engine has one, without room where nobody reads it.
pub(crate) struct Journal<'s> {
    lines: &'s mut [Line],
    /// Where the next one goes.
    place: usize,
    /// Its number: how many there were.
    next: u64,
    /// What is less is not kept.
    least: Level,
    /// Hears of every line that is kept.
    listener: fn(&Line),
    /// The time of the newest thing that the engine knows of.
    pub(crate) now: Millis,
}

/// Within so long what happens again is counted instead of told again.
const AGAIN: Millis = Millis(10_000);

impl<'s> Journal<'s> {
    pub(crate) fn none() -> Self {
        Self { lines: &mut [], place: 0, next: 0, least: Level::Info, listener: |_| {}, now: Millis(0) }
    }

    pub(crate) fn new<const LINES: usize>(
        storage: &'s mut JournalStorage<LINES>,
        least: Level,
        listener: fn(&Line),
    ) -> Self {
        Self { lines: &mut storage.lines, least, listener, ..Self::none() }
    }

    pub(crate) const fn next(&self) -> u64 {
        self.next
    }

    /// Notes that something happened: to whose task or call, and in which trace.
    pub(crate) fn note(&mut self, note: &Note, owner: Option<Owner>, id: &str, trace: &Trace) {
        if note.level() < self.least {
            return;
        }
        let kept = cut(id);
        let newest = self.place.checked_sub(1).unwrap_or(self.lines.len().saturating_sub(1));
        if let Some(newest) = self.lines.get_mut(newest)
            && newest.is_of(&note.0, owner, kept, trace)
            && self.now < newest.at.after(AGAIN)
        {
            newest.at = self.now;
            newest.times = newest.times.saturating_add(1);
            newest.tell(self.listener);
            return;
        }
        // In place: every task comes here twice or more.
        let Some(line) = self.lines.get_mut(self.place) else { return };
        line.at = self.now;
        line.what = note.0;
        line.trace = trace.bytes();
        line.owner = owner;
        line.times = 1;
        line.id_bytes = kept.len() as u8;
        if let Some(place) = line.id.0.get_mut(..kept.len()) {
            place.copy_from_slice(kept.as_bytes());
        }
        line.tell(self.listener);
        self.next = self.next.saturating_add(1);
        self.place = self.place.saturating_add(1);
        if self.place >= self.lines.len() {
            self.place = 0;
        }
    }

    /// The first line of that number or a later one which a reader may see, and its number. Those that are gone are passed
    /// over.
    pub(crate) fn line(&self, from: u64, reader: Caller) -> Option<(u64, Line)> {
        let all = self.lines.len();
        let mut number = from.max(self.next.saturating_sub(all as u64));
        while number < self.next {
            let back = self.next.saturating_sub(number) as usize;
            let place = self.place.checked_sub(back).unwrap_or(self.place.saturating_add(all).saturating_sub(back));
            let line = self.lines.get(place)?;
            if line.is_for(reader) {
                return Some((number, *line));
            }
            number = number.saturating_add(1);
        }
        None
    }
}

impl Line {
    /// Whether it says just that already.
    fn is_of(&self, what: &What, owner: Option<Owner>, id: &str, trace: &Trace) -> bool {
        self.times > 0
            && self.what == *what
            && self.owner == owner
            && self.task().unwrap_or_default() == id
            && self.trace == trace.bytes()
    }

    /// Tells whoever listens.
    fn tell(&self, listener: fn(&Self)) {
        match self.what {
            // Whoever says it has told it already, in more words.
            What::Said(..) if self.owner.is_none() => {}
            _ if self.level() >= Level::Warn => crate::fmt::warning!("{}", self),
            What::Refused(..) => crate::fmt::info!("{}", self),
            // Every call moves a task or two, and a probe's line takes longer than the call.
            _ => crate::fmt::debug!("{}", self),
        }
        listener(self);
    }
}

/// As much of an id as is kept.
fn cut(id: &str) -> &str {
    id.get(..ID_KEPT).unwrap_or_else(|| {
        let mut end = id.len().min(ID_KEPT);
        while !id.is_char_boundary(end) {
            end = end.saturating_sub(1);
        }
        id.get(..end).unwrap_or_default()
    })
}

#[cfg(test)]
mod tests;
