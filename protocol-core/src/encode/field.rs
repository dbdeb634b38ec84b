//! The words a template can use.

use super::{
    encoder::{Encoder, Scene},
    out::Out,
};
use crate::{
    engine::{Cursor, Slot},
    json::{Escaped, Sink},
    log::{Header, Kind, Span, Tag},
    model::{Arguments, FaultKind, Skill},
    time::{Millis, UnixMillis},
};

/// A field of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Field {
    // The envelope
    RpcId,
    /// The number of the record: the id of an event.
    Stamp,

    // The task
    TaskId,
    ContextId,
    /// There if the answer shows history, or artifacts.
    History,
    Artifacts,

    // The record: a message, a status, a chunk of an artifact
    /// There if the record belongs to a task (a message may not).
    InTask,
    State,
    Time,
    Final,
    NotFinal,
    HasMessage,
    MessageId,
    Role,
    Metadata,
    Extensions,
    References,
    ArtifactId,
    ArtifactIndex,
    Description,
    /// How many chunks of this artifact are gone.
    Dropped,
    Append,
    LastChunk,

    // Who is to be notified
    PushId,
    PushUrl,
    /// There if there is one; what it is stays here.
    PushToken,
    PushScheme,
    PushCredentials,

    // The part
    Content,
    /// There if the part has more than its content.
    HasMore,
    /// The data of a data part if it is an object, or if it is not.
    DataObject,
    DataOther,
    MediaType,
    Filename,
    PartMetadata,

    // The list
    NextPage,
    PageSize,
    TotalSize,

    // The fault
    FaultCode,
    FaultName,
    FaultReason,
    FaultMember,
    FaultWhy,
    FaultAt,
    /// There if the fault is about parameters; if it is one of the protocol's own kinds.
    IsAboutParams,
    IsOfProtocol,

    // The card
    Name,
    AgentDescription,
    Version,
    ProviderName,
    ProviderUrl,
    DocumentationUrl,
    Url,
    /// There if a dialect is served that wants this.
    Wants(u8),
    /// There if one must say who one is.
    Guarded,
    /// There if clients can be notified.
    Pushes,
    SkillId,
    SkillName,
    SkillDescription,
    /// The present word of a list of words.
    Word,
    InterfaceVersion,
}

/// What a field is in the present place.
pub(super) enum Value<'a> {
    Absent,
    /// There, with nothing to write.
    Present,
    /// JSON as it stands.
    Literal(&'a str),
    /// Text to be quoted and escaped.
    Text(&'a str),
    /// Escaped text in the log, to be quoted.
    Quoted(Span),
    /// JSON in the log.
    Raw(Span),
    Number(i64),
    /// A number that is written as text.
    Token(u64),
    Time(UnixMillis),
    /// The id of a message that has none of its own: its task's, and its stamp.
    MadeId(&'a str, u64),
    /// What a skill is, and what it has to be told.
    Description(&'a Skill<'a>),
    /// Three texts as one.
    Joined(&'a str, &'a str, &'a str),
}

impl Value<'_> {
    pub(super) const fn is_there(&self) -> bool {
        !matches!(self, Self::Absent)
    }

    pub(super) fn write(&self, scene: &Scene<'_, '_>, out: &mut Out<'_>) {
        // cannot fail: `Out` takes what fits and counts the rest.
        use core::fmt::Write as _;
        match *self {
            Self::Absent | Self::Present => {}
            Self::Literal(json) => out.put(json),
            Self::Text(text) => out.quoted(text),
            Self::Quoted(span) => {
                out.put("\"");
                out.span(scene.engine.pool(), span);
                out.put("\"");
            }
            Self::Raw(span) => out.span(scene.engine.pool(), span),
            Self::Number(number) => _ = write!(out, "{number}"),
            Self::Token(number) => _ = write!(out, "\"{number}\""),
            Self::Time(time) => _ = write!(out, "\"{time}\""),
            Self::MadeId(task, stamp) => {
                out.put("\"");
                crate::json::escape(task, out);
                _ = write!(out, "-{stamp}\"");
            }
            Self::Description(skill) => {
                out.put("\"");
                crate::json::escape(skill.description, out);
                if !skill.arguments.is_empty() {
                    _ = write!(Escaped(out), "{}", Arguments(skill.arguments));
                }
                out.put("\"");
            }
            Self::Joined(a, b, c) => {
                out.put("\"");
                for text in [a, b, c] {
                    crate::json::escape(text, out);
                }
                out.put("\"");
            }
        }
    }

    /// As [`Value::write`], without quotes.
    pub(super) fn write_bare(&self, scene: &Scene<'_, '_>, out: &mut Out<'_>) {
        match *self {
            Self::Text(text) => crate::json::escape(text, out),
            Self::Quoted(span) => out.span(scene.engine.pool(), span),
            Self::Joined(a, b, c) => [a, b, c].into_iter().for_each(|text| crate::json::escape(text, out)),
            _ => self.write(scene, out),
        }
    }
}

impl Encoder {
    pub(super) fn value<'a>(&'a self, field: Field, scene: &'a Scene<'_, '_>) -> Value<'a> {
        match field {
            Field::RpcId => Value::Literal(scene.rpc_id),
            Field::Stamp => Value::Number(self.event_stamp() as i64),
            Field::TaskId | Field::ContextId | Field::History | Field::Artifacts => self.task_value(field, scene),
            Field::NextPage => match self.subject.page().and_then(|page| page.next) {
                Some(stamp) => Value::Token(stamp),
                None => Value::Literal("\"\""),
            },
            Field::PageSize => Value::Number(self.subject.page().map_or(0, |page| i64::from(page.size))),
            Field::TotalSize => Value::Number(self.subject.page().map_or(0, |page| i64::from(page.total))),
            Field::Content
            | Field::DataObject
            | Field::DataOther
            | Field::MediaType
            | Field::Filename
            | Field::PartMetadata
            | Field::HasMore => self.part_value(field, scene),
            Field::FaultCode
            | Field::FaultName
            | Field::FaultReason
            | Field::FaultMember
            | Field::FaultWhy
            | Field::FaultAt
            | Field::IsAboutParams
            | Field::IsOfProtocol => fault_value(field, scene),
            Field::Name
            | Field::AgentDescription
            | Field::Version
            | Field::ProviderName
            | Field::ProviderUrl
            | Field::DocumentationUrl
            | Field::Url
            | Field::Wants(_)
            | Field::Guarded
            | Field::Pushes
            | Field::SkillId
            | Field::SkillName
            | Field::SkillDescription
            | Field::Word
            | Field::InterfaceVersion => self.card_value(field, scene),
            _ => match self.slot(scene) {
                Some(slot) if self.record.is_at_record() => {
                    self.record_value(field, scene, slot, scene.engine.header(self.record))
                }
                _ => Value::Absent,
            },
        }
    }

    fn task_value<'a>(&self, field: Field, scene: &'a Scene<'_, '_>) -> Value<'a> {
        let Some(slot) = self.slot(scene) else { return Value::Absent };
        match field {
            Field::TaskId => Value::Text(&slot.id),
            Field::ContextId => Value::Text(&slot.context),
            Field::History => present(self.shows_history()),
            _ => present(self.shows_artifacts && scene.engine.next_artifact(self.snapshot, Cursor::START).is_some()),
        }
    }

    fn record_value<'a>(
        &self,
        field: Field,
        scene: &'a Scene<'_, '_>,
        slot: &'a Slot,
        header: Header<'_>,
    ) -> Value<'a> {
        let pool = scene.engine.pool();
        let items = header.items(self.record.record);
        let text = |tag| items.find(pool, tag).map_or(Value::Absent, Value::Quoted);
        let json = |tag| items.find(pool, tag).map_or(Value::Absent, Value::Raw);
        match (field, header.kind()) {
            (Field::InTask, kind) => present(kind != Kind::Reply),
            (Field::State, Kind::Status(state)) => Value::Text(scene.dialect.states[state as usize]),
            (Field::Time, _) => wall_time(scene, header.at()),
            (Field::Final, Kind::Status(_)) => present(self.is_final),
            (Field::NotFinal, Kind::Status(_)) => present(!self.is_final),
            (Field::HasMessage, _) => present(scene.engine.has_parts(self.record)),
            (Field::MessageId, _) => match text(Tag::MessageId) {
                Value::Absent => Value::MadeId(&slot.id, header.stamp()),
                id => id,
            },
            (Field::Role, kind) => {
                let from_agent = kind != Kind::Message || items.find(pool, Tag::FromAgent).is_some();
                Value::Text(scene.dialect.roles[usize::from(from_agent)])
            }
            (Field::Metadata, _) => json(Tag::Metadata),
            (Field::Extensions, _) => json(Tag::Extensions),
            (Field::References, _) => json(Tag::References),
            (Field::ArtifactId, Kind::Chunk { .. }) => text(Tag::ArtifactId),
            (Field::ArtifactIndex, Kind::Chunk { artifact, .. }) => Value::Number(i64::from(artifact)),
            (Field::Description, _) => text(Tag::Description),
            (Field::PushId, _) => text(Tag::PushId),
            (Field::PushUrl, _) => text(Tag::PushUrl),
            (Field::PushScheme, _) => text(Tag::PushScheme),
            (Field::PushToken, _) => masked(text(Tag::PushToken)),
            (Field::PushCredentials, _) => masked(text(Tag::PushCredentials)),
            (Field::Append, Kind::Chunk { append, .. }) => present(append && !self.replaces),
            (Field::LastChunk, Kind::Chunk { last, .. }) => present(self.joined.unwrap_or(last)),
            // In a whole artifact its first chunk that is left tells; in an event, one that replaces what was missed.
            (Field::Dropped, Kind::Chunk { ordinal, .. }) if ordinal > 0 && (self.replaces || self.is_whole) => {
                Value::Number(i64::from(ordinal))
            }
            _ => Value::Absent,
        }
    }

    fn part_value<'a>(&self, field: Field, scene: &'a Scene<'_, '_>) -> Value<'a> {
        let Some((content, rest)) = self.part else { return Value::Absent };
        let pool = scene.engine.pool();
        let is_object = || {
            let mut first = [0];
            pool.read(content.span.at, &mut first);
            first == *b"{"
        };
        match field {
            Field::Content if content.tag == Tag::Data => Value::Raw(content.span),
            Field::Content => Value::Quoted(content.span),
            Field::DataObject if is_object() => Value::Raw(content.span),
            Field::DataOther if !is_object() => Value::Raw(content.span),
            Field::HasMore => present(rest.has_attribute(pool)),
            Field::MediaType => rest.find(pool, Tag::MediaType).map_or(Value::Absent, Value::Quoted),
            Field::Filename => rest.find(pool, Tag::Filename).map_or(Value::Absent, Value::Quoted),
            Field::PartMetadata => rest.find(pool, Tag::PartMetadata).map_or(Value::Absent, Value::Raw),
            _ => Value::Absent,
        }
    }

    fn card_value<'a>(&'a self, field: Field, scene: &'a Scene<'_, '_>) -> Value<'a> {
        let profile = scene.profile;
        let skill = profile.skills.get(self.skill);
        match field {
            Field::Name => Value::Text(profile.name),
            Field::AgentDescription => Value::Text(profile.description),
            Field::Version => Value::Text(profile.version),
            Field::ProviderName => {
                profile.provider.map_or(Value::Absent, |provider| Value::Text(provider.organization))
            }
            Field::ProviderUrl => profile.provider.map_or(Value::Absent, |provider| Value::Text(provider.url)),
            Field::DocumentationUrl => profile.documentation_url.map_or(Value::Absent, Value::Text),
            Field::Url => match scene.url {
                Some(url) => Value::Text(url),
                None => Value::Joined("http://", self.subject.host(), "/"),
            },
            Field::Wants(dialect) => present(scene.serves.has_number(dialect)),
            Field::Guarded => present(scene.is_guarded),
            Field::Pushes => present(scene.engine.has_push()),
            Field::SkillId => skill.map_or(Value::Absent, |skill| Value::Text(skill.id)),
            Field::SkillName => skill.map_or(Value::Absent, |skill| Value::Text(skill.name)),
            Field::SkillDescription => skill.map_or(Value::Absent, Value::Description),
            Field::Word => self.words(scene).get(self.word).map_or(Value::Absent, |word| Value::Text(word)),
            Field::InterfaceVersion => self.interface(scene).map_or(Value::Absent, Value::Text),
            _ => Value::Absent,
        }
    }
}

fn fault_value<'a>(field: Field, scene: &'a Scene<'_, '_>) -> Value<'a> {
    let Some(fault) = scene.fault else { return Value::Absent };
    let said = &scene.dialect.faults[fault.kind as usize];
    let text = |text: &'static str| if text.is_empty() { Value::Absent } else { Value::Text(text) };
    match field {
        Field::FaultCode => Value::Number(i64::from(said.code)),
        Field::FaultName => Value::Text(said.name),
        Field::FaultReason => text(said.reason),
        Field::FaultMember => text(fault.field),
        Field::FaultWhy => text(fault.why),
        Field::FaultAt => fault.at.map_or(Value::Absent, |at| Value::Number(i64::from(at))),
        Field::IsAboutParams => present(fault.kind == FaultKind::InvalidParams),
        _ => present(fault.kind != FaultKind::InvalidParams && !said.reason.is_empty()),
    }
}

fn wall_time<'a>(scene: &Scene<'_, '_>, at: Millis) -> Value<'a> {
    scene.engine.wall_time(at).map_or(Value::Absent, Value::Time)
}

/// A secret: there, but not to be read.
fn masked<'a>(value: Value<'_>) -> Value<'a> {
    if value.is_there() { Value::Literal("\"********\"") } else { Value::Absent }
}

fn present<'a>(there: bool) -> Value<'a> {
    if there { Value::Present } else { Value::Absent }
}
