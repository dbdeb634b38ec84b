//! Writing an agent: all that a user of this crate implements or calls.
//!
//! ```
//! use protocol_core::{Agent, Done, Profile, Stopped, TaskCx};
//!
//! struct Thermometer;
//!
//! impl Agent for Thermometer {
//!     async fn run(&self, task: &mut TaskCx<'_, '_>) -> Result<Done, Stopped> {
//!         if task.text() != Some("read") {
//!             return task.reply(format_args!("say: read"));
//!         }
//!         task.artifact("temperature").text(format_args!("{} °C", 21)).await?;
//!         Ok(Done::Completed)
//!     }
//! }
//! ```

mod artifact;
mod asked;
mod request;
mod task;
mod work;

pub use artifact::{Artifact, Data};
pub use asked::{Reference, Said, SkillText};
pub use request::{Examples, Request, Skilled};
pub use task::{Pause, TaskCx};

/// Does the work of tasks.
pub trait Agent {
    /// Works on one task, from a message of the client to an end or a question.
    ///
    /// A question ends the run: the client's answer starts another one, which finds what was said before in the task.
    /// So nothing is held while a person thinks, and a task survives a restart in the middle of a conversation.
    ///
    /// # Cancellation
    /// When the client cancels the task the future is dropped where it waits. What must not stay on belongs into a
    /// guard whose `Drop` turns it off.
    #[expect(async_fn_in_trait, reason = "one executor, one thread: no future of ours is Send")]
    async fn run(&self, task: &mut TaskCx<'_, '_>) -> Result<Done, Stopped>;
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Done {
    /// The task is completed, and there is nothing more to say.
    Completed,
    /// The task has been told its end, or a question: see [`TaskCx::complete`], [`TaskCx::ask`] and the like.
    Told,
}

/// The task is no longer ours: leave quietly, with `?`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stopped;
