//! Reading parameters: members by name, with a fault that says which one was wrong.

use crate::{
    json::{Json, Kind, Text},
    model::{Content, Fault, History, Message, Part, Parts, PushConfig, PushFields, Respond, SendCall, TaskName},
};

/// Picks members out of an object. `null` counts as missing, unknown members are passed over, a name that comes twice
/// is refused: two readers could disagree on which one counts.
pub(crate) fn members<'a, const N: usize>(
    object: Json<'a>,
    names: [&'static str; N],
    field: &'static str,
) -> Result<[Option<Json<'a>>; N], Fault> {
    let mut found = [None; N];
    pick(object, &names, &mut found, field)?;
    Ok(found)
}

/// As [`members`], for any number of them: this is where the code is.
fn pick<'a>(
    object: Json<'a>,
    names: &[&'static str],
    found: &mut [Option<Json<'a>>],
    field: &'static str,
) -> Result<(), Fault> {
    if object.kind() != Kind::Object {
        return Err(Fault::params(field, "must be an object"));
    }
    let mut seen = 0u32;
    for (key, value) in object.members() {
        let mut places = names.iter().zip(found.iter_mut()).zip(0..);
        let Some(((name, place), number)) = places.find(|((name, _), _)| is_name(key, name)) else { continue };
        let bit = 1u32.wrapping_shl(number);
        if seen & bit != 0 {
            return Err(Fault::params(name, "stands there twice"));
        }
        seen |= bit;
        *place = (value.kind() != Kind::Null).then_some(value);
    }
    Ok(())
}

/// Whether a key is the name, in camelCase or, as ProtoJSON readers take it too, in snake_case.
fn is_name(key: Text<'_>, name: &str) -> bool {
    // Most keys that are not the name begin with another letter.
    let first = key.escaped().as_bytes().first();
    if first != name.as_bytes().first() && first != Some(&b'\\') {
        return false;
    }
    if key.is(name) {
        return true;
    }
    let mut key = key.chars();
    for expected in name.chars() {
        match key.next() {
            Some(found) if found == expected => {}
            Some('_') if expected.is_ascii_uppercase() && key.next() == Some(expected.to_ascii_lowercase()) => {}
            _ => return false,
        }
    }
    key.next().is_none()
}

pub(crate) fn required<T>(value: Option<T>, field: &'static str) -> Result<T, Fault> {
    value.ok_or(Fault::params(field, "is missing"))
}

pub(crate) fn text<'a>(value: Option<Json<'a>>, field: &'static str) -> Result<Option<Text<'a>>, Fault> {
    value.map(|value| value.text().ok_or(Fault::params(field, "must be a string"))).transpose()
}

/// A string that counts as missing when it is empty, as ProtoJSON has it.
pub(crate) fn name<'a>(value: Option<Json<'a>>, field: &'static str) -> Result<Option<Text<'a>>, Fault> {
    Ok(text(value, field)?.filter(|text| !text.is_empty()))
}

pub(crate) fn boolean(value: Option<Json<'_>>, field: &'static str) -> Result<Option<bool>, Fault> {
    value.map(|value| value.bool().ok_or(Fault::params(field, "must be true or false"))).transpose()
}

pub(super) fn object<'a>(value: Option<Json<'a>>, field: &'static str) -> Result<Option<Json<'a>>, Fault> {
    match value {
        Some(value) if value.kind() != Kind::Object => Err(Fault::params(field, "must be an object")),
        value => Ok(value),
    }
}

pub(super) fn strings<'a>(value: Option<Json<'a>>, field: &'static str) -> Result<Option<Json<'a>>, Fault> {
    match value {
        Some(value) if value.kind() != Kind::Array || value.items().any(|item| item.kind() != Kind::String) => {
            Err(Fault::params(field, "must be an array of strings"))
        }
        Some(value) if value.items().next().is_none() => Ok(None),
        value => Ok(value),
    }
}

/// The length of the history: unset leaves the choice to `unset`, zero is none, negative is refused.
#[inline(never)]
pub(super) fn history(value: Option<Json<'_>>, unset: History) -> Result<History, Fault> {
    let Some(value) = value else { return Ok(unset) };
    match value.integer() {
        Some(count) if count >= 0 => Ok(History::Newest(u32::try_from(count).unwrap_or(u32::MAX))),
        Some(_) => Err(Fault::params("historyLength", "must not be negative")),
        None => Err(Fault::params("historyLength", "must be a whole number")),
    }
}

/// The names of the members of a push notification configuration that stands in the given place.
macro_rules! push_fields {
    ($all:literal, $within:literal, $scheme:literal) => {
        PushFields {
            all: $all,
            id: concat!($within, "id"),
            url: concat!($within, "url"),
            token: concat!($within, "token"),
            authentication: concat!($within, "authentication"),
            scheme: concat!($within, "authentication.", $scheme),
            credentials: concat!($within, "authentication.credentials"),
        }
    };
}
pub(super) use push_fields;

/// Whom to notify of a task. What has no id has the task's, if that is known yet. Older versions list schemes, of which the
/// first is used; one of the documents this was made from writes a single one.
pub(super) fn push_config<'a>(
    value: Json<'a>,
    task: Option<Text<'a>>,
    fields: &'static PushFields,
) -> Result<PushConfig<'a>, Fault> {
    let [id, url, token, authentication] = members(value, ["id", "url", "token", "authentication"], fields.all)?;
    let [scheme, schemes, credentials] = match authentication {
        None => [None; 3],
        Some(authentication) => members(authentication, ["scheme", "schemes", "credentials"], fields.authentication)?,
    };
    let first = match schemes {
        Some(list) if list.kind() == Kind::Array => list.items().next(),
        other => other,
    };
    Ok(PushConfig {
        id: name(id, fields.id)?.or(task),
        url: required(name(url, fields.url)?, fields.url)?,
        token: name(token, fields.token)?,
        scheme: name(scheme.or(first), fields.scheme)?,
        credentials: name(credentials, fields.credentials)?,
        fields,
    })
}

/// A message that has parts in the shape of `decode`.
pub(super) struct Draft<'a> {
    pub(super) message: Message<'a>,
    pub(super) context: Option<Text<'a>>,
    pub(super) task: Option<Text<'a>>,
}

/// Reads a message. `roles` are the client's and the agent's words, `roles_why` says so to those who use others.
pub(super) fn message<'a>(
    value: Option<Json<'a>>,
    roles: &[&str; 2],
    roles_why: &'static str,
    decode: for<'j> fn(Json<'j>) -> Result<Part<'j>, Fault>,
) -> Result<Draft<'a>, Fault> {
    let [id, role, parts, context, task, metadata, extensions, references] = members(
        required(value, "message")?,
        ["messageId", "role", "parts", "contextId", "taskId", "metadata", "extensions", "referenceTaskIds"],
        "message",
    )?;
    let [user, agent] = roles;
    let from_agent = match required(role, "message.role")? {
        role if role.text().is_some_and(|text| text.is(user)) || role.integer() == Some(1) => false,
        role if role.text().is_some_and(|text| text.is(agent)) || role.integer() == Some(2) => true,
        _ => return Err(Fault::params("message.role", roles_why)),
    };
    let parts = required(parts, "message.parts")?;
    if parts.kind() != Kind::Array {
        return Err(Fault::params("message.parts", "must be an array of at least one part"));
    }
    Ok(Draft {
        message: Message {
            id: name(id, "message.messageId")?,
            from_agent,
            parts: Parts::new(parts, decode)?,
            metadata: object(metadata, "message.metadata")?,
            extensions: strings(extensions, "message.extensions")?,
            references: strings(references, "message.referenceTaskIds")?,
        },
        context: name(context, "message.contextId")?,
        task: name(task, "message.taskId")?,
    })
}

/// What a dialect says when a message is sent, where it has a configuration beside it. A member is its name and the field
/// that a fault names.
pub(super) struct Sending {
    pub(super) roles: &'static [&'static str; 2],
    pub(super) roles_why: &'static str,
    pub(super) part: for<'j> fn(Json<'j>) -> Result<Part<'j>, Fault>,
    /// The member that tells when to answer, and what it means where it is not there, false, true.
    pub(super) wait: (&'static str, &'static str),
    pub(super) unset: Respond,
    pub(super) no: Respond,
    pub(super) yes: Respond,
    pub(super) push: (&'static str, &'static PushFields),
}

/// Reads a message and its configuration, to be answered as a stream or as the configuration says.
pub(super) fn send<'a>(params: Json<'a>, stream: Option<Respond>, words: &Sending) -> Result<SendCall<'a>, Fault> {
    let [said, configuration, metadata] = members(params, ["message", "configuration", "metadata"], "params")?;
    object(metadata, "metadata")?;
    let said = message(said, words.roles, words.roles_why, words.part)?;
    required(said.message.id, "message.messageId")?;
    let [modes, length, wait, push] = match configuration {
        None => [None; 4],
        Some(configuration) => {
            let names = ["acceptedOutputModes", "historyLength", words.wait.0, words.push.0];
            members(configuration, names, "configuration")?
        }
    };
    let unary = match boolean(wait, words.wait.1)? {
        None => words.unset,
        Some(false) => words.no,
        Some(true) => words.yes,
    };
    Ok(SendCall {
        message: said.message,
        task: said.task.map_or(TaskName::New, TaskName::Existing),
        context: said.context,
        context_member: "message.contextId",
        respond: stream.unwrap_or(unary),
        history: history(length, History::All)?,
        output_modes: strings(modes, "configuration.acceptedOutputModes")?,
        push: push.map(|config| push_config(config, said.task, words.push.1)).transpose()?,
    })
}

/// Exactly one content.
pub(super) fn one_content<const N: usize>(contents: [Option<Content<'_>>; N]) -> Result<Content<'_>, Fault> {
    let mut given = contents.into_iter().flatten();
    match (given.next(), given.next()) {
        (Some(content), None) => Ok(content),
        (None, _) => Err(Fault::params("message.parts", "has a part without content")),
        (Some(_), Some(_)) => Err(Fault::params("message.parts", "has a part with two contents")),
    }
}

/// Base64, standard or URL-safe, padded or not.
pub(super) fn base64<'a>(value: Option<Json<'a>>, field: &'static str) -> Result<Option<Text<'a>>, Fault> {
    let Some(text) = text(value, field)? else { return Ok(None) };
    let mut digits = 0usize;
    let mut padding = 0usize;
    for character in text.chars() {
        match character {
            'A'..='Z' | 'a'..='z' | '0'..='9' | '+' | '/' | '-' | '_' if padding == 0 => {
                digits = digits.saturating_add(1);
            }
            '=' if padding < 2 => padding = padding.saturating_add(1),
            _ => return Err(Fault::params(field, "is not base64")),
        }
    }
    let whole = match digits % 4 {
        0 => padding == 0,
        2 => padding == 0 || padding == 2,
        3 => padding <= 1,
        _ => false,
    };
    if whole { Ok(Some(text)) } else { Err(Fault::params(field, "is not base64")) }
}

/// The parts of the versions that tag them: `kind`, or `type` where there is no `kind`.
pub(super) fn tagged_part(value: Json<'_>) -> Result<Part<'_>, Fault> {
    let [kind, kind_of_old, content, file, data, metadata] =
        members(value, ["kind", "type", "text", "file", "data", "metadata"], "message.parts")?;
    let kind = required(text(kind.or(kind_of_old), "message.parts.kind")?, "message.parts.kind")?;
    let mut part = Part {
        content: Content::Data(value),
        media_type: None,
        filename: None,
        metadata: object(metadata, "message.parts.metadata")?,
    };
    if kind.is("text") {
        part.content = Content::Text(required(text(content, "message.parts.text")?, "message.parts.text")?);
    } else if kind.is("data") {
        part.content = Content::Data(required(data, "message.parts.data")?);
    } else if kind.is("file") {
        // Early examples say `data` where the schema says `bytes`.
        let [file_name, media_type, bytes, bytes_of_old, uri] = members(
            required(file, "message.parts.file")?,
            ["name", "mimeType", "bytes", "data", "uri"],
            "message.parts.file",
        )?;
        part.content = one_content([
            base64(bytes.or(bytes_of_old), "message.parts.file.bytes")?.map(Content::Raw),
            text(uri, "message.parts.file.uri")?.map(Content::Url),
        ])?;
        part.filename = name(file_name, "message.parts.file.name")?;
        part.media_type = name(media_type, "message.parts.file.mimeType")?;
    } else {
        return Err(Fault::params("message.parts.kind", "must be text, file or data"));
    }
    Ok(part)
}
