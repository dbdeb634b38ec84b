//! The one inside language: what a dialect decodes to and encodes from.

mod call;
mod fault;
mod profile;
mod state;

pub use call::{Call, Content, Filter, History, Message, Part, Parts, Respond, SendCall, TaskName};
pub use fault::{Fault, FaultKind};
pub use profile::{Access, Profile, Provider, Skill};
pub use state::TaskState;
