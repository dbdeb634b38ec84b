//! What the reading half, the writing half and the handler of one connection tell each other.
//!
//! picoserve stands between them and passes nothing along, so they share a few cells. All of them run in one task.

use core::{cell::Cell, future::poll_fn, pin::pin, task::Poll};

use super::gate::{Refused, Verdict};

/// The state of one connection that is nobody's alone.
#[derive(Debug, Default)]
pub(super) struct Flow {
    refused: Cell<Option<Refused>>,
    handled: Cell<u32>,
    last: Cell<bool>,
    answering: Cell<bool>,
    stopping: Cell<bool>,
    cut: Cell<bool>,
}

impl Flow {
    /// Takes note of a request that the gate refused.
    pub(super) fn refuse(&self, refused: Refused) {
        self.refused.set(Some(refused));
    }

    /// Counts a request that reaches the handler, and says what the gate thinks of it.
    pub(super) fn begin(&self) -> Option<Verdict> {
        let number = self.handled.get().wrapping_add(1);
        self.handled.set(number);
        self.refused.get().filter(|refused| refused.request == number).map(|refused| refused.verdict)
    }

    /// How many requests have reached the handler.
    pub(super) fn handled(&self) -> u32 {
        self.handled.get()
    }

    /// Makes the current answer the last one. From here on the reading half says that the client has hung up.
    pub(super) fn close(&self) {
        self.last.set(true);
    }

    /// Is the current answer the last one, or was the one before?
    pub(super) fn is_last(&self) -> bool {
        self.last.get()
    }

    /// Asks the answer to come to its end.
    pub(super) fn stop(&self) {
        self.stopping.set(true);
    }

    /// Is an answer on its way, from the first byte of its head to the last of its body?
    pub(super) fn is_answering(&self) -> bool {
        self.answering.get()
    }

    pub(super) fn set_answering(&self, answering: bool) {
        self.answering.set(answering);
    }

    /// Makes picoserve give the connection up: its next write fails, as a handler cannot make an error of its own.
    pub(super) fn cut(&self) {
        self.close();
        self.cut.set(true);
    }

    pub(super) fn is_cut(&self) -> bool {
        self.cut.get()
    }

    /// Waits for `future`, but not beyond the call to stop: then there is nothing.
    ///
    /// picoserve polls the handler again right after the call to stop came in, so no waker is kept.
    pub(super) async fn unless_stopped<F: Future>(&self, future: F) -> Option<F::Output> {
        let mut future = pin!(future);
        poll_fn(|cx| match future.as_mut().poll(cx) {
            Poll::Ready(output) => Poll::Ready(Some(output)),
            Poll::Pending if self.stopping.get() => Poll::Ready(None),
            Poll::Pending => Poll::Pending,
        })
        .await
    }
}
