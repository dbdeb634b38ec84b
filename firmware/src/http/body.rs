//! Where a request's body is kept while it is decoded.
//!
//! A body that fits behind its head in the connection's buffer stays there. Larger ones share a few large buffers: on a
//! device there is no room for one of that size per connection, and nobody needs it for longer than one call to the core.

use core::{
    cell::{Cell, RefCell, RefMut},
    future::{pending, poll_fn},
    ops::Deref,
    task::{Poll, Waker},
};

use picoserve::{
    Timer,
    io::{ErrorKind, Read},
    request::{ReadAllBodyError, RequestBody},
};

use super::{
    limits::Limits,
    service::Refusal,
    traffic::{Gauge, Seat},
};

/// The large buffers that all connections share.
///
/// ```
/// # use core::cell::RefCell;
/// # use firmware::http::Bodies;
/// let mut rooms = [[0; 8192]; 2];
/// let shelf = rooms.each_mut().map(|room| RefCell::new(&mut room[..]));
/// let bodies = Bodies::new(&shelf);
/// assert_eq!(bodies.largest_bytes(), 8192);
/// ```
pub struct Bodies<'s> {
    shelf: &'s [RefCell<&'s mut [u8]>],
    largest_bytes: usize,
    waiting: [Cell<Option<Waker>>; WAITING],
}

/// Connections that may wait for a buffer at the same time; the next one is told at once that we are busy.
const WAITING: usize = 8;

impl<'s> Bodies<'s> {
    /// Shares these buffers.
    #[must_use]
    pub fn new(shelf: &'s [RefCell<&'s mut [u8]>]) -> Self {
        let largest_bytes = shelf.iter().map(|room| room.try_borrow().map_or(0, |room| room.len())).min().unwrap_or(0);
        Self { shelf, largest_bytes, waiting: [const { Cell::new(None) }; WAITING] }
    }

    /// The largest body that fits, whichever buffer it gets.
    #[must_use]
    pub const fn largest_bytes(&self) -> usize {
        self.largest_bytes
    }

    /// Waits for a buffer; nothing if too many wait already.
    async fn lease(&self) -> Option<Lease<'_, 's>> {
        let mut place = None;
        poll_fn(|cx| {
            if let Some(room) = self.shelf.iter().find_map(|room| room.try_borrow_mut().ok()) {
                return Poll::Ready(Some(Lease { room, bodies: self }));
            }
            if place.is_none() {
                place = self.waiting.iter().find_map(Place::take);
            }
            match &place {
                Some(Place(seat)) => {
                    seat.set(Some(cx.waker().clone()));
                    Poll::Pending
                }
                None => Poll::Ready(None),
            }
        })
        .await
    }

    fn wake(&self) {
        for seat in &self.waiting {
            // The waker stays: its owner may lose the race and wait on.
            if let Some(waker) = seat.take() {
                waker.wake_by_ref();
                seat.set(Some(waker));
            }
        }
    }
}

/// A seat in the waiting room, given back when its owner gets a buffer or gives up.
struct Place<'a>(&'a Cell<Option<Waker>>);

impl<'a> Place<'a> {
    fn take(seat: &'a Cell<Option<Waker>>) -> Option<Self> {
        match seat.take() {
            None => Some(Self(seat)),
            taken => {
                seat.set(taken);
                None
            }
        }
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        self.0.set(None);
    }
}

/// One of the shared buffers, for as long as this lives.
pub(super) struct Lease<'a, 's> {
    room: RefMut<'a, &'s mut [u8]>,
    bodies: &'a Bodies<'s>,
}

impl Drop for Lease<'_, '_> {
    fn drop(&mut self) {
        // Whoever is woken runs later, when `room` is free.
        self.bodies.wake();
    }
}

/// A whole body.
pub(super) enum Body<'r, 's> {
    Here(&'r [u8]),
    Leased { lease: Lease<'r, 's>, bytes: usize, _seat: Seat<'r> },
}

impl Deref for Body<'_, '_> {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Self::Here(bytes) => bytes,
            Self::Leased { lease, bytes, .. } => lease.room.get(..*bytes).unwrap_or_default(),
        }
    }
}

impl<'r, 's> Body<'r, 's> {
    /// Reads all of a body. `proceed` runs when there is room for it, just before the client has to send it.
    pub(super) async fn receive<Runtime, R: Read>(
        body: RequestBody<'r, R>,
        bodies: &'r Bodies<'s>,
        gauge: &'r Gauge,
        limits: &Limits,
        timer: &impl Timer<Runtime>,
        proceed: impl AsyncFnOnce(),
    ) -> Result<Self, Refusal> {
        let bytes = body.content_length();
        if body.entire_body_fits_into_buffer() {
            proceed().await;
            return match body.read_all().await {
                Ok(body) => Ok(Self::Here(body)),
                Err(ReadAllBodyError::IO(ErrorKind::TimedOut)) => Err(Refusal::BodySlow),
                Err(_) => Err(Refusal::BodyEnded),
            };
        }
        if bytes > bodies.largest_bytes {
            return Err(Refusal::BodyTooLarge { limit_bytes: bodies.largest_bytes });
        }
        let lease = timer.run_with_timeout(limits.lease, bodies.lease()).await;
        let Ok(Some(mut lease)) = lease else { return Err(Refusal::Busy) };
        let seat = gauge.take();
        proceed().await;
        // picoserve's own deadline is the head's; this body has one of its own.
        let mut reader = body.reader().with_different_timeout_signal(pending::<()>());
        let room = lease.room.get_mut(..bytes).unwrap_or_default();
        match timer.run_with_timeout(limits.body, reader.read_exact(room)).await {
            Ok(Ok(())) => Ok(Self::Leased { lease, bytes, _seat: seat }),
            Ok(Err(_)) => Err(Refusal::BodyEnded),
            Err(_) => Err(Refusal::BodySlow),
        }
    }
}

#[cfg(test)]
mod tests {
    extern crate std;

    use core::{
        cell::RefCell,
        pin::pin,
        sync::atomic::{AtomicU32, Ordering},
        task::{Context, Poll, Waker},
    };
    use std::{sync::Arc, task::Wake, vec::Vec};

    use super::{Bodies, WAITING};

    #[derive(Default)]
    struct Wakes(AtomicU32);

    impl Wake for Wakes {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    #[test]
    fn a_waiter_is_woken_by_the_lease_that_ends() {
        let mut rooms = [[0; 4]; 2];
        let shelf = rooms.each_mut().map(|room| RefCell::new(&mut room[..]));
        let bodies = Bodies::new(&shelf);
        let wakes = Arc::new(Wakes::default());
        let waker = Waker::from(wakes.clone());
        let mut cx = Context::from_waker(&waker);

        let Poll::Ready(Some(first)) = pin!(bodies.lease()).poll(&mut cx) else { panic!("no lease") };
        let Poll::Ready(Some(_second)) = pin!(bodies.lease()).poll(&mut cx) else { panic!("no lease") };
        let mut third = pin!(bodies.lease());
        assert!(third.as_mut().poll(&mut cx).is_pending());
        assert_eq!(wakes.0.load(Ordering::Relaxed), 0);
        drop(first);
        assert_eq!(wakes.0.load(Ordering::Relaxed), 1);
        assert!(matches!(third.poll(&mut cx), Poll::Ready(Some(_))));
    }

    #[test]
    fn the_waiting_room_has_a_size_and_seats_come_free() {
        let mut room = [0; 4];
        let shelf = [RefCell::new(&mut room[..])];
        let bodies = Bodies::new(&shelf);
        let mut cx = Context::from_waker(Waker::noop());

        let Poll::Ready(Some(_lease)) = pin!(bodies.lease()).poll(&mut cx) else { panic!("no lease") };
        let mut queue: Vec<_> = (0..WAITING).map(|_| std::boxed::Box::pin(bodies.lease())).collect();
        assert!(queue.iter_mut().all(|waiter| waiter.as_mut().poll(&mut cx).is_pending()));
        assert!(matches!(pin!(bodies.lease()).poll(&mut cx), Poll::Ready(None)));
        queue.pop();
        assert!(pin!(bodies.lease()).poll(&mut cx).is_pending());
    }
}
