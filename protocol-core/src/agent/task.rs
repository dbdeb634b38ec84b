//! What an agent does to its task.

use core::{fmt, future::poll_fn, task::Poll};

use super::{Artifact, Done, SkillText, Stopped, asked::text_of};
use crate::{
    engine::{Piece, Refused, TaskKey},
    model::TaskState,
    node::Node,
    time::{Millis, UnixMillis},
};

/// A task as its agent sees it.
pub struct TaskCx<'n, 's> {
    pub(super) node: &'n Node<'s>,
    pub(super) key: TaskKey,
    worker: usize,
    pub(super) text: Option<SkillText>,
}

impl<'n, 's> TaskCx<'n, 's> {
    pub(super) fn new(node: &'n Node<'s>, key: TaskKey, worker: usize) -> Self {
        let message = node.engine().run_message(key);
        let text = message.and_then(|message| text_of(node, key, message));
        Self { node, key, worker, text }
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
    pub async fn working(&mut self) -> Result<(), Stopped> {
        self.status(TaskState::Working, &[])?;
        self.yield_now().await
    }

    /// Moves the task to working and says what is going on.
    ///
    /// # Errors
    /// If the task is no longer ours.
    pub async fn progress(&mut self, text: fmt::Arguments<'_>) -> Result<(), Stopped> {
        self.status(TaskState::Working, &[Piece::Text(text)])?;
        self.yield_now().await
    }

    /// An artifact to add to, by its name.
    pub fn artifact<'t>(&'t mut self, name: &'t str) -> Artifact<'t, 'n, 's> {
        Artifact::new(self, name)
    }

    /// Waits. The task is working from now on, if it was not.
    ///
    /// # Errors
    /// If the task is no longer ours.
    pub async fn sleep(&mut self, span: Millis) -> Result<(), Stopped> {
        if self.state() == Some(TaskState::Submitted) {
            self.status(TaskState::Working, &[])?;
        }
        let until = self.now().after(span);
        if span > Millis(0) {
            self.node.engine().wait_until(self.worker, until);
        }
        let mut first = true;
        poll_fn(|cx| {
            // Even a sleep of no time lets others run.
            if !core::mem::take(&mut first) && self.node.now() >= until {
                return Poll::Ready(());
            }
            if self.node.now() >= until {
                cx.waker().wake_by_ref();
            } else {
                self.node.engine().wait_until(self.worker, until);
            }
            Poll::Pending
        })
        .await;
        self.check()
    }

    /// Asks the client for input; its answer starts another run.
    ///
    /// # Errors
    /// If the task is no longer ours.
    pub fn ask(&mut self, text: fmt::Arguments<'_>) -> Result<Done, Stopped> {
        self.status(TaskState::InputRequired, &[Piece::Text(text)]).map(|()| Done::Told)
    }

    /// Asks the client for credentials; what it sends next starts another run.
    ///
    /// # Errors
    /// If the task is no longer ours.
    pub fn ask_for_credentials(&mut self, text: fmt::Arguments<'_>) -> Result<Done, Stopped> {
        self.status(TaskState::AuthRequired, &[Piece::Text(text)]).map(|()| Done::Told)
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

    /// Lets others run: readers get to see what was written.
    pub(super) async fn yield_now(&mut self) -> Result<(), Stopped> {
        let mut yielded = false;
        poll_fn(|cx| {
            if core::mem::replace(&mut yielded, true) {
                return Poll::Ready(());
            }
            cx.waker().wake_by_ref();
            Poll::Pending
        })
        .await;
        self.check()
    }
}
