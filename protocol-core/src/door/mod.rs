//! The door: who asks, what they may do, and how often.
//!
//! A caller that names a token of somebody who is known here comes in as that principal, and what it does is counted
//! there. Everybody else is a stranger: counted by its address, shown the public card, and sent away. Where nobody is
//! known and the door was opened on purpose, strangers come in as one and the same guest.
#![deny(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::arithmetic_side_effects
)]

mod principal;
mod rate;

use self::rate::{Bucket, Empty};
pub use self::{
    principal::{Classes, Digest, NAME_MAX, Principal, TOKEN_MAX, TOKEN_MIN, Unfit},
    rate::Rate,
};
use crate::time::Millis;

/// What one caller may have of the device.
#[derive(Clone, Copy, Debug)]
pub struct Allowance {
    /// How often a principal may call.
    pub principal: Rate,
    /// How often strangers may come from one address; guests, too, where the door is open.
    pub address: Rate,
    /// What a wrong token costs, in permits of its address.
    pub failure_cost: u32,
    /// Tasks that a principal may have at a time, finished ones included; its oldest finished one goes for a new one.
    pub tasks: u32,
    /// Answers that a principal may be waiting for, or following, at a time.
    pub readers: u32,
    /// How long an answer is held back for a task that has not ended. The task as it is then is the answer.
    pub blocking: Millis,
}

impl Allowance {
    /// As much as there is.
    pub const UNLIMITED: Self = Self {
        principal: Rate::UNLIMITED,
        address: Rate::UNLIMITED,
        failure_cost: 1,
        tasks: u32::MAX,
        readers: u32::MAX,
        blocking: Millis(u64::MAX),
    };
}

/// The memory of a door: for `PRINCIPALS` that are known and `ADDRESSES` of strangers that are remembered. All zero when
/// new: a static one costs no flash.
pub struct DoorStorage<const PRINCIPALS: usize, const ADDRESSES: usize> {
    principals: [Principal; PRINCIPALS],
    visitors: [Visitor; ADDRESSES],
}

impl<const PRINCIPALS: usize, const ADDRESSES: usize> DoorStorage<PRINCIPALS, ADDRESSES> {
    /// Nobody is known.
    pub const fn new() -> Self {
        Self { principals: [const { Principal::NOBODY }; PRINCIPALS], visitors: [Visitor::NOBODY; ADDRESSES] }
    }
}

impl<const PRINCIPALS: usize, const ADDRESSES: usize> Default for DoorStorage<PRINCIPALS, ADDRESSES> {
    fn default() -> Self {
        Self::new()
    }
}

/// Where somebody comes from: an IPv6 address, or an IPv4 address mapped into one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Address(pub [u8; 16]);

impl Address {
    /// An IPv4 address.
    pub const fn v4([a, b, c, d]: [u8; 4]) -> Self {
        Self([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, a, b, c, d])
    }

    /// What counts as one address: all of an IPv6 network that one household has.
    #[must_use]
    pub const fn household(self) -> Self {
        match self.0 {
            [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, ..] => self,
            [a, b, c, d, e, f, g, h, ..] => Self([a, b, c, d, e, f, g, h, 0, 0, 0, 0, 0, 0, 0, 0]),
        }
    }
}

/// What a caller shows at the door.
#[derive(Clone, Copy)]
pub struct Credential<'a> {
    /// Whose token it is, where the scheme has a user name.
    pub name: Option<&'a [u8]>,
    /// The token.
    pub token: &'a [u8],
}

/// Who calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Caller {
    pub(crate) owner: Owner,
    pub(crate) classes: Classes,
}

impl Caller {
    /// Somebody unknown, where the door is open.
    pub const GUEST: Self = Self { owner: Owner::GUEST, classes: Classes::ALL };

    /// What it may do.
    pub const fn classes(&self) -> Classes {
        self.classes
    }
}

/// Whose task it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(crate) struct Owner {
    /// The principal's place, from 1.
    place: u8,
    generation: u8,
}

impl Owner {
    pub(crate) const GUEST: Self = Self { place: 0, generation: 0 };

    /// The first principal of a place, for tests.
    #[cfg(test)]
    pub(crate) const fn of(place: u8) -> Self {
        Self { place, generation: 0 }
    }
}

/// Why somebody is not let in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turned {
    /// It has no token, or a wrong one.
    Unknown,
    /// It came too often.
    TooOften {
        /// When it may come again.
        retry_after_secs: u16,
    },
}

impl From<Empty> for Turned {
    fn from(Empty { retry_after_secs }: Empty) -> Self {
        Self::TooOften { retry_after_secs }
    }
}

#[derive(Clone, Copy, Debug)]
struct Visitor {
    address: Address,
    bucket: Bucket,
}

impl Visitor {
    const NOBODY: Self = Self { address: Address([0; 16]), bucket: Bucket::FULL };
}

/// The door. See the module.
pub struct Door<'s> {
    principals: &'s mut [Principal],
    visitors: &'s mut [Visitor],
    /// For all who find no place among the visitors.
    crowd: Bucket,
    is_open: bool,
    allowance: Allowance,
    /// Counts the principals that were ever known.
    generation: u8,
}

impl<'s> Door<'s> {
    /// A door in the given memory. It is shut, and nobody is known.
    pub fn new<const PRINCIPALS: usize, const ADDRESSES: usize>(
        storage: &'s mut DoorStorage<PRINCIPALS, ADDRESSES>,
        allowance: Allowance,
    ) -> Self {
        let DoorStorage { principals, visitors } = storage;
        Self { principals, visitors, crowd: Bucket::FULL, is_open: false, allowance, generation: 0 }
    }

    /// A door for tests and benches: everybody comes in as the guest, as often as they like.
    pub fn open_to_all() -> Self {
        let allowance = Allowance::UNLIMITED;
        Self { principals: &mut [], visitors: &mut [], crowd: Bucket::FULL, is_open: true, allowance, generation: 0 }
    }

    /// Lets guests in, or no longer.
    pub const fn set_open(&mut self, is_open: bool) {
        self.is_open = is_open;
    }

    /// Whether guests come in.
    pub const fn is_open(&self) -> bool {
        self.is_open
    }

    /// What a caller may have.
    pub const fn allowance(&self) -> &Allowance {
        &self.allowance
    }

    /// Who is known.
    pub fn principals(&self) -> impl Iterator<Item = &Principal> {
        self.principals.iter().filter(|principal| principal.is_known())
    }

    /// Makes somebody known. The same name again replaces what was known of it; its tasks stay its own.
    ///
    /// # Errors
    /// If there is no room, or a token is somebody else's.
    pub fn know(&mut self, principal: Principal) -> Result<(), Unfit> {
        let is_taken = |known: &Principal| known.name != principal.name && known.shares_token_with(&principal);
        if self.principals().any(is_taken) {
            return Err(Unfit::Known);
        }
        let same = self.principals.iter_mut().find(|known| known.name == principal.name);
        if let Some(same) = same {
            *same = Principal { bucket: same.bucket, generation: same.generation, ..principal };
            return Ok(());
        }
        let place = self.principals.iter_mut().find(|place| !place.is_known()).ok_or(Unfit::Full)?;
        self.generation = self.generation.wrapping_add(1);
        *place = Principal { generation: self.generation, ..principal };
        Ok(())
    }

    /// Forgets somebody. Its tasks are nobody's from now on. False if it was not known.
    pub fn forget(&mut self, name: &str) -> bool {
        let mut known = self.principals.iter_mut().filter(|principal| principal.is_known());
        let found = known.find(|principal| principal.name == name);
        found.map(|principal| *principal = Principal::NOBODY).is_some()
    }

    /// Somebody comes to the door.
    ///
    /// # Errors
    /// If it is not let in. A right token is never refused here, whatever else comes from its address.
    pub fn admit(
        &mut self,
        now: Millis,
        address: Address,
        credential: Option<Credential<'_>>,
    ) -> Result<Caller, Turned> {
        match credential {
            Some(credential) => match self.recognize(&credential) {
                Some(caller) => Ok(caller),
                None => {
                    self.count_stranger(now, address, self.allowance.failure_cost)?;
                    Err(Turned::Unknown)
                }
            },
            None => {
                self.count_stranger(now, address, 1)?;
                if self.is_open { Ok(Caller::GUEST) } else { Err(Turned::Unknown) }
            }
        }
    }

    /// Counts a call of somebody who was let in.
    ///
    /// # Errors
    /// If it calls too often.
    pub fn count_call(&mut self, now: Millis, caller: Caller) -> Result<(), Turned> {
        let (rate, is_open) = (self.allowance.principal, self.is_open);
        match self.principal(caller.owner) {
            Some(principal) => Ok(principal.bucket.take(now, rate, 1)?),
            // A guest was counted by its address. Who was let in and is known no longer is nobody.
            None if caller.owner == Owner::GUEST && is_open => Ok(()),
            None => Err(Turned::Unknown),
        }
    }

    /// Who has that token. Every principal is looked at, whoever it is.
    pub(crate) fn recognize(&self, credential: &Credential<'_>) -> Option<Caller> {
        if credential.token.len() > TOKEN_MAX {
            return None;
        }
        let digest = Digest::of(credential.token);
        let mut found = None;
        for (principal, place) in self.principals.iter().zip(1..=u8::MAX) {
            let is_named = credential.name.is_none_or(|name| name == principal.name.as_bytes());
            if principal.has(&digest) & is_named & principal.is_known() {
                let owner = Owner { place, generation: principal.generation };
                found = Some(Caller { owner, classes: principal.classes });
            }
        }
        found
    }

    /// Whether that is somebody who would be let in today.
    pub(crate) fn knows(&self, owner: Owner) -> bool {
        self.classes_of(owner).is_some()
    }

    /// What somebody may do who would be let in today.
    pub(crate) fn classes_of(&self, owner: Owner) -> Option<Classes> {
        match usize::from(owner.place).checked_sub(1).and_then(|place| self.principals.get(place)) {
            Some(known) if known.is_known() && known.generation == owner.generation => Some(known.classes),
            None if owner == Owner::GUEST && self.is_open => Some(Classes::ALL),
            _ => None,
        }
    }

    /// Counts a credential that somebody shows who was let in already: as much as a wrong token at the door, so that
    /// guessing is no cheaper here.
    ///
    /// # Errors
    /// If it shows too many.
    pub(crate) fn count_credential(&mut self, now: Millis, caller: Caller) -> Result<(), Turned> {
        let Allowance { principal: rate, failure_cost, .. } = self.allowance;
        match self.principal(caller.owner) {
            Some(principal) => Ok(principal.bucket.take(now, rate, failure_cost)?),
            None => Ok(()),
        }
    }

    fn principal(&mut self, owner: Owner) -> Option<&mut Principal> {
        let place = self.principals.get_mut(usize::from(owner.place).checked_sub(1)?)?;
        Some(place).filter(|known| known.is_known() && known.generation == owner.generation)
    }

    fn count_stranger(&mut self, now: Millis, address: Address, permits: u32) -> Result<(), Empty> {
        let (rate, address) = (self.allowance.address, address.household());
        let known = self.visitors.iter().position(|visitor| visitor.address == address);
        // A bucket that is full again is like a new one.
        let place = known.or_else(|| self.visitors.iter().position(|visitor| visitor.bucket.is_full(now)));
        match place.and_then(|place| self.visitors.get_mut(place)) {
            Some(visitor) => {
                if known.is_none() {
                    *visitor = Visitor { address, bucket: Bucket::FULL };
                }
                visitor.bucket.take(now, rate, permits)
            }
            None => self.crowd.take(now, rate, permits),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Access;

    const ANNA: &str = "annas-first-token";
    const BEN: &str = "bens-first-token!";
    const HERE: Address = Address::v4([10, 0, 0, 1]);

    fn allowance() -> Allowance {
        Allowance {
            principal: Rate { per_second: 1, burst: 2 },
            address: Rate { per_second: 1, burst: 10 },
            failure_cost: 5,
            ..Allowance::UNLIMITED
        }
    }

    fn token(token: &str) -> Option<Credential<'_>> {
        Some(Credential { name: None, token: token.as_bytes() })
    }

    fn with_two(test: impl FnOnce(Door<'_>)) {
        let mut storage = DoorStorage::<2, 2>::new();
        let mut door = Door::new(&mut storage, allowance());
        door.know(Principal::new("anna", Classes::ALL, ANNA).unwrap()).unwrap();
        door.know(Principal::new("ben", Classes::of(&[Access::Read]), BEN).unwrap()).unwrap();
        test(door);
    }

    #[test]
    fn a_token_tells_who_calls() {
        with_two(|mut door| {
            let anna = door.admit(Millis(0), HERE, token(ANNA)).unwrap();
            let ben = door.admit(Millis(0), HERE, token(BEN)).unwrap();
            assert_ne!(anna.owner, ben.owner);
            assert!(anna.classes.has(Access::Operator) && !ben.classes.has(Access::Act));
            let basic = |name: &'static [u8]| Some(Credential { name: Some(name), token: ANNA.as_bytes() });
            assert_eq!(door.admit(Millis(0), HERE, basic(b"anna")), Ok(anna));
            assert_eq!(door.admit(Millis(0), HERE, basic(b"ben")), Err(Turned::Unknown));
        });
    }

    #[test]
    fn who_is_forgotten_is_a_stranger_and_another_one_in_its_place_is_not_it() {
        with_two(|mut door| {
            let anna = door.admit(Millis(0), HERE, token(ANNA)).unwrap();
            assert!(door.forget("anna") && !door.forget("anna"));
            assert_eq!(door.admit(Millis(0), HERE, token(ANNA)), Err(Turned::Unknown));
            door.know(Principal::new("carl", Classes::ALL, ANNA).unwrap()).unwrap();
            let carl = door.admit(Millis(0), HERE, token(ANNA)).unwrap();
            assert_ne!(anna.owner, carl.owner);
            // Ben's tasks stay his when his token is replaced.
            let ben = door.admit(Millis(0), HERE, token(BEN)).unwrap();
            door.know(Principal::new("ben", Classes::ALL, "bens-other-token").unwrap()).unwrap();
            assert_eq!(door.admit(Millis(0), HERE, token("bens-other-token")).unwrap().owner, ben.owner);
            assert_eq!(door.admit(Millis(1), HERE, token(BEN)), Err(Turned::Unknown));
        });
    }

    #[test]
    fn a_door_has_room_for_so_many_and_no_token_is_of_two() {
        with_two(|mut door| {
            let third = Principal::new("carl", Classes::ALL, "a-third-token-here").unwrap();
            assert_eq!(door.know(third), Err(Unfit::Full));
            assert_eq!(door.know(Principal::new("ben", Classes::ALL, ANNA).unwrap()), Err(Unfit::Known));
        });
    }

    #[test]
    fn guessing_is_slowed_down_and_locks_nobody_out() {
        with_two(|mut door| {
            let guess = token("a-guess-at-a-token");
            assert_eq!(door.admit(Millis(0), HERE, guess), Err(Turned::Unknown));
            assert_eq!(door.admit(Millis(0), HERE, guess), Err(Turned::Unknown));
            let turned = door.admit(Millis(0), HERE, guess);
            assert_eq!(turned, Err(Turned::TooOften { retry_after_secs: 5 }));
            assert!(door.admit(Millis(0), HERE, token(ANNA)).is_ok());
            // Others come from elsewhere, and this one again when it has waited.
            assert_eq!(door.admit(Millis(0), Address::v4([10, 0, 0, 2]), guess), Err(Turned::Unknown));
            assert_eq!(door.admit(Millis(5_000), HERE, guess), Err(Turned::Unknown));
        });
    }

    #[test]
    fn more_addresses_than_can_be_remembered_share_one_bucket() {
        with_two(|mut door| {
            for last in 1..=4 {
                let address = Address::v4([10, 0, 0, last]);
                let turned = (0..20).filter_map(|_| door.admit(Millis(0), address, None).err());
                let let_by = turned.filter(|turned| *turned == Turned::Unknown).count();
                // Two have a bucket each; the third takes all of the common one.
                assert_eq!(let_by, if last <= 3 { 10 } else { 0 }, "address {last}");
            }
            // When the first ones are forgotten there is a place again.
            assert_eq!(door.admit(Millis(10_000), Address::v4([10, 0, 0, 9]), None), Err(Turned::Unknown));
        });
    }

    #[test]
    fn one_household_is_one_address() {
        with_two(|mut door| {
            let mut address = [0x20, 1, 0xd, 0xb8, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0];
            let mut let_by = 0;
            for last in 0..20 {
                address[15] = last;
                let_by += u32::from(door.admit(Millis(0), Address(address), None) == Err(Turned::Unknown));
            }
            assert_eq!(let_by, 10);
        });
    }

    #[test]
    fn a_principal_is_counted_where_it_is_known() {
        with_two(|mut door| {
            let anna = door.admit(Millis(0), HERE, token(ANNA)).unwrap();
            let ben = door.admit(Millis(0), HERE, token(BEN)).unwrap();
            assert_eq!(door.count_call(Millis(0), anna), Ok(()));
            assert_eq!(door.count_call(Millis(0), anna), Ok(()));
            assert_eq!(door.count_call(Millis(0), anna), Err(Turned::TooOften { retry_after_secs: 1 }));
            assert_eq!(door.count_call(Millis(0), ben), Ok(()));
            assert_eq!(door.count_call(Millis(1_000), anna), Ok(()));
        });
    }

    #[test]
    fn an_open_door_lets_guests_in_and_counts_them_by_address() {
        with_two(|mut door| {
            assert_eq!(door.admit(Millis(0), HERE, None), Err(Turned::Unknown));
            door.set_open(true);
            assert!((0..9).all(|_| door.admit(Millis(0), HERE, None) == Ok(Caller::GUEST)));
            assert_eq!(door.admit(Millis(0), HERE, None), Err(Turned::TooOften { retry_after_secs: 1 }));
            // A wrong token is wrong at an open door, too.
            assert_eq!(door.admit(Millis(60_000), HERE, token("a-guess-at-a-token")), Err(Turned::Unknown));
        });
    }
}
