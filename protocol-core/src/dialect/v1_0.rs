//! A2A 1.0: ProtoJSON, wrapper keys, streams that just close.

use super::{
    Dialect, Manners, Method, Said, Shapes,
    asking::{About, Asking, Sort, Word},
    common::{ARTIFACT_BY_ID, CHUNK, CHUNK_FLAGS, MESSAGE_REST, STATUS, TASK_REST},
    read::{
        Sending, base64, boolean, history, members, name, object, one_content, push_config, push_fields, required,
        send, text,
    },
};
use crate::{
    encode::{
        Field as F, List,
        Op::{self, ByPart, Each, If, Lit, Member},
        Ops,
    },
    json::Json,
    model::{Call, Content, Fault, Filter, History, Part, PushFields, Respond, TaskState},
    time::UnixMillis,
};

pub(super) const NUMBER: u8 = 2;

pub(super) static DIALECT: Dialect = Dialect {
    number: NUMBER,
    versions: &["1."],
    interface: Some("1.0"),
    methods: &[
        ("SendMessage", Method::Send),
        ("SendStreamingMessage", Method::Stream),
        ("GetTask", Method::Get),
        ("ListTasks", Method::List),
        ("CancelTask", Method::Cancel),
        ("SubscribeToTask", Method::Subscribe),
        ("CreateTaskPushNotificationConfig", Method::SetPush),
        ("GetTaskPushNotificationConfig", Method::GetPush),
        ("ListTaskPushNotificationConfigs", Method::ListPush),
        ("DeleteTaskPushNotificationConfig", Method::DeletePush),
        ("GetExtendedAgentCard", Method::ExtendedCard),
    ],
    decode,
    states: [
        "TASK_STATE_SUBMITTED",
        "TASK_STATE_WORKING",
        "TASK_STATE_INPUT_REQUIRED",
        "TASK_STATE_AUTH_REQUIRED",
        "TASK_STATE_COMPLETED",
        "TASK_STATE_CANCELED",
        "TASK_STATE_FAILED",
        "TASK_STATE_REJECTED",
    ],
    roles: ROLES,
    faults: [
        said(-32700, "Invalid JSON payload", ""),
        said(-32600, "Request payload validation error", ""),
        said(-32601, "Method not found", ""),
        said(-32602, "Invalid parameters", ""),
        said(-32603, "Internal error", ""),
        said(-32001, "Task not found", "TASK_NOT_FOUND"),
        said(-32002, "Task cannot be canceled", "TASK_NOT_CANCELABLE"),
        said(-32003, "Push Notification is not supported", "PUSH_NOTIFICATION_NOT_SUPPORTED"),
        said(-32004, "This operation is not supported", "UNSUPPORTED_OPERATION"),
        said(-32005, "Incompatible content types: content type not supported", "CONTENT_TYPE_NOT_SUPPORTED"),
        said(-32006, "Invalid agent response", "INVALID_AGENT_RESPONSE"),
        // Without the capability the text wants "unsupported"; "not configured" is for an agent that declares it.
        said(-32004, "This operation is not supported: no extended card", "UNSUPPORTED_OPERATION"),
        said(-32008, "Extension support required", "EXTENSION_SUPPORT_REQUIRED"),
        said(-32009, "Version not supported", "VERSION_NOT_SUPPORTED"),
        said(-32004, "This operation is not supported: the task has ended", "UNSUPPORTED_OPERATION"),
        said(-32000, "Busy, try again later", ""),
        // HTTP says these two with its status; there is no number for them.
        said(-32000, "Authentication required", ""),
        said(-32000, "Not allowed", ""),
        said(-32000, "Too many requests, try again later", ""),
    ],
    manners: Manners {
        insists_on_jsonrpc: true,
        reopens: false,
        knows_replies: true,
        errors_as_events: false,
        leaves_open: false,
        shows_ended: false,
        history: History::All,
        challenges: false,
        pushes_task: false,
        push_type: "application/a2a+json",
    },
    shapes: Shapes {
        sent: &[Lit("{\"task\":"), TASK, Lit("}")],
        replied: &[Lit("{\"message\":"), MESSAGE, Lit("}")],
        task: &[TASK],
        list: &[
            Lit("{\"tasks\":["),
            Each(List::Tasks, &[TASK]),
            Member("],\"nextPageToken\":", F::NextPage),
            Member(",\"pageSize\":", F::PageSize),
            Member(",\"totalSize\":", F::TotalSize),
            Lit("}"),
        ],
        push: &[PUSH],
        pushes: &[Lit("{\"configs\":["), Each(List::Pushes, &[PUSH]), Lit("],\"nextPageToken\":\"\"}")],
        snapshot: Some(&[Lit("{\"task\":"), TASK, Lit("}")]),
        status_event: &[
            Member("{\"statusUpdate\":{\"taskId\":", F::TaskId),
            Member(",\"contextId\":", F::ContextId),
            Lit(",\"status\":"),
            STATUS,
            Lit("}}"),
        ],
        artifact_event: &[
            Member("{\"artifactUpdate\":{\"taskId\":", F::TaskId),
            Member(",\"contextId\":", F::ContextId),
            Lit(",\"artifact\":"),
            CHUNK,
            Lit("}"),
            CHUNK_FLAGS,
            Lit("}}"),
        ],
        reply_event: &[Lit("{\"message\":"), MESSAGE, Lit("}")],
        message: &[MESSAGE],
        artifact_head: ARTIFACT_BY_ID,
        part: PART,
        error_data: &[
            If(
                F::IsOfProtocol,
                &[
                    Member(
                        ",\"data\":[{\"@type\":\"type.googleapis.com/google.rpc.ErrorInfo\",\"reason\":",
                        F::FaultReason,
                    ),
                    Lit(",\"domain\":\"a2a-protocol.org\",\"metadata\":{}}]"),
                ],
            ),
            If(
                F::IsAboutParams,
                &[
                    Member(
                        ",\"data\":[{\"@type\":\"type.googleapis.com/google.rpc.BadRequest\",\"fieldViolations\":[{\"field\":",
                        F::FaultMember,
                    ),
                    Member(",\"description\":", F::FaultWhy),
                    Lit("}]}]"),
                ],
            ),
        ],
    },
};

/// How it is asked.
pub(super) static ASKING: Asking = Asking {
    dialect: &DIALECT,
    version: "1.0",
    say: &[
        Word::Member("{\"message\":{\"messageId\":", About::Message),
        Word::Member(",\"taskId\":", About::Task),
        Word::Member(",\"contextId\":", About::Context),
        Word::Lit(",\"role\":\"ROLE_USER\",\"parts\":["),
        Word::Parts { text: "{\"text\":", data: "{\"data\":", takes_any: true },
        Word::Lit("]}"),
        Word::AtOnce(",\"configuration\":{\"returnImmediately\":true}"),
        Word::Lit("}"),
    ],
    task: &[Word::Member("{\"id\":", About::Task), Word::Lit("}")],
    list: &[
        Word::Lit("{\"pageSize\":100"),
        Word::Member(",\"contextId\":", About::Context),
        Word::Member(",\"pageToken\":", About::Page),
        Word::Lit("}"),
    ],
    wrappers: &[
        ("task", Sort::Task),
        ("message", Sort::Message),
        ("statusUpdate", Sort::Status),
        ("artifactUpdate", Sort::Artifact),
    ],
    kinds: &[],
    context: "contextId",
    event_task: "taskId",
    artifact: "artifactId",
    part,
};

const ROLES: [&str; 2] = ["ROLE_USER", "ROLE_AGENT"];

const fn said(code: i32, name: &'static str, reason: &'static str) -> Said {
    Said { code, name, reason }
}

const TASK: Op = Op::Nest(&[Member("{\"id\":", F::TaskId), Member(",\"contextId\":", F::ContextId), TASK_REST]);

const MESSAGE: Op = Op::Nest(&[Lit("{"), MESSAGE_REST]);

const PUSH: Op = Op::Nest(&[
    Member("{\"taskId\":", F::TaskId),
    Member(",\"id\":", F::PushId),
    Member(",\"url\":", F::PushUrl),
    Member(",\"token\":", F::PushToken),
    If(
        F::PushScheme,
        &[
            Member(",\"authentication\":{\"scheme\":", F::PushScheme),
            Member(",\"credentials\":", F::PushCredentials),
            Lit("}"),
        ],
    ),
    Lit("}"),
]);

const PART: Ops = &[
    ByPart(&[
        &[Member("{\"text\":", F::Content)],
        &[Member("{\"raw\":", F::Content)],
        &[Member("{\"url\":", F::Content)],
        &[Member("{\"data\":", F::Content)],
    ]),
    If(
        F::HasMore,
        &[
            Member(",\"mediaType\":", F::MediaType),
            Member(",\"filename\":", F::Filename),
            Member(",\"metadata\":", F::PartMetadata),
        ],
    ),
    Lit("}"),
];

fn decode(method: Method, params: Json<'_>) -> Result<Call<'_>, Fault> {
    Ok(match method {
        Method::Send => Call::Send(send(params, None, &SENDING)?),
        Method::Stream => Call::Send(send(params, Some(Respond::Stream), &SENDING)?),
        Method::Get | Method::Subscribe => {
            let [id, length] = members(params, ["id", "historyLength"], "params")?;
            let id = required(name(id, "id")?, "id")?;
            let history = history(length, DIALECT.manners.history)?;
            if method == Method::Get { Call::Get { id, history } } else { Call::Subscribe { id, history } }
        }
        Method::Cancel => {
            let [id, metadata] = members(params, ["id", "metadata"], "params")?;
            object(metadata, "metadata")?;
            Call::Cancel { id: required(name(id, "id")?, "id")? }
        }
        Method::List => Call::List(list(params)?),
        Method::SetPush => {
            let [task] = members(params, ["taskId"], "params")?;
            let task = required(name(task, "taskId")?, "taskId")?;
            Call::SetPush { task, config: push_config(params, Some(task), &push_fields!("params", "", "scheme"))? }
        }
        Method::GetPush | Method::ListPush | Method::DeletePush => {
            let [task, id] = members(params, ["taskId", "id"], "params")?;
            let task = required(name(task, "taskId")?, "taskId")?;
            let id = name(id, "id")?;
            match method {
                Method::ListPush => Call::ListPush { task },
                Method::GetPush => Call::GetPush { task, id: Some(required(id, "id")?) },
                _ => Call::DeletePush { task, id: required(id, "id")? },
            }
        }
        Method::ExtendedCard => Call::ExtendedCard,
    })
}

static SENDING: Sending = Sending {
    roles: &ROLES,
    roles_why: "must be ROLE_USER or ROLE_AGENT",
    part,
    wait: ("returnImmediately", "configuration.returnImmediately"),
    unset: Respond::Settled,
    no: Respond::Settled,
    yes: Respond::Now,
    push: (
        "taskPushNotificationConfig",
        &push_fields!(
            "configuration.taskPushNotificationConfig",
            "configuration.taskPushNotificationConfig.",
            "scheme"
        ),
    ),
};

fn list(params: Json<'_>) -> Result<Filter<'_>, Fault> {
    const PAGE_SIZES: core::ops::RangeInclusive<i64> = 1..=100;
    let [context, status, size, token, length, after, artifacts] = members(
        params,
        ["contextId", "status", "pageSize", "pageToken", "historyLength", "statusTimestampAfter", "includeArtifacts"],
        "params",
    )?;
    let page_size = match size.map(|size| size.integer().filter(|size| PAGE_SIZES.contains(size))) {
        None => 50,
        Some(Some(size)) => u16::try_from(size).unwrap_or(50),
        Some(None) => return Err(Fault::params("pageSize", "must be from 1 to 100")),
    };
    let behind = match name(token, "pageToken")? {
        None => None,
        Some(token) => {
            let number = token.decode::<20>().and_then(|token| token.parse().ok());
            Some(number.ok_or(Fault::params("pageToken", "is not one of ours"))?)
        }
    };
    let after = match name(after, "statusTimestampAfter")? {
        None => None,
        Some(after) => Some(
            UnixMillis::parse(after.chars())
                .ok_or(Fault::params("statusTimestampAfter", "must be an RFC 3339 time"))?,
        ),
    };
    Ok(Filter {
        context: name(context, "contextId")?,
        state: state(status)?,
        after,
        behind,
        page_size,
        history: history(length, DIALECT.manners.history)?,
        artifacts: boolean(artifacts, "includeArtifacts")?.unwrap_or(false),
    })
}

/// A state by name or, as ProtoJSON has it too, by its number in the proto.
fn state(value: Option<Json<'_>>) -> Result<Option<TaskState>, Fault> {
    const NUMBERS: [i64; TaskState::COUNT] = [1, 2, 6, 8, 3, 5, 4, 7];
    let Some(value) = value else { return Ok(None) };
    if value.integer() == Some(0) || value.text().is_some_and(|text| text.is("TASK_STATE_UNSPECIFIED")) {
        return Ok(None);
    }
    TaskState::ALL
        .into_iter()
        .zip(DIALECT.states)
        .zip(NUMBERS)
        .find(|((_, word), number)| value.text().is_some_and(|text| text.is(word)) || value.integer() == Some(*number))
        .map(|((state, _), _)| Some(state))
        .ok_or(Fault::params("status", "is not a state"))
}

/// A part: the member that is there says what it is.
fn part(value: Json<'_>) -> Result<Part<'_>, Fault> {
    let [words, raw, url, data, media_type, filename, metadata] =
        members(value, ["text", "raw", "url", "data", "mediaType", "filename", "metadata"], "message.parts")?;
    // `data` is any JSON: a `null` is a value there, unless another content says that it is a member left out.
    let data = if words.or(raw).or(url).is_none() { data.or_else(|| value.member("data")) } else { data };
    Ok(Part {
        content: one_content([
            text(words, "message.parts.text")?.map(Content::Text),
            base64(raw, "message.parts.raw")?.map(Content::Raw),
            text(url, "message.parts.url")?.map(Content::Url),
            data.map(Content::Data),
        ])?,
        media_type: name(media_type, "message.parts.mediaType")?,
        filename: name(filename, "message.parts.filename")?,
        metadata: object(metadata, "message.parts.metadata")?,
    })
}
