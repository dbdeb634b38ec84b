//! How the bytes of an input become requests. A conversation is requests with [`BETWEEN`] between them: no byte of UTF-8.

use mote_tests::corpus::Request;

/// Stands between the requests of a conversation.
pub const BETWEEN: u8 = 0xff;

const HAS_VERSION: u8 = 1;
const HAS_LAST_EVENT_ID: u8 = 2;
const PAUSES: u8 = 4;
const HANGS_UP: u8 = 8;
const NARROW: u8 = 16;
/// The number of the caller stands in the bits from here on.
const CALLER_AT: u32 = 5;

/// One request of a conversation.
#[derive(Debug)]
pub struct Sent<'a> {
    pub version: Option<&'a str>,
    pub last_event_id: Option<&'a str>,
    pub body: &'a [u8],
    /// Who calls, see `World::caller`.
    pub caller: u8,
    /// Milliseconds that pass behind it.
    pub pause: u64,
    /// The client goes away before the answer has ended.
    pub hangs_up: bool,
    /// Bytes that the client takes at a time.
    pub window: usize,
}

impl<'a> Sent<'a> {
    /// Reads a request: a byte of flags, a line for each header that they promise, the body.
    pub fn parse(bytes: &'a [u8]) -> Option<Self> {
        let (flags, mut rest) = bytes.split_first()?;
        let mut line = |flag| {
            if flags & flag == 0 {
                return None;
            }
            let end = rest.iter().position(|byte| *byte == b'\n')?;
            let (line, behind) = rest.split_at(end);
            rest = &behind[1..];
            // A header that is no text does not get past the edge.
            str::from_utf8(line).ok()
        };
        let (version, last_event_id) = (line(HAS_VERSION), line(HAS_LAST_EVENT_ID));
        Some(Self {
            version,
            last_event_id,
            body: rest,
            caller: flags >> CALLER_AT,
            pause: if flags & PAUSES == 0 { 0 } else { 2000 },
            hangs_up: flags & HANGS_UP != 0,
            window: if flags & NARROW == 0 { 512 } else { 7 },
        })
    }

    /// Where the body of the request begins.
    pub fn body_at(bytes: &'a [u8]) -> usize {
        Self::parse(bytes).map_or(bytes.len(), |sent| bytes.len() - sent.body.len())
    }
}

/// Writes a request as [`Sent::parse`] reads it.
pub fn write(request: &Request) -> Vec<u8> {
    let flag = |flag, is_set: bool| if is_set { flag } else { 0 };
    let mut bytes = vec![
        flag(HAS_VERSION, request.version.is_some())
            | flag(HAS_LAST_EVENT_ID, request.last_event_id.is_some())
            | flag(PAUSES, request.pause > 0),
    ];
    for line in [&request.version, &request.last_event_id].into_iter().flatten() {
        bytes.extend_from_slice(line.as_bytes());
        bytes.push(b'\n');
    }
    bytes.extend_from_slice(request.body.as_bytes());
    bytes
}

/// Every method of every dialect, as (what `A2A-Version` says, the method's name).
pub const METHODS: &[(Option<&str>, &str)] = &[
    (None, "tasks/send"),
    (None, "tasks/sendSubscribe"),
    (None, "tasks/get"),
    (None, "tasks/cancel"),
    (None, "tasks/resubscribe"),
    (None, "tasks/pushNotification/set"),
    (None, "tasks/pushNotification/get"),
    (Some("0.3"), "message/send"),
    (Some("0.3"), "message/stream"),
    (Some("0.3"), "tasks/get"),
    (Some("0.3"), "tasks/cancel"),
    (Some("0.3"), "tasks/resubscribe"),
    (Some("0.3"), "tasks/pushNotificationConfig/set"),
    (Some("0.3"), "tasks/pushNotificationConfig/get"),
    (Some("0.3"), "tasks/pushNotificationConfig/list"),
    (Some("0.3"), "tasks/pushNotificationConfig/delete"),
    (Some("0.3"), "agent/getAuthenticatedExtendedCard"),
    (Some("1.0"), "SendMessage"),
    (Some("1.0"), "SendStreamingMessage"),
    (Some("1.0"), "GetTask"),
    (Some("1.0"), "ListTasks"),
    (Some("1.0"), "CancelTask"),
    (Some("1.0"), "SubscribeToTask"),
    (Some("1.0"), "CreateTaskPushNotificationConfig"),
    (Some("1.0"), "GetTaskPushNotificationConfig"),
    (Some("1.0"), "ListTaskPushNotificationConfigs"),
    (Some("1.0"), "DeleteTaskPushNotificationConfig"),
    (Some("1.0"), "GetExtendedAgentCard"),
    (Some("0.1"), "tasks/get"),
    (Some("0.1"), "tasks/resubscribe"),
];
