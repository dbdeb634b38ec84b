//! Sizes that are part of a type everywhere. Capacities of tables are not here: they are parameters of `Storage`.

/// Longest task or context id in bytes. Ids that the server makes have 36; in one dialect the client names the task.
pub const ID_MAX: usize = 64;

/// Longest JSON-RPC `id` in bytes as it stands in the request, quotes included. It is kept while the answer goes out.
pub const RPC_ID_MAX: usize = 80;

/// Longest text or data part in bytes that a skill gets to read in one piece. Longer content is kept and sent on all the
/// same; only the skill's own view of it is limited, and it is told.
pub const SKILL_TEXT_MAX: usize = 256;

/// Bytes of one block of the log's pool, its link included.
pub const BLOCK_BYTES: usize = 64;

/// Longest `Host` that the card can reflect in bytes, port included. A configured URL may be of any length.
pub const HOST_MAX: usize = 128;

/// A stream that has nothing to say sends a comment this often: clients with a read timeout of 5 s stay connected.
pub const KEEPALIVE: crate::time::Millis = crate::time::Millis(3_500);

/// Longest URL of a webhook in bytes. It is kept with the task that it belongs to.
pub const URL_MAX: usize = 256;

/// Longest token, scheme or credentials of a webhook in bytes: what a sender has at hand while it calls.
pub const SECRET_MAX: usize = 512;
