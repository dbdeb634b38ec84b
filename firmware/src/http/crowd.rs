//! Who is being served, by address: nobody is to have all connections.

use core::cell::Cell;

use picoserve::Timer;
use protocol_core::door::Address;

use super::limits::Limits;

/// The addresses of the connections that are being served, one place for each.
///
/// ```
/// # use core::cell::Cell;
/// # use firmware::http::Crowd;
/// let places = [const { Cell::new(None) }; 6];
/// let crowd = Crowd::new(&places);
/// ```
pub struct Crowd<'s> {
    places: &'s [Cell<Option<Address>>],
}

impl<'s> Crowd<'s> {
    /// Nobody is there yet. There have to be as many places as connections.
    #[must_use]
    pub const fn new(places: &'s [Cell<Option<Address>>]) -> Self {
        Self { places }
    }

    /// Takes a place for a client. One that has just hung up may have left a place that nobody has noticed yet, so this
    /// waits a moment before there is none.
    pub(super) async fn enter<Runtime>(
        &self,
        address: Address,
        limits: &Limits,
        timer: &impl Timer<Runtime>,
    ) -> Option<Place<'_>> {
        let place = self.try_enter(address, limits.connections_per_address);
        if place.is_some() {
            return place;
        }
        timer.delay(limits.patience).await;
        self.try_enter(address, limits.connections_per_address)
    }

    fn try_enter(&self, address: Address, most: usize) -> Option<Place<'_>> {
        let address = address.household();
        let same = self.places.iter().filter(|place| place.get() == Some(address));
        let of_same = same.fold(0, |count, _| usize::saturating_add(count, 1));
        let place = self.places.iter().find(|place| place.get().is_none()).filter(|_| of_same < most)?;
        place.set(Some(address));
        Some(Place(place))
    }
}

/// A place in the crowd, until this is dropped.
pub(super) struct Place<'c>(&'c Cell<Option<Address>>);

impl Place<'_> {
    /// Whose it is: the address of a household.
    pub(super) fn address(&self) -> Address {
        self.0.get().unwrap_or_default()
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        self.0.set(None);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_has_so_many_places_and_others_have_the_rest() {
        let places = [const { Cell::new(None) }; 4];
        let crowd = Crowd::new(&places);
        let [here, there] = [1, 2].map(|last| Address::v4([10, 0, 0, last]));
        let first = crowd.try_enter(here, 2);
        assert_eq!(first.as_ref().map(Place::address), Some(here));
        let second = crowd.try_enter(here, 2);
        assert!(first.is_some() && second.is_some() && crowd.try_enter(here, 2).is_none());
        let others = [(); 2].map(|()| crowd.try_enter(there, 2));
        assert!(others.iter().all(Option::is_some) && crowd.try_enter(Address::v4([10, 0, 0, 3]), 2).is_none());
        drop(first);
        assert!(crowd.try_enter(there, 2).is_none());
        assert!(crowd.try_enter(here, 2).is_some());
    }

    #[test]
    fn all_of_a_household_counts_as_one() {
        let places = [const { Cell::new(None) }; 4];
        let crowd = Crowd::new(&places);
        let v6 = |network, host| Address([0x20, 1, 0xd, 0xb8, 0, 0, 0, network, 0, 0, 0, 0, 0, 0, 0, host]);
        let _place = crowd.try_enter(v6(1, 1), 1);
        assert!(crowd.try_enter(v6(1, 2), 1).is_none());
        assert!(crowd.try_enter(v6(2, 1), 1).is_some());
    }
}
