//! The one inside language: what a dialect decodes to and encodes from.

mod call;
mod fault;
mod profile;
mod state;

pub(crate) use call::{
    Call, Content, Filter, History, Message, Part, Parts, PushConfig, PushFields, Respond, SendCall, TaskName,
};
pub(crate) use fault::Fault;
pub use fault::FaultKind;
pub use profile::{Access, Profile, Provider, Skill};
pub(crate) use state::TaskState;
