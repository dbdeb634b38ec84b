//! Workers: they take tasks from the queue and let an agent run.

use core::{future::poll_fn, pin::pin, task::Poll};

use super::{Agent, Done, Stopped, TaskCx};
use crate::{
    engine::{Piece, Refused, TaskKey},
    model::TaskState,
    node::Node,
};

impl Node<'_> {
    /// Works on tasks, one at a time, as worker number `worker`. Start as many as the storage has.
    pub async fn work<A: Agent>(&self, worker: usize, agent: &A) -> ! {
        loop {
            let key = poll_fn(|cx| match self.engine().poll_job(worker, cx.waker()) {
                Some(key) => Poll::Ready(key),
                None => Poll::Pending,
            })
            .await;
            let mut done = self.run(worker, key, agent).await;
            // What the client said meanwhile belongs to the task as well.
            while done == Ok(Done::Completed) && self.engine().take_new_message(worker, key) {
                done = self.run(worker, key, agent).await;
            }
            let mut engine = self.engine();
            let now = self.now();
            // Whatever was told last stands; a run that ends without a word still ends its task.
            let _ = match done {
                Ok(Done::Completed) => engine.record_status(now, key, TaskState::Completed, &[]),
                Ok(Done::Told) | Err(Stopped) if !engine.may_go_on(worker, key) => Err(Refused::Over),
                Ok(Done::Told) | Err(Stopped) => {
                    let reason = [Piece::Text(format_args!("the agent left without an end"))];
                    engine.record_status(now, key, TaskState::Failed, &reason)
                }
            };
            engine.handle_worker_done(now, worker, key);
        }
    }

    async fn run<A: Agent>(&self, worker: usize, key: TaskKey, agent: &A) -> Result<Done, Stopped> {
        let mut task = TaskCx::new(self, key, worker);
        let mut run = pin!(agent.run(&mut task));
        let mut waited = false;
        poll_fn(|cx| {
            if !self.engine().may_go_on(worker, key) {
                return Poll::Ready(Err(Stopped));
            }
            self.engine().wait_as_worker(worker, cx.waker());
            let poll = run.as_mut().poll(cx);
            if poll.is_pending() && !core::mem::replace(&mut waited, true) {
                // A run that waits is a task: whoever asked may be told.
                self.engine().commit(key);
            }
            poll
        })
        .await
    }
}
