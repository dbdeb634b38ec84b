//! A2A 0.1: the client names the task, artifacts are numbered, streams never carry a Task.

use super::{
    Dialect, Manners, Method, Said, Shapes,
    asking::{About, Asking, Word},
    common::{CHUNK, CHUNK_FLAGS, DATA_OBJECT, FILE_REST, FINAL, LOWER_ROLES, PART_REST, PUSH_REST, STATUS, TASK_REST},
    read::{history, members, message, name, object, push_config, push_fields, required, strings, tagged_part},
};
use crate::{
    encode::{
        Field as F, List,
        Op::{self, ByPart, Each, Lit, Member},
        Ops,
    },
    json::{Json, Text},
    model::{Call, Fault, History, PushConfig, PushFields, Respond, SendCall, TaskName},
};

pub(super) const NUMBER: u8 = 0;

pub(super) static DIALECT: Dialect = Dialect {
    number: NUMBER,
    versions: &["0.1"],
    interface: None,
    methods: &[
        ("tasks/send", Method::Send),
        ("tasks/sendSubscribe", Method::Stream),
        ("tasks/get", Method::Get),
        ("tasks/cancel", Method::Cancel),
        ("tasks/resubscribe", Method::Subscribe),
        ("tasks/pushNotification/set", Method::SetPush),
        ("tasks/pushNotification/get", Method::GetPush),
    ],
    decode,
    states: [
        "submitted",
        "working",
        "input-required",
        // It has no word for these two: credentials are asked for as input, a refusal is a failure.
        "input-required",
        "completed",
        "canceled",
        "failed",
        "failed",
    ],
    roles: LOWER_ROLES,
    faults: [
        said(-32700, "Invalid JSON payload"),
        said(-32600, "Request payload validation error"),
        said(-32601, "Method not found"),
        said(-32602, "Invalid parameters"),
        said(-32603, "Internal error"),
        said(-32001, "Task not found"),
        said(-32002, "Task cannot be canceled"),
        said(-32003, "Push Notification is not supported"),
        said(-32004, "This operation is not supported"),
        said(-32005, "Incompatible content types"),
        // From -32006 on the numbers mean other things in later versions.
        said(-32603, "Internal error: invalid agent response"),
        said(-32004, "This operation is not supported: no extended card"),
        said(-32004, "This operation is not supported: an extension is required"),
        said(-32004, "This operation is not supported: version not supported"),
        said(-32009, "Invalid task state: the task has ended"),
        said(-32011, "Resource unavailable, try again later"),
        said(-32007, "Authentication required"),
        said(-32008, "Authorization failed"),
        said(-32010, "Rate limit exceeded, try again later"),
    ],
    manners: Manners {
        insists_on_jsonrpc: false,
        reopens: true,
        knows_replies: false,
        errors_as_events: false,
        leaves_open: true,
        shows_ended: true,
        history: UNSET,
        challenges: true,
        pushes_task: true,
        push_type: "application/json",
    },
    shapes: Shapes {
        sent: &[TASK],
        replied: &[TASK],
        task: &[TASK],
        list: &[Lit("null")],
        push: &[Member("{\"id\":", F::TaskId), Lit(",\"pushNotificationConfig\":{"), PUSH_REST],
        pushes: &[Lit("null")],
        snapshot: None,
        status_event: &[Member("{\"id\":", F::TaskId), Lit(",\"status\":"), STATUS, FINAL],
        artifact_event: &[Member("{\"id\":", F::TaskId), Lit(",\"artifact\":"), CHUNK, CHUNK_FLAGS, Lit("}}")],
        reply_event: &[TASK],
        message: MESSAGE,
        artifact_head: ARTIFACT_HEAD,
        part: PART,
        error_data: &[],
    },
};

/// How it is asked. A client that names no task names one after its message.
pub(super) static ASKING: Asking = Asking {
    dialect: &DIALECT,
    version: "0.1",
    say: &[
        Word::Member("{\"id\":", About::TaskOrMessage),
        Word::Member(",\"sessionId\":", About::Context),
        Word::Lit(",\"message\":{\"role\":\"user\",\"parts\":["),
        Word::Parts { text: "{\"type\":\"text\",\"text\":", data: "{\"type\":\"data\",\"data\":", takes_any: false },
        Word::Lit("]}}"),
    ],
    task: &[Word::Member("{\"id\":", About::Task), Word::Lit("}")],
    list: &[],
    wrappers: &[],
    kinds: &[],
    context: "sessionId",
    event_task: "id",
    artifact: "index",
    part: tagged_part,
};

const fn said(code: i32, name: &'static str) -> Said {
    Said { code, name, reason: "" }
}

const TASK: Op = Op::Nest(&[Member("{\"id\":", F::TaskId), Member(",\"sessionId\":", F::ContextId), TASK_REST]);

const MESSAGE: Ops = &[
    Member("{\"role\":", F::Role),
    Lit(",\"parts\":["),
    Each(List::Parts, PART),
    Lit("]"),
    Member(",\"metadata\":", F::Metadata),
    Lit("}"),
];

const ARTIFACT_HEAD: Ops = &[
    Member("\"name\":", F::ArtifactId),
    Member(",\"description\":", F::Description),
    Member(",\"index\":", F::ArtifactIndex),
    Lit(","),
];

const PART: Ops = &[
    ByPart(&[
        &[Member("{\"type\":\"text\",\"text\":", F::Content)],
        &[Member("{\"type\":\"file\",\"file\":{\"bytes\":", F::Content), FILE_REST],
        &[Member("{\"type\":\"file\",\"file\":{\"uri\":", F::Content), FILE_REST],
        &[Lit("{\"type\":\"data\",\"data\":"), DATA_OBJECT],
    ]),
    PART_REST,
];

/// No history unless so many messages are asked for.
const UNSET: History = History::Newest(0);

fn decode(method: Method, params: Json<'_>) -> Result<Call<'_>, Fault> {
    Ok(match method {
        Method::Send => Call::Send(send(params, Respond::Settled)?),
        Method::Stream => Call::Send(send(params, Respond::Stream)?),
        Method::SetPush => {
            let [task, config] = members(params, ["id", "pushNotificationConfig"], "params")?;
            let task = required(name(task, "id")?, "id")?;
            Call::SetPush { task, config: one_config(required(config, "pushNotificationConfig")?, task, &CONFIG)? }
        }
        Method::GetPush => {
            let [task] = members(params, ["id"], "params")?;
            Call::GetPush { task: required(name(task, "id")?, "id")?, id: None }
        }
        Method::ExtendedCard => Call::ExtendedCard,
        _ => super::task_call(method, params, UNSET)?,
    })
}

static CONFIG: PushFields =
    PushFields { id: "id", ..push_fields!("pushNotificationConfig", "pushNotificationConfig.", "schemes") };
static SENT_CONFIG: PushFields =
    PushFields { id: "id", ..push_fields!("pushNotification", "pushNotification.", "schemes") };

/// A task has one configuration, which needs no name.
fn one_config<'a>(value: Json<'a>, task: Text<'a>, fields: &'static PushFields) -> Result<PushConfig<'a>, Fault> {
    Ok(PushConfig { id: Some(task), ..push_config(value, None, fields)? })
}

fn send(params: Json<'_>, respond: Respond) -> Result<SendCall<'_>, Fault> {
    let [id, session, said, length, push, modes, metadata] = members(
        params,
        ["id", "sessionId", "message", "historyLength", "pushNotification", "acceptedOutputModes", "metadata"],
        "params",
    )?;
    object(metadata, "metadata")?;
    let said = message(said, &DIALECT.roles, "must be user or agent", tagged_part)?;
    let id = required(name(id, "id")?, "id")?;
    Ok(SendCall {
        message: said.message,
        task: TaskName::Named(id),
        context: name(session, "sessionId")?,
        context_member: "sessionId",
        respond,
        history: history(length, UNSET)?,
        output_modes: strings(modes, "acceptedOutputModes")?,
        push: push.map(|config| one_config(config, id, &SENT_CONFIG)).transpose()?,
    })
}
