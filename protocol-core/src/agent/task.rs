//! What an agent does to its task.

use core::{
    fmt,
    pin::Pin,
    task::{Context, Poll},
};

use super::{Artifact, Done, SkillText, Stopped, asked::read_text};
use crate::{
    door::Owner,
    engine::{Piece, Refused, TaskKey},
    json::Json,
    model::{Access, TaskState},
    node::Node,
    time::{Millis, UnixMillis},
};

/// A task as its agent sees it.
pub struct TaskCx<'n, 's> {
    pub(super) node: &'n Node<'s>,
    pub(super) key: TaskKey,
    worker: usize,
    pub(super) text: SkillText,
    /// It is all of the text, not as much as fits.
    pub(super) is_whole: bool,
}

impl<'n, 's> TaskCx<'n, 's> {
    pub(super) fn new(node: &'n Node<'s>, key: TaskKey, worker: usize) -> Self {
        let mut task = Self { node, key, worker, text: SkillText::new(), is_whole: false };
        let message = node.engine().run_message(key);
        task.is_whole = message.is_some_and(|message| read_text(node, key, message, &mut task.text).is_some());
        task
    }

    /// Milliseconds since boot.
    pub fn now(&self) -> Millis {
        self.node.now()
    }

    /// The wall time, if it is known.
    pub fn wall_time(&self) -> Option<UnixMillis> {
        self.node.wall_time()
    }

    /// Says that this takes long: clients that left it to the agent get their answer now and come back for the rest.
    ///
    /// False if too many tasks do already. Then decline: some workers are kept free for what is quick.
    #[must_use]
    pub fn takes_long(&self) -> bool {
        self.node.engine().set_slow(self.key)
    }

    /// Moves the task to working.
    ///
    /// # Errors
    /// If the task is no longer ours.
    pub fn working(&mut self) -> Pause<'_, 'n, 's> {
        let told = self.status(TaskState::Working, &[]);
        self.pause(told)
    }

    /// Moves the task to working and says what is going on.
    ///
    /// # Errors
    /// If the task is no longer ours.
    pub fn progress(&mut self, text: fmt::Arguments<'_>) -> Pause<'_, 'n, 's> {
        let told = self.status(TaskState::Working, &[Piece::Text(text)]);
        self.pause(told)
    }

    /// An artifact to add to, by its name.
    pub fn artifact<'t>(&'t mut self, name: &'t str) -> Artifact<'t, 'n, 's> {
        Artifact::new(self, name)
    }

    /// Waits. The task is working from now on, if it was not.
    ///
    /// # Errors
    /// If the task is no longer ours.
    pub fn sleep(&mut self, span: Millis) -> Pause<'_, 'n, 's> {
        let is_new = self.state() == Some(TaskState::Submitted);
        let told = if is_new { self.status(TaskState::Working, &[]) } else { Ok(()) };
        Pause { until: self.now().after(span), ..self.pause(told) }
    }

    /// Asks the client for input; its answer starts another run.
    ///
    /// # Errors
    /// If the task is no longer ours.
    pub fn ask(&mut self, text: fmt::Arguments<'_>) -> Result<Done, Stopped> {
        self.status(TaskState::InputRequired, &[Piece::Text(text)]).map(|()| Done::Told)
    }

    /// Whether the task may do what needs this class: its client may, or has shown a credential of somebody who may. Only
    /// [`Access::Act`] can be lent.
    pub fn may(&self, access: Access) -> bool {
        let engine = self.node.engine();
        let Some(slot) = engine.slot(self.key) else { return false };
        // As it is now: who was revoked, or may less than before, may not go on with what it began.
        let door = self.node.door();
        let has = |owner| door.classes_of(owner).is_some_and(|classes| classes.has(access));
        has(slot.owner) || (access == Access::Act && slot.lender != Owner::GUEST && has(slot.lender))
    }

    /// Asks the client for credentials; what it sends next starts another run.
    ///
    /// Beside the text stands the structure that one dialect wants there and the others allow: which schemes will do, and
    /// how to send them. A token that comes back is never kept; [`TaskCx::may`] tells what it was good for.
    ///
    /// # Errors
    /// If the task is no longer ours.
    pub fn ask_for_credentials(&mut self, text: fmt::Arguments<'_>) -> Result<Done, Stopped> {
        let wanted = Piece::Data(Json::of_checked(CREDENTIALS_WANTED));
        self.status(TaskState::AuthRequired, &[Piece::Text(text), wanted]).map(|()| Done::Told)
    }

    /// Says what is missing to somebody who may not do what needs this class. What acts on the world asks for a credential
    /// that allows it; what changes the device itself does not: a model would pass the question on, and somebody would
    /// answer it.
    ///
    /// # Errors
    /// If the task is no longer ours.
    pub fn refuse(&mut self, access: Access) -> Result<Done, Stopped> {
        match access {
            Access::Operator => self.reject(format_args!("That is for operators of this device only.")),
            _ if self.was_asked_for_credentials() => self.ask_for_credentials(format_args!(
                "That credential does not allow it: the access class act is needed."
            )),
            _ => self.ask_for_credentials(format_args!("This needs a credential with the access class act.")),
        }
    }

    /// Ends the task well, with words.
    ///
    /// # Errors
    /// If the task is no longer ours.
    pub fn complete(&mut self, text: fmt::Arguments<'_>) -> Result<Done, Stopped> {
        self.complete_with(&[Piece::Text(text)])
    }

    /// As [`TaskCx::complete`], with parts of any kind.
    ///
    /// # Errors
    /// If the task is no longer ours.
    pub fn complete_with(&mut self, parts: &[Piece<'_>]) -> Result<Done, Stopped> {
        self.status(TaskState::Completed, parts).map(|()| Done::Told)
    }

    /// Ends the task as failed, with the reason.
    ///
    /// # Errors
    /// If the task is no longer ours.
    pub fn fail(&mut self, reason: fmt::Arguments<'_>) -> Result<Done, Stopped> {
        self.status(TaskState::Failed, &[Piece::Text(reason)]).map(|()| Done::Told)
    }

    /// Declines the task, with the reason.
    ///
    /// # Errors
    /// If the task is no longer ours.
    pub fn reject(&mut self, reason: fmt::Arguments<'_>) -> Result<Done, Stopped> {
        self.status(TaskState::Rejected, &[Piece::Text(reason)]).map(|()| Done::Told)
    }

    /// Answers with a message instead of a task; if it is too late for that, the task is completed with it.
    ///
    /// # Errors
    /// If the task is no longer ours.
    pub fn reply(&mut self, text: fmt::Arguments<'_>) -> Result<Done, Stopped> {
        self.reply_with(&[Piece::Text(text)])
    }

    /// As [`TaskCx::reply`], with parts of any kind.
    ///
    /// # Errors
    /// If the task is no longer ours.
    pub fn reply_with(&mut self, parts: &[Piece<'_>]) -> Result<Done, Stopped> {
        let told = self.node.engine().record_reply(self.now(), self.key, parts);
        match told {
            Ok(_) => Ok(Done::Told),
            Err(_) => self.status(TaskState::Completed, parts).map(|()| Done::Told),
        }
    }

    fn state(&self) -> Option<TaskState> {
        self.node.engine().slot(self.key).map(|slot| slot.state)
    }

    fn status(&mut self, state: TaskState, parts: &[Piece<'_>]) -> Result<(), Stopped> {
        let told = self.node.engine().record_status(self.now(), self.key, state, parts);
        self.told(told.map(|_| ()))
    }

    /// A task whose log is full cannot go on; its end always finds room.
    pub(super) fn told(&mut self, told: Result<(), Refused>) -> Result<(), Stopped> {
        if told == Err(Refused::Full) {
            let reason = [Piece::Text(format_args!("the task log is full"))];
            let _ = self.node.engine().record_status(self.now(), self.key, TaskState::Failed, &reason);
        }
        told.map_err(|_| Stopped)
    }

    fn check(&self) -> Result<(), Stopped> {
        if self.node.engine().may_go_on(self.worker, self.key) { Ok(()) } else { Err(Stopped) }
    }

    /// Lets others run.
    pub(super) fn pause(&self, told: Result<(), Stopped>) -> Pause<'_, 'n, 's> {
        Pause { task: self, told, until: Millis(0), is_begun: false }
    }
}

/// An authentication structure: schemes, and what is to be known about them.
const CREDENTIALS_WANTED: &str =
    r#"{"schemes":["Bearer"],"credentials":"Reply in this task with a data part whose member credential is a token"}"#;

/// Lets others run, for a moment or until a time: readers get to see what was written.
///
/// It holds no more than it needs: what was written may go while an agent waits here.
#[must_use = "what was written is written, but others want to run: await it"]
pub struct Pause<'t, 'n, 's> {
    task: &'t TaskCx<'n, 's>,
    told: Result<(), Stopped>,
    until: Millis,
    is_begun: bool,
}

impl Future for Pause<'_, '_, '_> {
    type Output = Result<(), Stopped>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let is_begun = core::mem::replace(&mut self.is_begun, true);
        let Self { task, told, until, .. } = *self;
        if told.is_err() {
            return Poll::Ready(told);
        }
        let is_due = until == Millis(0) || task.now() >= until;
        if is_due && is_begun {
            return Poll::Ready(task.check());
        }
        // Even a pause of no time lets others run.
        if is_due {
            cx.waker().wake_by_ref();
        } else {
            task.node.engine().wait_until(task.worker, until);
        }
        Poll::Pending
    }
}
