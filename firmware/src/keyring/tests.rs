extern crate std;

use std::{
    format,
    string::{String, ToString as _},
    vec,
    vec::Vec,
};

use protocol_core::{
    Access,
    door::{Address, Allowance, Credential, DoorStorage},
    time::{Entropy as _, Millis},
};

use super::*;
use crate::simulated::{
    SplitMix,
    flash::{PAGE_BYTES, RamFlash},
};

const FLASH_BYTES: usize = 2 * PAGE_BYTES;

/// A device whose flash outlives it.
struct Device<'m> {
    store: Store<RamFlash<&'m mut [u8]>>,
    door: Door<'m>,
    chance: SplitMix,
    /// The token that was made because nobody was known.
    first: Option<First>,
}

impl<'m> Device<'m> {
    /// Starts; the power goes after so many steps of the flash.
    fn start(memory: &'m mut [u8], storage: &'m mut DoorStorage<PRINCIPALS, 1>, power: Option<u32>, seed: u64) -> Self {
        let mut flash = RamFlash::new(memory);
        if let Some(steps) = power {
            flash.cut_after(steps);
        }
        let store = Store::new(flash, 0..FLASH_BYTES as u32);
        let mut door = Door::new(storage, Allowance::UNLIMITED);
        let mut chance = SplitMix::new(seed);
        let first = Keyring::new(&store).recall(&mut door, |bytes| chance.fill(bytes));
        Self { store, door, chance, first }
    }

    fn obey(&mut self, keys: Keys<'_>) -> String {
        let Self { store, door, chance, .. } = self;
        Keyring::new(store).obey(keys, door, |bytes| chance.fill(bytes)).to_string()
    }

    /// What a token opens.
    fn classes(&mut self, token: &str) -> Option<Classes> {
        let credential = Credential { name: None, token: token.as_bytes() };
        self.door.admit(Millis(0), Address::default(), Some(credential)).ok().map(|caller| caller.classes())
    }

    fn names(&self) -> Vec<String> {
        self.door.principals().map(|known| known.name.to_string()).collect()
    }

    fn state(&self) -> State {
        let state = |known: &Principal| (known.to_bytes().to_vec(), known.classes.to_string());
        (self.door.principals().map(state).collect(), self.door.is_open())
    }
}

/// Who is known, and whether guests come in.
type State = (Vec<(Vec<u8>, String)>, bool);

fn blank() -> Vec<u8> {
    vec![0xff; FLASH_BYTES]
}

/// Starts a device on that flash and does something with it.
fn with<T>(memory: &mut [u8], seed: u64, work: impl FnOnce(&mut Device<'_>) -> T) -> T {
    work(&mut Device::start(memory, &mut DoorStorage::new(), None, seed))
}

/// The token in an answer: its last word of that length.
fn token_in(answer: &str) -> String {
    let mut words = answer.split_ascii_whitespace();
    words.find(|word| word.len() == Token::CHARACTERS).unwrap_or_else(|| panic!("no token in {answer}")).into()
}

const READ: Classes = Classes::of(&[Access::Read]);
const ADD_ANNA: Keys<'_> = Keys::Add { name: "anna", classes: READ };

#[test]
fn a_first_start_makes_an_owner_and_the_next_one_knows_it() {
    let mut memory = blank();
    let token = with(&mut memory, 1, |device| {
        let First { token, kept } = device.first.take().expect("nobody was known");
        assert_eq!(kept, Ok(()));
        assert_eq!((token.as_str().len(), format!("{token:?}").as_str()), (32, "Token(..)"));
        assert_eq!(device.classes(token.as_str()), Some(Classes::ALL));
        assert!(!device.door.is_open());
        token.as_str().to_string()
    });
    assert!(!memory.windows(8).any(|window| window == &token.as_bytes()[..8]), "the token is in the flash");
    with(&mut memory, 2, |device| {
        assert!(device.first.is_none() && !device.door.is_open());
        assert_eq!(device.classes(&token), Some(Classes::ALL));
        assert_eq!(device.names(), ["owner"]);
    });
}

#[test]
fn no_two_tokens_are_the_same() {
    let mut chance = SplitMix::new(7);
    let mut tokens: Vec<_> = (0..1000).map(|_| Token::make(|bytes| chance.fill(bytes)).as_str().to_string()).collect();
    assert!(
        tokens.iter().flat_map(|token| token.bytes()).all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte))
    );
    tokens.sort();
    tokens.dedup();
    assert_eq!(tokens.len(), 1000);
}

#[test]
fn somebody_new_gets_a_token_that_outlives_a_restart() {
    let mut memory = blank();
    let token = with(&mut memory, 1, |device| {
        let answer = device.obey(ADD_ANNA);
        assert!(answer.starts_with("the token of anna, shown this once: "), "{answer}");
        assert_eq!(device.obey(ADD_ANNA), Unfit::Known.to_string());
        assert_eq!(device.obey(Keys::Add { name: "an na", classes: READ }), Unfit::Name.to_string());
        token_in(&answer)
    });
    with(&mut memory, 2, |device| {
        assert_eq!(device.classes(&token), Some(READ));
        assert_eq!(device.names(), ["owner", "anna"]);
        for name in ["ben", "carl"] {
            token_in(&device.obey(Keys::Add { name, classes: READ }));
        }
        assert_eq!(device.obey(Keys::Add { name: "dora", classes: READ }), Unfit::Full.to_string());
        // A place that is free again is taken again.
        assert_eq!(device.obey(Keys::Revoke("anna")), "ok");
        token_in(&device.obey(Keys::Add { name: "dora", classes: READ }));
    });
    with(&mut memory, 3, |device| {
        assert_eq!(device.classes(&token), None);
        let mut names = device.names();
        names.sort();
        assert_eq!(names, ["ben", "carl", "dora", "owner"]);
    });
}

#[test]
fn a_token_that_is_replaced_stays_valid_until_it_is_retired() {
    let mut memory = blank();
    let (old, new) = with(&mut memory, 1, |device| {
        let old = token_in(&device.obey(ADD_ANNA));
        assert_eq!(device.obey(Keys::Retire("anna")), Refusal::OneToken.to_string());
        let answer = device.obey(Keys::Replace("anna"));
        assert!(answer.contains("shown this once") && answer.ends_with("token retire anna"), "{answer}");
        (old, token_in(&answer))
    });
    with(&mut memory, 2, |device| {
        assert_eq!((device.classes(&old), device.classes(&new)), (Some(READ), Some(READ)));
        assert_eq!(device.obey(Keys::Retire("anna")), "ok");
        assert_eq!((device.classes(&old), device.classes(&new)), (None, Some(READ)));
    });
    with(&mut memory, 3, |device| {
        assert_eq!((device.classes(&old), device.classes(&new)), (None, Some(READ)));
        for keys in [Keys::Replace("ben"), Keys::Retire("ben"), Keys::Revoke("ben")] {
            assert_eq!(device.obey(keys), Refusal::Unknown.to_string());
        }
    });
}

#[test]
fn guests_come_in_for_as_long_as_somebody_wants_that_and_is_known() {
    let mut memory = blank();
    with(&mut memory, 1, |device| {
        assert!(device.obey(Keys::Guests(true)).starts_with("ok; whoever reaches the device"));
        assert!(device.door.is_open());
    });
    with(&mut memory, 2, |device| {
        assert!(device.door.is_open() && device.first.is_none());
        assert_eq!(device.obey(Keys::Guests(false)), "ok");
    });
    with(&mut memory, 3, |device| {
        assert!(!device.door.is_open());
        device.obey(Keys::Guests(true));
        let answer = device.obey(Keys::Revoke("owner"));
        assert!(answer.contains("the door is shut") && answer.ends_with("token add NAME CLASSES"), "{answer}");
        assert!(!device.door.is_open());
        assert_eq!(device.obey(Keys::Guests(true)), Refusal::Nobody.to_string());
        // As it says.
        let token = token_in(&device.obey(ADD_ANNA));
        assert_eq!(device.classes(&token), Some(READ));
    });
    with(&mut memory, 4, |device| assert!(!device.door.is_open() && device.names() == ["anna"]));
}

#[test]
fn after_the_last_one_was_revoked_the_next_start_is_a_first_one() {
    let mut memory = blank();
    let old = with(&mut memory, 1, |device| {
        device.obey(Keys::Revoke("owner"));
        device.first.take().expect("a first start").token
    });
    with(&mut memory, 2, |device| {
        let new = device.first.take().expect("nobody was known").token;
        assert_eq!((device.classes(old.as_str()), device.classes(new.as_str())), (None, Some(Classes::ALL)));
    });
}

#[test]
fn an_open_door_is_not_left_to_whoever_comes_after_everybody_is_lost() {
    let mut memory = blank();
    with(&mut memory, 1, |device| {
        device.obey(Keys::Guests(true));
        device.store.forget(Key::principal(0)).expect("there is room");
    });
    with(&mut memory, 2, |device| assert!(device.first.is_some() && !device.door.is_open()));
    with(&mut memory, 3, |device| assert!(device.first.is_none() && !device.door.is_open()));
}

#[test]
fn a_list_has_names_and_classes_and_no_token() {
    let mut memory = blank();
    with(&mut memory, 1, |device| {
        let token = token_in(&device.obey(ADD_ANNA));
        device.obey(Keys::Replace("anna"));
        let list = device.obey(Keys::List);
        assert_eq!(
            list,
            "owner: read+act+operator, 1 token\r\nanna: read, 2 tokens\r\nthe door is shut for everybody else"
        );
        assert!(!list.contains(&token));
        device.obey(Keys::Guests(true));
        assert!(device.obey(Keys::List).ends_with("guests get in, too"));
        device.obey(Keys::Revoke("anna"));
        device.obey(Keys::Revoke("owner"));
        assert!(device.obey(Keys::List).contains("token add"));
    });
}

#[test]
fn the_longest_answers_fit() {
    let mut memory = blank();
    with(&mut memory, 1, |device| {
        device.obey(Keys::Revoke("owner"));
        let names: Vec<_> = (0..PRINCIPALS).map(|n| format!("{n}{}", "x".repeat(NAME_MAX - 1))).collect();
        for name in &names {
            device.obey(Keys::Add { name, classes: Classes::ALL });
            assert!(device.obey(Keys::Replace(name)).ends_with(name.as_str()));
        }
        device.obey(Keys::Guests(true));
        assert!(device.obey(Keys::List).ends_with("guests get in, too"));
    });
    let mut storage = DoorStorage::new();
    let mut device = Device::start(&mut memory, &mut storage, Some(0), 2);
    let names = device.names();
    assert!(device.obey(Keys::Replace(&names[0])).ends_with("the flash does not take it"));
    for name in &names {
        assert!(device.obey(Keys::Revoke(name)).ends_with("the flash does not take it"));
    }
}

#[test]
fn what_the_flash_does_not_take_is_done_until_the_next_restart_and_said() {
    let mut memory = blank();
    let mut storage = DoorStorage::new();
    let mut device = Device::start(&mut memory, &mut storage, Some(0), 1);
    let First { token, kept } = device.first.take().expect("nobody was known");
    assert_eq!(device.classes(token.as_str()), Some(Classes::ALL));
    assert!(kept.is_err() && !device.door.is_open());
    let answer = device.obey(ADD_ANNA);
    assert!(answer.contains("\r\nuntil the next restart only: "), "{answer}");
    assert_eq!(device.classes(&token_in(&answer)), Some(READ));
    // The flash never had her.
    assert_eq!(device.obey(Keys::Revoke("anna")), "ok");
    assert_eq!(device.classes(&token_in(&answer)), None);
}

#[test]
fn wherever_the_power_goes_at_the_first_start_there_is_an_owner_and_no_open_door() {
    for steps in 0.. {
        let mut memory = blank();
        let mut storage = DoorStorage::new();
        let mut device = Device::start(&mut memory, &mut storage, Some(steps), 1);
        let First { token, kept } = device.first.take().expect("nobody was known");
        with(&mut memory, 2, |device| {
            assert!(!device.door.is_open(), "after {steps}");
            let is_known = device.classes(token.as_str()) == Some(Classes::ALL);
            assert_eq!(is_known, device.first.is_none(), "after {steps}");
            assert_eq!(device.names(), ["owner"]);
            assert!(is_known || kept.is_err(), "after {steps}");
        });
        if kept.is_ok() {
            assert!(steps > 10, "{steps}");
            return;
        }
    }
}

#[test]
fn wherever_the_power_goes_later_the_old_is_true_or_the_new() {
    let all = [
        ADD_ANNA,
        Keys::Replace("ben"),
        Keys::Retire("carl"),
        Keys::Revoke("ben"),
        Keys::Guests(true),
        Keys::Guests(false),
    ];
    let mut cuts = 0;
    // Flash that is fresh, and flash where room has to be made first.
    for filled in [0, 190, 200] {
        for keys in all {
            let mut memory = blank();
            with(&mut memory, 1, |device| {
                for name in ["ben", "carl"] {
                    device.obey(Keys::Add { name, classes: READ });
                }
                device.obey(Keys::Replace("carl"));
                device.obey(Keys::Guests(keys == Keys::Guests(false)));
                for n in 0..filled {
                    device.store.save(Key::calibration(0), &[n; 8]).expect("there is room");
                }
            });
            for steps in 0.. {
                let mut memory = memory.clone();
                let mut storage = DoorStorage::new();
                let mut device = Device::start(&mut memory, &mut storage, Some(steps), 2);
                let before = device.state();
                let answer = device.obey(keys);
                let after = device.state();
                assert_ne!(before, after, "{keys:?}: {answer}");
                let is_kept = !answer.contains("until the next restart only");
                with(&mut memory, 3, |device| {
                    let found = device.state();
                    assert!(found == after || !is_kept && found == before, "{keys:?} cut after {steps}: {found:?}");
                });
                if is_kept {
                    break;
                }
                cuts += 1;
            }
        }
    }
    // More than writing alone takes: some had to make room.
    assert!(cuts > 300, "{cuts}");
}

#[test]
fn wherever_the_power_goes_while_the_last_one_is_revoked_the_door_is_not_open_to_all() {
    let mut memory = blank();
    with(&mut memory, 1, |device| drop(device.obey(Keys::Guests(true))));
    for steps in 0.. {
        let mut memory = memory.clone();
        let mut storage = DoorStorage::new();
        let answer = Device::start(&mut memory, &mut storage, Some(steps), 2).obey(Keys::Revoke("owner"));
        with(&mut memory, 3, |device| {
            assert!(device.first.is_none() || !device.door.is_open(), "after {steps}");
            assert_eq!(device.names(), ["owner"]);
        });
        // And the one after that.
        with(&mut memory, 4, |device| assert!(device.first.is_none()));
        if !answer.contains("until the next restart only") {
            with(&mut memory, 5, |device| assert!(!device.door.is_open()));
            return;
        }
    }
}

#[test]
fn flash_that_was_never_ours_is_a_first_start() {
    let mut memory = vec![0x5a; FLASH_BYTES];
    with(&mut memory, 1, |device| assert!(device.first.as_ref().is_some_and(|first| first.kept.is_ok())));
    with(&mut memory, 2, |device| assert!(device.first.is_none() && device.names() == ["owner"]));
}
