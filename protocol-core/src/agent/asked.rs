//! What the client of a task said, and what it wants.

use serde::de::DeserializeOwned;

use super::TaskCx;
use crate::{
    config::SKILL_TEXT_MAX,
    dialect,
    engine::{Cursor, Snapshot, TaskKey},
    json::{self, Json, Text},
    log::{Kind, Span, Tag},
    model::TaskState,
    node::Node,
};

/// A string that a skill can read in one piece.
pub type SkillText = heapless::String<SKILL_TEXT_MAX>;

impl<'n, 's> TaskCx<'n, 's> {
    /// What the client said: the text parts of its message, a line each. `None` if that is more than a skill can read.
    pub fn text(&self) -> Option<&str> {
        self.is_whole.then_some(self.text.as_str())
    }

    /// What the client said in this message, text and data.
    pub fn said(&self) -> Said {
        let message = self.node.engine().run_message(self.key);
        Said {
            text: self.is_whole.then(|| self.text.clone()),
            data: message.and_then(|message| json_of(self.node, message)),
        }
    }

    /// What `look` makes of the newest earlier message of this task's client that it can use.
    pub fn earlier<R>(&self, mut look: impl FnMut(&Said) -> Option<R>) -> Option<R> {
        let mut found = None;
        let mut cursor = Cursor::START;
        loop {
            let next = {
                let engine = self.node.engine();
                let present = engine.run_message(self.key)?.stamp;
                let next = engine.after(engine.snapshot(self.key), cursor).filter(|(next, _)| next.stamp < present);
                next.map(|(next, header)| (next, header.kind()))
            };
            let Some((next, kind)) = next else { return found };
            if kind == Kind::Message {
                found = look(&Said::of(self.node, self.key, next)).or(found);
            }
            cursor = next;
        }
    }

    /// Whether this run answers a message that came when the task was waiting for credentials.
    pub fn was_asked_for_credentials(&self) -> bool {
        self.state_before() == Some(TaskState::AuthRequired)
    }

    /// Whether this run answers a message that came when the task was waiting for its client, for whatever it was.
    pub fn was_asked(&self) -> bool {
        matches!(self.state_before(), Some(TaskState::AuthRequired | TaskState::InputRequired))
    }

    /// The state in which the message of this run found the task.
    fn state_before(&self) -> Option<TaskState> {
        let engine = self.node.engine();
        let message = engine.run_message(self.key)?;
        let before = Snapshot { upto: message.stamp.saturating_sub(1), ..engine.snapshot(self.key) };
        engine.status(before).map(|(_, state, _)| state)
    }

    /// Whether the client has sent another message since this run began.
    pub fn has_new_message(&self) -> bool {
        let engine = self.node.engine();
        let snapshot = engine.snapshot(self.key);
        let mut cursor = engine.run_message(self.key);
        while let Some((next, header)) = cursor.and_then(|cursor| engine.after(snapshot, cursor)) {
            if header.kind() == Kind::Message {
                return true;
            }
            cursor = Some(next);
        }
        false
    }

    /// The first data part of the message as a type of the skill's own. `None` if there is none that fits.
    pub fn args<T: DeserializeOwned>(&self) -> Option<T> {
        let message = self.node.engine().run_message(self.key)?;
        data_of(self.node, message)
    }

    /// Whether the client's id for its message begins like this.
    pub fn message_id_begins(&self, prefix: &str) -> bool {
        let engine = self.node.engine();
        let Some(message) = engine.run_message(self.key) else { return false };
        let Some(span) = engine.items(message).find(engine.pool(), Tag::MessageId) else { return false };
        let len = span.len.min(prefix.len() as u32);
        engine.span_is(Span { len, ..span }, prefix)
    }

    /// Whether the client can use that media type, as far as it said.
    pub fn accepts(&self, media_type: &str) -> bool {
        let engine = self.node.engine();
        let modes = engine
            .run_message(self.key)
            .and_then(|message| engine.items(message).find(engine.pool(), Tag::OutputModes))
            .and_then(|span| engine.copy::<SKILL_TEXT_MAX>(span));
        let Some(modes) = modes else { return true };
        let Ok(modes) = Json::parse(&modes) else { return true };
        modes
            .items()
            .filter_map(Json::text)
            .any(|mode| mode.is(media_type) || mode.is("*/*") || (mode.is("text") && media_type.starts_with("text/")))
    }

    /// Whether the client asks for structured output: a part's metadata names JSON as media type, or a schema.
    pub fn wants_structure(&self) -> bool {
        let engine = self.node.engine();
        let Some(message) = engine.run_message(self.key) else { return false };
        let pool = engine.pool();
        let mut items = engine.items(message);
        while items.next_part(pool).is_some() {
            let Some(span) = items.find(pool, Tag::PartMetadata) else { continue };
            // Metadata that is too long to look into is most likely a schema.
            let Some(metadata) = engine.copy::<SKILL_TEXT_MAX>(span) else { return true };
            let Ok(metadata) = Json::parse(&metadata) else { continue };
            let asks = metadata.members().any(|(name, value)| {
                name.is("schema")
                    || ((name.is("mimeType") || name.is("mediaType"))
                        && value.text().is_some_and(|text| text.is("application/json")))
            });
            if asks {
                return true;
            }
        }
        false
    }

    /// The task that the message is about: the first that it names and that exists, else the newest other task of the
    /// same context.
    pub fn reference(&self) -> Option<Reference<'n, 's>> {
        let engine = self.node.engine();
        let message = engine.run_message(self.key)?;
        let owner = engine.slot(self.key)?.owner;
        let key = match engine.items(message).find(engine.pool(), Tag::References) {
            Some(span) => {
                let named = engine.copy::<SKILL_TEXT_MAX>(span)?;
                Json::parse(&named).ok()?.items().filter_map(Json::text).find_map(|id| engine.find(owner, id))
            }
            None => engine.newest_in_context_of(self.key),
        };
        Some(Reference { node: self.node, key: key? })
    }

    /// Whether clients of this dialect expect the task to stay open for more.
    pub fn is_left_open(&self) -> bool {
        let engine = self.node.engine();
        engine.slot(self.key).is_some_and(|slot| dialect::numbered(slot.birth).manners.leaves_open)
    }
}

/// What a client said in one message, as far as a skill can read it.
#[derive(Clone, Debug, Default)]
pub struct Said {
    /// The text parts, a line each. `None` if that is more than a skill can read.
    pub text: Option<SkillText>,
    /// The first data part, as the JSON that it is. `None` if there is none of a size that a skill can read.
    pub data: Option<SkillText>,
}

impl Said {
    fn of(node: &Node<'_>, key: TaskKey, message: Cursor) -> Self {
        let mut text = SkillText::new();
        let is_whole = read_text(node, key, message, &mut text).is_some();
        Self { text: is_whole.then_some(text), data: json_of(node, message) }
    }
}

/// Another task that a message is about.
pub struct Reference<'n, 's> {
    node: &'n Node<'s>,
    key: TaskKey,
}

impl Reference<'_, '_> {
    /// What the client said first in that task.
    pub fn said(&self) -> Option<Said> {
        let first = {
            let engine = self.node.engine();
            engine.next_message(engine.snapshot(self.key), Cursor::START)?
        };
        Some(Said::of(self.node, self.key, first))
    }

    /// The newest data part of its artifacts as a type of the skill's own.
    pub fn data<T: DeserializeOwned>(&self) -> Option<T> {
        data_of(self.node, self.newest_chunk()?)
    }

    /// The newest data part of its artifacts, as the JSON that it is.
    pub fn json(&self) -> Option<SkillText> {
        json_of(self.node, self.newest_chunk()?)
    }

    fn newest_chunk(&self) -> Option<Cursor> {
        let engine = self.node.engine();
        let snapshot: Snapshot = engine.snapshot(self.key);
        let mut newest = None;
        let mut cursor = Cursor::START;
        while let Some((next, header)) = engine.after(snapshot, cursor) {
            if matches!(header.kind(), Kind::Chunk { .. }) {
                newest = Some(next);
            }
            cursor = next;
        }
        newest
    }
}

/// The text parts of a message, a line each. `None` if they don't fit.
pub(super) fn read_text(node: &Node<'_>, key: TaskKey, message: Cursor, text: &mut SkillText) -> Option<()> {
    let engine = node.engine();
    if !engine.stands(key, message) {
        return None;
    }
    let pool = engine.pool();
    let mut items = engine.items(message);
    while let Some(part) = items.next_part(pool) {
        if part.tag != Tag::Text {
            continue;
        }
        let mut escaped = heapless::Vec::<u8, { SKILL_TEXT_MAX + 2 }>::new();
        engine.copy_to(part.span, &mut escaped)?;
        if !text.is_empty() {
            text.push('\n').ok()?;
        }
        Text::new(core::str::from_utf8(&escaped).ok()?).append_to(text)?;
    }
    Some(())
}

/// The first data part of a record that is such a value.
fn data_of<T: DeserializeOwned>(node: &Node<'_>, record: Cursor) -> Option<T> {
    let engine = node.engine();
    let pool = engine.pool();
    let mut items = engine.items(record);
    loop {
        let part = items.next_part(pool)?;
        if part.tag != Tag::Data {
            continue;
        }
        let Some(bytes) = engine.copy::<SKILL_TEXT_MAX>(part.span) else { continue };
        let mut plain = heapless::String::<SKILL_TEXT_MAX>::new();
        json::simplify(Json::parse(&bytes).ok()?, &mut |text: &str| _ = plain.push_str(text));
        if let Ok((value, _)) = serde_json_core::from_str(&plain) {
            return Some(value);
        }
    }
}

/// The first data part of a record, as its JSON.
fn json_of(node: &Node<'_>, record: Cursor) -> Option<SkillText> {
    let engine = node.engine();
    let pool = engine.pool();
    let mut items = engine.items(record);
    loop {
        let part = items.next_part(pool)?;
        if part.tag == Tag::Data {
            let bytes = engine.copy::<SKILL_TEXT_MAX>(part.span)?;
            return SkillText::from_utf8(bytes).ok();
        }
    }
}
