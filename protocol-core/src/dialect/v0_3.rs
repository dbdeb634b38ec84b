//! A2A 0.2 and 0.3: `kind` on everything, `final` on the last event. A 0.3 answer is a valid 0.2 answer.

use super::{
    Dialect, Manners, Method, Said, Shapes,
    asking::{About, Asking, Sort, Word},
    common::{
        ARTIFACT_BY_ID, CHUNK, CHUNK_FLAGS, DATA_OBJECT, FILE_REST, FINAL, LOWER_ROLES, MESSAGE_REST, PART_REST,
        PUSH_REST, STATUS, TASK_REST,
    },
    read::{Sending, members, name, push_config, push_fields, required, send, tagged_part},
};
use crate::{
    encode::{
        Field as F, List,
        Op::{self, ByPart, Each, Lit, Member},
        Ops,
    },
    json::Json,
    model::{Call, Fault, History, PushFields, Respond},
};

pub(super) const NUMBER: u8 = 1;

pub(super) static DIALECT: Dialect = Dialect {
    number: NUMBER,
    versions: &["0.2", "0.3"],
    interface: Some("0.3"),
    methods: &[
        ("message/send", Method::Send),
        ("message/stream", Method::Stream),
        // One of the documents this was made from writes a dot.
        ("message.send", Method::Send),
        ("message.stream", Method::Stream),
        ("tasks/get", Method::Get),
        ("tasks/cancel", Method::Cancel),
        ("tasks/resubscribe", Method::Subscribe),
        ("tasks/pushNotificationConfig/set", Method::SetPush),
        ("tasks/pushNotificationConfig/get", Method::GetPush),
        ("tasks/pushNotificationConfig/list", Method::ListPush),
        ("tasks/pushNotificationConfig/delete", Method::DeletePush),
        ("agent/getAuthenticatedExtendedCard", Method::ExtendedCard),
    ],
    decode,
    states: ["submitted", "working", "input-required", "auth-required", "completed", "canceled", "failed", "rejected"],
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
        said(-32005, "Incompatible content types: content type not supported"),
        said(-32006, "Invalid agent response"),
        said(-32007, "Authenticated Extended Card is not configured"),
        // Codes that came later mean nothing to these clients.
        said(-32004, "This operation is not supported: an extension is required"),
        said(-32004, "This operation is not supported: version not supported"),
        said(-32004, "This operation is not supported: the task has ended"),
        said(-32000, "Busy, try again later"),
        // HTTP says these two with its status; there is no number for them.
        said(-32000, "Authentication required"),
        said(-32000, "Not allowed"),
        said(-32000, "Too many requests, try again later"),
    ],
    manners: Manners {
        insists_on_jsonrpc: true,
        reopens: false,
        knows_replies: true,
        errors_as_events: true,
        leaves_open: true,
        shows_ended: true,
        history: History::All,
        challenges: false,
        pushes_task: true,
        push_type: "application/json",
    },
    shapes: Shapes {
        sent: &[TASK],
        replied: &[MESSAGE],
        task: &[TASK],
        list: &[Lit("null")],
        push: &[PUSH],
        pushes: &[Lit("["), Each(List::Pushes, &[PUSH]), Lit("]")],
        snapshot: Some(&[TASK]),
        status_event: &[
            Member("{\"kind\":\"status-update\",\"taskId\":", F::TaskId),
            Member(",\"contextId\":", F::ContextId),
            Lit(",\"status\":"),
            STATUS,
            FINAL,
        ],
        artifact_event: &[
            Member("{\"kind\":\"artifact-update\",\"taskId\":", F::TaskId),
            Member(",\"contextId\":", F::ContextId),
            Lit(",\"artifact\":"),
            CHUNK,
            Lit("}"),
            CHUNK_FLAGS,
            Lit("}"),
        ],
        reply_event: &[MESSAGE],
        message: &[MESSAGE],
        artifact_head: ARTIFACT_BY_ID,
        part: PART,
        error_data: &[],
    },
};

/// How it is asked.
pub(super) static ASKING: Asking = Asking {
    dialect: &DIALECT,
    version: "0.3",
    say: &[
        Word::Member("{\"message\":{\"kind\":\"message\",\"messageId\":", About::Message),
        Word::Member(",\"taskId\":", About::Task),
        Word::Member(",\"contextId\":", About::Context),
        Word::Lit(",\"role\":\"user\",\"parts\":["),
        Word::Parts { text: "{\"kind\":\"text\",\"text\":", data: "{\"kind\":\"data\",\"data\":", takes_any: false },
        Word::Lit("]}"),
        // Early servers want the modes wherever there is a configuration.
        Word::AtOnce(",\"configuration\":{\"acceptedOutputModes\":[],\"blocking\":false}"),
        Word::Lit("}"),
    ],
    task: &[Word::Member("{\"id\":", About::Task), Word::Lit("}")],
    list: &[],
    wrappers: &[],
    kinds: &[
        ("task", Sort::Task),
        ("message", Sort::Message),
        ("status-update", Sort::Status),
        ("artifact-update", Sort::Artifact),
    ],
    context: "contextId",
    event_task: "taskId",
    artifact: "artifactId",
    part: tagged_part,
};

const fn said(code: i32, name: &'static str) -> Said {
    Said { code, name, reason: "" }
}

const TASK: Op =
    Op::Nest(&[Member("{\"kind\":\"task\",\"id\":", F::TaskId), Member(",\"contextId\":", F::ContextId), TASK_REST]);

const MESSAGE: Op = Op::Nest(&[Lit("{\"kind\":\"message\","), MESSAGE_REST]);

const PUSH: Op = Op::Nest(&[
    Member("{\"taskId\":", F::TaskId),
    Member(",\"pushNotificationConfig\":{\"id\":", F::PushId),
    Lit(","),
    PUSH_REST,
]);

const PART: Ops = &[
    ByPart(&[
        &[Member("{\"kind\":\"text\",\"text\":", F::Content)],
        &[Member("{\"kind\":\"file\",\"file\":{\"bytes\":", F::Content), FILE_REST],
        &[Member("{\"kind\":\"file\",\"file\":{\"uri\":", F::Content), FILE_REST],
        &[Lit("{\"kind\":\"data\",\"data\":"), DATA_OBJECT],
    ]),
    PART_REST,
];

fn decode(method: Method, params: Json<'_>) -> Result<Call<'_>, Fault> {
    Ok(match method {
        Method::Send => Call::Send(send(params, None, &SENDING)?),
        Method::Stream => Call::Send(send(params, Some(Respond::Stream), &SENDING)?),
        Method::SetPush => {
            let [task, config] = members(params, ["taskId", "pushNotificationConfig"], "params")?;
            let task = required(name(task, "taskId")?, "taskId")?;
            let config = required(config, "pushNotificationConfig")?;
            Call::SetPush { task, config: push_config(config, Some(task), &CONFIG)? }
        }
        Method::GetPush | Method::ListPush | Method::DeletePush => {
            let [task, id] = members(params, ["id", "pushNotificationConfigId"], "params")?;
            let task = required(name(task, "id")?, "id")?;
            let id = name(id, "pushNotificationConfigId")?;
            match method {
                Method::ListPush => Call::ListPush { task },
                Method::GetPush => Call::GetPush { task, id },
                _ => Call::DeletePush { task, id: required(id, "pushNotificationConfigId")? },
            }
        }
        Method::ExtendedCard => Call::ExtendedCard,
        _ => super::task_call(method, params, History::All)?,
    })
}

static SENDING: Sending = Sending {
    roles: &LOWER_ROLES,
    roles_why: "must be user or agent",
    part: tagged_part,
    wait: ("blocking", "configuration.blocking"),
    // The text leaves it open: wait, unless the agent says that it takes long.
    unset: Respond::SettledOrSlow,
    no: Respond::Now,
    yes: Respond::Settled,
    push: (
        "pushNotificationConfig",
        &push_fields!("configuration.pushNotificationConfig", "configuration.pushNotificationConfig.", "schemes"),
    ),
};

static CONFIG: PushFields = push_fields!("pushNotificationConfig", "pushNotificationConfig.", "schemes");
