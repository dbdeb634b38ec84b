//! Runs a template against the engine, a buffer at a time.

use super::{
    List, Op, Ops,
    out::{Bookmark, Out},
};
use crate::{
    config::HOST_MAX,
    dialect::{Dialect, Served},
    door::Classes,
    engine::{Cursor, Engine, Page, Slot, Snapshot, TaskKey},
    json::Sink,
    log::{Item, Items, Kind, Stamp, Tag},
    model::{Access, Fault, History, Profile, Skill},
};

/// What a template is run against.
pub(crate) struct Scene<'a, 's> {
    pub(crate) engine: &'a Engine<'s>,
    pub(crate) dialect: &'static Dialect,
    pub(crate) profile: &'a Profile<'a>,
    pub(crate) rpc_id: &'a str,
    pub(crate) fault: Option<&'a Fault>,
    /// Where clients reach the agent, if that was configured.
    pub(crate) url: Option<&'a str>,
    pub(crate) serves: Served,
    /// One must say who one is.
    pub(crate) is_guarded: bool,
}

/// What was being sent is gone from the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Gone;

/// Templates nest no deeper than this; a test measures them.
pub(super) const DEPTH: usize = 9;

#[derive(Clone, Copy)]
struct Frame {
    /// The present step and those behind it.
    rest: Ops,
    /// One item of a list: the frame below has the loop.
    is_item: bool,
    /// The loop that is the present step has sent an item.
    returned: bool,
}

impl Frame {
    const fn new(ops: Ops, is_item: bool) -> Self {
        Self { rest: ops, is_item, returned: false }
    }
}

/// A document on its way out: a template and a place in it, a log and a place in it.
pub(crate) struct Encoder {
    frame: Frame,
    /// Those that it is nested in.
    outer: heapless::Vec<Frame, { DEPTH - 1 }>,
    body: Ops,
    /// Bytes of the present step that are out.
    offset: u32,
    bookmark: Option<Bookmark>,

    pub(super) snapshot: Snapshot,
    history: History,
    pub(super) shows_artifacts: bool,
    pub(super) subject: Subject,
    /// The record that fields speak of.
    pub(super) record: Cursor,
    /// The chunk whose parts are being sent, when a whole artifact is.
    chunk: Cursor,
    /// The present part: its content, and the place behind it.
    pub(super) part: Option<(Item, Items)>,
    /// This event ends the stream.
    pub(super) is_final: bool,
    /// This chunk replaces what came before, because the reader missed some.
    pub(super) replaces: bool,
    /// Artifacts are sent whole, not as they came.
    pub(super) is_whole: bool,
    /// The chunks up to the snapshot's stamp are sent as one, and whether the artifact ends with it.
    pub(super) joined: Option<bool>,
    pub(super) skill: usize,
    pub(super) word: usize,
    words: List,
    interface: usize,
}

/// What a document is about.
pub(super) enum Subject {
    /// One task, or none.
    Task,
    /// Some of many.
    Page(Page),
    /// The agent, as the client that asked this host shall see it.
    Card(heapless::String<HOST_MAX>, Classes),
}

impl Subject {
    pub(super) const fn page(&self) -> Option<&Page> {
        if let Self::Page(page) = self { Some(page) } else { None }
    }

    const fn page_mut(&mut self) -> Option<&mut Page> {
        if let Self::Page(page) = self { Some(page) } else { None }
    }

    pub(super) fn host(&self) -> &str {
        if let Self::Card(host, _) = self { host } else { "" }
    }
}

impl Encoder {
    /// A document about a task as it was.
    #[inline(never)]
    pub(crate) fn task(outer: Ops, body: Ops, snapshot: Snapshot, history: History) -> Self {
        let mut encoder = Self::new(outer, body, snapshot);
        encoder.is_whole = true;
        encoder.shows_artifacts = true;
        encoder.history = history;
        encoder
    }

    /// A document about one record.
    pub(crate) fn event(outer: Ops, body: Ops, key: TaskKey, record: Cursor) -> Self {
        Self { record, chunk: record, ..Self::new(outer, body, Snapshot { key, upto: record.stamp }) }
    }

    /// A page of tasks.
    pub(crate) fn page(outer: Ops, body: Ops, page: Page) -> Self {
        let none = Snapshot { key: TaskKey::NONE, upto: page.upto };
        let (history, shows_artifacts) = (page.history, page.artifacts);
        Self { is_whole: true, shows_artifacts, history, subject: Subject::Page(page), ..Self::new(outer, body, none) }
    }

    /// A document about who is to be notified of a task.
    pub(crate) fn webhook(outer: Ops, body: Ops, snapshot: Snapshot, config: Cursor) -> Self {
        Self { record: config, chunk: config, ..Self::new(outer, body, snapshot) }
    }

    /// The card, for a client that reached us as `host` and may use skills of these classes beside the public ones.
    pub(crate) fn card(outer: Ops, body: Ops, host: &str, classes: Classes) -> Self {
        // A host that is too long is no host of ours; the edge refuses it before it gets here.
        let host = heapless::String::try_from(host).unwrap_or_default();
        Self { subject: Subject::Card(host, classes), ..Self::plain(outer, body) }
    }

    /// A document about no task, such as an error.
    pub(crate) fn plain(outer: Ops, body: Ops) -> Self {
        Self::new(outer, body, Snapshot { key: TaskKey::NONE, upto: 0 })
    }

    #[inline(never)]
    fn new(outer: Ops, body: Ops, snapshot: Snapshot) -> Self {
        Self {
            frame: Frame::new(outer, false),
            outer: heapless::Vec::new(),
            body,
            offset: 0,
            bookmark: None,
            snapshot,
            history: History::All,
            shows_artifacts: false,
            subject: Subject::Task,
            record: Cursor::START,
            chunk: Cursor::START,
            part: None,
            is_final: false,
            replaces: false,
            is_whole: false,
            joined: None,
            skill: 0,
            word: 0,
            words: List::Tags,
            interface: 0,
        }
    }

    /// Marks the event as the last of its stream.
    pub(crate) fn set_final(&mut self, is_final: bool) {
        self.is_final = is_final;
    }

    /// Makes the chunk replace what the reader has.
    pub(crate) fn set_replaces(&mut self, replaces: bool) {
        self.replaces = replaces;
    }

    /// Sends the chunks behind the first one along with it, those up to a stamp. The artifact may end with them.
    pub(crate) fn join(&mut self, upto: Stamp, ends: bool) {
        self.snapshot.upto = upto;
        self.joined = Some(ends);
    }

    pub(crate) fn is_done(&self) -> bool {
        self.frame.rest.is_empty() && self.outer.is_empty()
    }

    /// Writes the next bytes; 0 if there are no more.
    ///
    /// # Errors
    /// If the log has lost what was being sent.
    pub(crate) fn fill(&mut self, scene: &Scene<'_, '_>, buffer: &mut [u8]) -> Result<usize, Gone> {
        self.check_log(scene)?;
        let mut out = Out::new(buffer, self.bookmark);
        let mut frame = self.frame;
        loop {
            let [op, behind @ ..] = frame.rest else {
                let Some(outer) = self.outer.pop() else { break };
                frame = Frame { returned: frame.is_item, ..outer };
                continue;
            };
            out.begin(self.offset);
            let next = if let Op::Lit(text) = op {
                out.put(text);
                Next::Step
            } else {
                self.step(op, frame.returned, scene, &mut out)
            };
            if out.is_full() {
                self.offset = self.offset.saturating_add(out.taken());
                break;
            }
            self.offset = 0;
            match next {
                Next::Gone => return Err(Gone),
                Next::Step => frame = Frame::new(behind, frame.is_item),
                Next::Item(ops) => {
                    self.push(frame)?;
                    frame = Frame::new(ops, true);
                }
                // The last step of a template needs no frame to come back to: that keeps the stack flat.
                Next::Into(ops) if behind.is_empty() => frame = Frame::new(ops, frame.is_item),
                Next::Into(ops) => {
                    self.push(Frame::new(behind, frame.is_item))?;
                    frame = Frame::new(ops, false);
                }
            }
        }
        self.frame = frame;
        self.bookmark = out.bookmark();
        Ok(out.len())
    }

    fn push(&mut self, frame: Frame) -> Result<(), Gone> {
        // cannot fail: a test measures every template.
        self.outer.push(frame).map_err(|_| Gone)
    }

    fn step(&mut self, op: &'static Op, returned: bool, scene: &Scene<'_, '_>, out: &mut Out<'_>) -> Next {
        match *op {
            // Every other step is one of these: `fill` writes them itself.
            Op::Lit(_) => {}
            Op::Put(field) => self.value(field, scene).write(scene, out),
            Op::Member(text, field) => {
                let value = self.value(field, scene);
                if value.is_there() {
                    out.put(text);
                    value.write(scene, out);
                }
            }
            Op::Bare(field) => self.value(field, scene).write_bare(scene, out),
            Op::If(field, ops) => {
                if self.value(field, scene).is_there() {
                    return Next::Into(ops);
                }
            }
            Op::Unless(field, ops) => {
                if !self.value(field, scene).is_there() {
                    return Next::Into(ops);
                }
            }
            Op::Nest(ops) => return Next::Into(ops),
            Op::Own(pick) => return Next::Into(pick(&scene.dialect.shapes)),
            Op::Body => return Next::Into(self.body),
            Op::ByPart(kinds) => {
                let [text, raw, url, data] = kinds;
                return Next::Into(match self.part.map(|(content, _)| content.tag) {
                    Some(Tag::Raw) => raw,
                    Some(Tag::Url) => url,
                    Some(Tag::Data) => data,
                    _ => text,
                });
            }
            Op::Status(ops) => {
                if let Some((status, ..)) = scene.engine.status(self.snapshot) {
                    self.record = status;
                    self.chunk = status;
                    return Next::Into(ops);
                }
                return Next::Gone;
            }
            Op::Each(list, ops) => {
                if returned {
                    // A comma only goes out when something follows it; if it does not fit, the step is tried again.
                    if !self.has_next(list, scene) {
                        return Next::Step;
                    }
                    out.put(",");
                    if out.is_full() {
                        return Next::Step;
                    }
                } else {
                    self.start(list, scene);
                }
                if self.advance(list, scene) {
                    return Next::Item(ops);
                }
            }
        }
        Next::Step
    }

    /// Puts the registers before the first of a list.
    fn start(&mut self, list: List, scene: &Scene<'_, '_>) {
        match list {
            List::Tasks => {}
            List::History => {
                self.record = Cursor::START;
                let passed_over = match self.history {
                    History::All => 0,
                    History::Newest(count) => self.count_history(scene).saturating_sub(count),
                };
                for _ in 0..passed_over {
                    self.advance(List::History, scene);
                }
            }
            List::Artifacts => self.record = Cursor::START,
            List::ArtifactParts | List::Parts => {
                self.chunk = self.record;
                self.part = None;
            }
            List::Skills => self.skill = usize::MAX,
            List::Tags | List::Examples | List::InputModes | List::OutputModes => {
                self.words = list;
                self.word = usize::MAX;
            }
            List::Interfaces => self.interface = usize::MAX,
            List::Pushes => {
                self.record = Cursor::START;
                self.chunk = Cursor::START;
            }
        }
    }

    /// Moves the registers to the next of a list; false at its end.
    fn advance(&mut self, list: List, scene: &Scene<'_, '_>) -> bool {
        let engine = scene.engine;
        match list {
            List::Tasks => match self.subject.page_mut().and_then(|page| page.advance(engine)) {
                Some(snapshot) => {
                    self.snapshot = snapshot;
                    // Places in the log of the task before say nothing about this one.
                    self.record = Cursor::START;
                    self.chunk = Cursor::START;
                }
                None => return false,
            },
            List::History => match engine.next_message(self.snapshot, self.record) {
                Some(next) => self.record = next,
                None => return false,
            },
            List::Artifacts => match engine.next_artifact(self.snapshot, self.record) {
                Some(next) => self.record = next,
                None => return false,
            },
            List::Parts | List::ArtifactParts => match self.next_part(list, scene) {
                Some((chunk, part)) => {
                    self.chunk = chunk;
                    self.part = Some(part);
                }
                None => return false,
            },
            List::Skills => match self.next_skill(scene) {
                Some(next) => self.skill = next,
                None => return false,
            },
            List::Tags | List::Examples | List::InputModes | List::OutputModes => {
                self.word = self.word.wrapping_add(1);
                return self.word < self.words(scene).len();
            }
            List::Interfaces => {
                self.interface = self.interface.wrapping_add(1);
                return self.interface(scene).is_some();
            }
            List::Pushes => match engine.next_push(self.snapshot.key, self.record) {
                Some(next) => {
                    self.record = next;
                    self.chunk = next;
                }
                None => return false,
            },
        }
        true
    }

    fn has_next(&self, list: List, scene: &Scene<'_, '_>) -> bool {
        let engine = scene.engine;
        match list {
            List::Tasks => self.subject.page().is_some_and(|page| page.has_more(engine)),
            List::History => engine.next_message(self.snapshot, self.record).is_some(),
            List::Artifacts => engine.next_artifact(self.snapshot, self.record).is_some(),
            List::Parts | List::ArtifactParts => self.next_part(list, scene).is_some(),
            List::Skills => self.next_skill(scene).is_some(),
            List::Tags | List::Examples | List::InputModes | List::OutputModes => {
                self.word.wrapping_add(1) < self.words(scene).len()
            }
            List::Pushes => engine.next_push(self.snapshot.key, self.record).is_some(),
            List::Interfaces => scene.interfaces().nth(self.interface.wrapping_add(1)).is_some(),
        }
    }

    fn next_part(&self, list: List, scene: &Scene<'_, '_>) -> Option<(Cursor, (Item, Items))> {
        let engine = scene.engine;
        let mut chunk = self.chunk;
        let mut items = self.part.map_or_else(|| engine.items(chunk), |(_, rest)| rest);
        loop {
            if let Some(content) = items.next_part(engine.pool()) {
                return Some((chunk, (content, items)));
            }
            let Kind::Chunk { artifact, .. } = engine.header(chunk).kind() else { return None };
            if list == List::Parts && self.joined.is_none() {
                return None;
            }
            chunk = engine.next_chunk(self.snapshot, artifact, chunk)?;
            items = engine.items(chunk);
        }
    }

    /// The next skill that the reader may know of.
    fn next_skill(&self, scene: &Scene<'_, '_>) -> Option<usize> {
        let from = self.skill.wrapping_add(1);
        let skills = scene.profile.skills.get(from..)?;
        let classes = if let Subject::Card(_, classes) = self.subject { classes } else { Classes::NONE };
        let is_shown = |skill: &Skill<'_>| skill.access < Access::Operator || classes.has(skill.access);
        skills.iter().position(is_shown).map(|offset| from.saturating_add(offset))
    }

    fn count_history(&self, scene: &Scene<'_, '_>) -> u32 {
        let mut count = 0u32;
        let mut cursor = Cursor::START;
        while let Some(next) = scene.engine.next_message(self.snapshot, cursor) {
            cursor = next;
            count = count.saturating_add(1);
        }
        count
    }

    /// Everything that is being read must still be there. Nothing goes while a buffer is filled: the engine is borrowed.
    fn check_log(&self, scene: &Scene<'_, '_>) -> Result<(), Gone> {
        let key = self.snapshot.key;
        if key == TaskKey::NONE {
            return Ok(());
        }
        let stands = |cursor: Cursor| cursor.stamp == 0 || scene.engine.stands(key, cursor);
        if self.slot(scene).is_some() && stands(self.record) && stands(self.chunk) { Ok(()) } else { Err(Gone) }
    }

    pub(super) fn slot<'a>(&self, scene: &'a Scene<'_, '_>) -> Option<&'a Slot> {
        scene.engine.slot(self.snapshot.key)
    }

    pub(super) const fn event_stamp(&self) -> Stamp {
        self.snapshot.upto
    }

    pub(super) const fn shows_history(&self) -> bool {
        !matches!(self.history, History::Newest(0))
    }

    pub(super) fn words<'a>(&self, scene: &Scene<'a, '_>) -> &'a [&'a str] {
        let skill = scene.profile.skills.get(self.skill);
        match self.words {
            List::InputModes => scene.profile.input_modes,
            List::OutputModes => scene.profile.output_modes,
            List::Examples => skill.map_or(&[], |skill| skill.examples),
            _ => skill.map_or(&[], |skill| skill.tags),
        }
    }

    pub(super) fn interface(&self, scene: &Scene<'_, '_>) -> Option<&'static str> {
        scene.interfaces().nth(self.interface)
    }
}

enum Next {
    Step,
    Into(Ops),
    Item(Ops),
    Gone,
}

impl Scene<'_, '_> {
    /// The versions that the card's interfaces name.
    fn interfaces(&self) -> impl Iterator<Item = &'static str> + use<> {
        crate::dialect::interfaces(self.serves)
    }
}
