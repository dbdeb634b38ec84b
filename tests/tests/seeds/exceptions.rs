//! What the examples show and we don't send, with the reason.

/// A member of one file that nothing of ours has.
#[derive(Debug)]
pub(crate) struct Exception {
    file: &'static str,
    /// This member and everything below it; with a type, only that one; empty for the whole file.
    path: &'static str,
    #[expect(dead_code, reason = "for people, and for the message of a failure")]
    reason: &'static str,
}

impl Exception {
    pub(crate) fn covers(&self, file: &str, path: &str) -> bool {
        let below = path.strip_prefix(self.path);
        let is_below = |below: &str| self.path.is_empty() || below.is_empty() || below.starts_with([':', '.', '[']);
        self.file == file && below.is_some_and(is_below)
    }
}

const fn left_out(file: &'static str, path: &'static str, reason: &'static str) -> Exception {
    Exception { file, path, reason }
}

const NO_METADATA: &str =
    "agents of ours put no metadata on tasks, artifacts, parts or messages; empty ones are left out";
const FREE_TEXT: &str = "credentials are any text: whatever stands there goes into the header as it is";
const WHOLE_TASK: &str = "what a notification says is the server's choice in this document; ours is the whole task";
const NUMBER: &str = "the document writes the task's id as a number; the schema and the request say string";
const NO_AUTH: &str = "authentication comes with its own issue";
const NO_MODES: &str = "media types are those of the whole agent; skills have none of their own";
const NOT_A2A: &str = "not A2A";
const WRAPPED: &str = "data is an object in the schema of this version; an array goes out as the value of one";
const REQUEST_ID: &str = "the document's request has no id; it is answered under null";

/// All of them.
pub(crate) const EXCEPTIONS: &[Exception] = &[
    left_out("001/003-send-with-push-response", "result.metadata", NO_METADATA),
    left_out("001/006-card", "authentication", NO_AUTH),
    left_out("001/006-card", "skills[].outputModes", NO_MODES),
    left_out("001/008-send-response", "result.metadata", NO_METADATA),
    left_out("001/010-get-response", "result.metadata", NO_METADATA),
    left_out("001/012-cancel-response", "result.id: number", NUMBER),
    left_out("001/012-cancel-response", "result.metadata", NO_METADATA),
    left_out("001/018-turn-1-response", "result.metadata", NO_METADATA),
    left_out("001/020-turn-2-response", "result.artifacts[].metadata", NO_METADATA),
    left_out("001/020-turn-2-response", "result.id: number", NUMBER),
    left_out("001/020-turn-2-response", "result.metadata", NO_METADATA),
    left_out("001/022-send-subscribe-stream", "id: number", REQUEST_ID),
    left_out("001/022-send-subscribe-stream", "result.id: number", NUMBER),
    left_out("001/024-resubscribe-stream", "id: number", REQUEST_ID),
    left_out("001/024-resubscribe-stream", "result.id: number", NUMBER),
    left_out("001/026-send-pdf-response", "result.metadata", NO_METADATA),
    left_out("001/026-send-pdf-response", "result.status.message.metadata", NO_METADATA),
    left_out("001/028-get-pdf-response", "result.artifacts[].metadata", NO_METADATA),
    left_out("001/028-get-pdf-response", "result.metadata", NO_METADATA),
    left_out("001/031-packer-config", "", NOT_A2A),
    left_out("002/007-card", "authentication", NO_AUTH),
    left_out("002/007-card", "skills[].inputModes", NO_MODES),
    left_out("002/007-card", "skills[].outputModes", NO_MODES),
    left_out("002/008-push-credentials", "", FREE_TEXT),
    left_out("002/020-webhook", "", WHOLE_TASK),
    left_out("002/026-send-schema-response", "result.artifacts[].parts[].data", WRAPPED),
    left_out("002/026-send-schema-response", "result.artifacts[].parts[].metadata", NO_METADATA),
    left_out("004/001-card", "authentication", NO_AUTH),
    left_out("004/001-card", "skills[].outputModes", NO_MODES),
    left_out("004/003-send-response", "result.metadata", NO_METADATA),
    left_out("004/005-get-response", "result.metadata", NO_METADATA),
    left_out("004/007-cancel-response", "result.metadata", NO_METADATA),
    left_out("004/013-turn-1-response", "result.metadata", NO_METADATA),
    left_out("004/015-turn-2-response", "result.artifacts[].metadata", NO_METADATA),
    left_out("004/015-turn-2-response", "result.metadata", NO_METADATA),
    left_out("004/017-send-subscribe-stream", "id: number", REQUEST_ID),
    left_out("004/017-send-subscribe-stream", "result.id: number", NUMBER),
    left_out("004/019-resubscribe-stream", "id: number", REQUEST_ID),
    left_out("004/021-send-pdf-response", "result.metadata", NO_METADATA),
    left_out("004/021-send-pdf-response", "result.status.message.metadata", NO_METADATA),
    left_out("004/023-get-pdf-response", "result.artifacts[].metadata", NO_METADATA),
    left_out("004/023-get-pdf-response", "result.metadata", NO_METADATA),
];
