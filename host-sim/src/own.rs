//! An agent of one's own, in the place of those that are shipped.

use std::process::ExitCode;

use protocol_core::{Agent, Node, Profile, Skilled};

use crate::{board::SimBoard, program, sim::employ};

/// An agent of one's own.
pub struct Own {
    pub(crate) profile: Profile<'static>,
    pub(crate) employ: Box<dyn FnOnce(&'static Node<'static>, &'static SimBoard)>,
}

impl Own {
    /// An agent that says this about itself, made of the simulated board.
    pub fn new<A: Agent + 'static>(
        profile: Profile<'static>,
        make: impl FnOnce(&'static SimBoard) -> A + 'static,
    ) -> Self {
        Self { profile, employ: Box::new(|node, board| employ(node, Box::leak(Box::new(make(board))))) }
    }
}

/// Runs an agent that is made of skills as a program of its own: the command line, the door and the network are host-sim's.
/// For an [`Agent`] of another kind: [`program`] with [`Own::new`].
///
/// ```no_run
/// use protocol_core::{Done, Profile, Request, Skilled, Stopped, TaskCx};
///
/// struct Greeter;
///
/// impl Skilled for Greeter {
///     const PROFILE: Profile<'static> = Profile { name: "Greeter", ..Profile::PLAIN };
///
///     async fn perform(&self, _: &Request, task: &mut TaskCx<'_, '_>) -> Result<Done, Stopped> {
///         task.complete(format_args!("hello"))
///     }
/// }
///
/// fn main() -> std::process::ExitCode {
///     host_sim::serve(|_board| Greeter)
/// }
/// ```
pub fn serve<S: Skilled + 'static>(make: impl FnOnce(&'static SimBoard) -> S + 'static) -> ExitCode {
    program(Some(Own::new(S::PROFILE, make)))
}
