//! The one inside language: what a dialect decodes to and encodes from.

mod argument;
mod call;
mod fault;
mod profile;
mod state;

pub use argument::{Argument, Outside};
pub(crate) use argument::{Arguments, Takes, Unsaid, whole};
pub(crate) use call::{
    Call, Content, Filter, History, Message, Part, Parts, PushConfig, PushFields, Respond, SendCall, TaskName,
};
pub(crate) use fault::Fault;
pub use fault::FaultKind;
pub use profile::{Access, Profile, Provider, Skill};
pub(crate) use state::TaskState;
