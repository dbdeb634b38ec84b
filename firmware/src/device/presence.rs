//! Where the device is in the network, for everybody who waits for that.
//!
//! embassy-net remembers one who waits for its configuration, and no more: a second one wakes the first, who waits again
//! and wakes the second, and nobody sleeps any more. So one task asks it, and tells all others here.

use embassy_sync::{
    blocking_mutex::raw::NoopRawMutex,
    watch::{Receiver, Watch},
};

use super::post::SENDERS;
use crate::mdns::Place;

/// Who asks for the time, who answers to the name, and those who send.
const LISTENERS: usize = 2 + SENDERS;

/// Where the device is, if it is anywhere.
pub(crate) struct Presence(Watch<NoopRawMutex, Option<Place>, LISTENERS>);

/// Hears of each change.
pub(super) type Listener<'p> = Receiver<'p, NoopRawMutex, Option<Place>, LISTENERS>;

impl Presence {
    pub(super) const fn new() -> Self {
        Self(Watch::new_with(None))
    }

    pub(super) fn set(&self, place: Option<Place>) {
        self.0.sender().send(place);
    }

    /// # Panics
    /// If there are more listeners than there are tasks that have a use for one.
    pub(super) fn listener(&self) -> Listener<'_> {
        self.0.receiver().expect("a place for each listener")
    }

    /// Waits until the device is somewhere.
    pub(super) async fn wait(&self) {
        self.listener().get_and(Option::is_some).await;
    }
}
