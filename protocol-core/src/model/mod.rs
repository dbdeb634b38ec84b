//! The one inside language: what a dialect decodes to and encodes from.

mod argument;
mod call;
mod fault;
mod profile;
mod state;

pub use argument::{Argument, Outside};
pub(crate) use argument::{Arguments, Takes, Unsaid, whole};
pub(crate) use call::{Call, Filter, History, Message, Parts, PushConfig, PushFields, Respond, SendCall, TaskName};
pub use call::{Content, Part};
pub(crate) use fault::Fault;
pub use fault::FaultKind;
pub use profile::{Access, Profile, Provider, Skill};
pub use state::TaskState;
