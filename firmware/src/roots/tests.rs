extern crate std;

use std::{format, string::String, vec, vec::Vec};

use base64ct::{Base64, Encoding as _};

use super::*;
use crate::simulated::flash::{
    RamFlash,
    two_pages::{FLASH_BYTES, blank, open},
};

/// What looks like a certificate from outside.
fn der(seed: u8, length: usize) -> Vec<u8> {
    let [high, low] = (length as u16 - 4).to_be_bytes();
    let inside = (0..length - 4).map(|at| (at as u8).wrapping_mul(7) ^ seed);
    [0x30, 0x82, high, low].into_iter().chain(inside).collect()
}

fn text(der: &[u8]) -> String {
    let mut room = [0; 4 * ROOT_MAX];
    let base64 = Base64::encode(der, &mut room).expect("there is room");
    let lines: Vec<_> = base64.as_bytes().chunks(64).map(|line| str::from_utf8(line).expect("it is text")).collect();
    format!("-----BEGIN CERTIFICATE-----\n{}\n-----END CERTIFICATE-----\n", lines.join("\n"))
}

/// Types a text, and gives what the last line came to.
fn paste<F: NorFlash>(store: &Store<F>, text: &str) -> Taken {
    let mut paste = Paste::default();
    let lines: Vec<_> = text.lines().collect();
    let (last, first) = lines.split_last().expect("there is a line");
    for line in first {
        if let done @ Taken::Done(_) = paste.take(&Roots::new(store), line) {
            return done;
        }
    }
    paste.take(&Roots::new(store), last)
}

fn recall<F: NorFlash>(store: &Store<F>) -> Vec<Vec<u8>> {
    Roots::new(store).recall(&mut [0; ROOTS_BYTES]).iter().map(|root| root.to_vec()).collect()
}

const KEPT: Taken = Taken::Done(Ok(()));

#[test]
fn a_root_that_is_pasted_outlives_a_restart_until_it_is_forgotten() {
    let mut memory = blank();
    let store = open(&mut memory);
    assert!(recall(&store).is_empty());
    // Lengths around those of pieces.
    let all = [der(1, 480), der(2, 481), der(3, 479), der(4, 608)];
    for one in &all {
        assert_eq!(paste(&store, &text(one)), KEPT);
    }
    let store = open(&mut memory);
    assert_eq!(recall(&store), all);
    let roots = Roots::new(&store);
    roots.forget(2).expect("it is there");
    assert!(roots.forget(2).is_err() && roots.forget(0).is_err() && roots.forget(5).is_err());
    assert_eq!(recall(&open(&mut memory)), [all[0].clone(), all[2].clone(), all[3].clone()]);
    let store = open(&mut memory);
    assert_eq!(paste(&store, &text(&der(5, 300))), KEPT);
    assert_eq!(recall(&open(&mut memory)), [all[0].clone(), der(5, 300), all[2].clone(), all[3].clone()]);
}

#[test]
fn the_longest_fits_and_a_longer_one_changes_nothing() {
    let mut memory = blank();
    let store = open(&mut memory);
    assert_eq!(paste(&store, &text(&der(1, ROOT_MAX + 1))), Taken::Done(Err(FULL)));
    assert!(recall(&store).is_empty());
    assert_eq!(paste(&store, &text(&der(1, ROOT_MAX))), KEPT);
    assert_eq!(paste(&store, &text(&der(2, ROOTS_BYTES - ROOT_MAX - 256))), KEPT);
    assert_eq!(paste(&store, &text(&der(3, 257))), Taken::Done(Err(FULL)), "all together");
    assert_eq!(paste(&store, &text(&der(3, 256))), KEPT);
    assert_eq!(recall(&store).len(), 3);
    let store = open(&mut memory);
    Roots::new(&store).forget(1).expect("it is there");
    for seed in [4, 5] {
        assert_eq!(paste(&store, &text(&der(seed, 256))), KEPT);
    }
    assert_eq!(paste(&store, &text(&der(6, 256))), Taken::Done(Err(FULL)), "a fifth");
    assert_eq!(recall(&store), [der(4, 256), der(2, 768), der(3, 256), der(5, 256)]);
}

#[test]
fn what_is_no_whole_certificate_is_refused() {
    let mut memory = blank();
    let store = open(&mut memory);
    let good = der(1, 500);
    let whole = text(&good);
    let missing: Vec<_> = whole.lines().enumerate().filter(|(at, _)| *at != 3).map(|(_, line)| line).collect();
    let other = whole.replace("CERTIFICATE", "PRIVATE KEY");
    let mut wrong = good.clone();
    wrong[0] = 0x31;
    let interrupted = whole.replacen('\n', "\nstatus\n", 1);
    for bad in [missing.join("\n"), other, text(&wrong), text(&good[..499]), interrupted, text(&[])] {
        let Taken::Done(Err(_)) = paste(&store, &bad) else { panic!("{bad}") };
    }
    assert!(recall(&store).is_empty());
    assert_eq!(paste(&store, &whole), KEPT);
    assert_eq!(paste(&store, &whole), Taken::Done(Err(Trouble("it is trusted already"))));
    assert_eq!(recall(&store), [good]);
}

#[test]
fn what_is_around_a_certificate_is_left_to_others() {
    let mut memory = blank();
    let store = open(&mut memory);
    let roots = Roots::new(&store);
    let mut paste = Paste::default();
    assert_eq!(paste.take(&roots, "status"), Taken::Not);
    let certificate = text(&der(1, 300));
    for line in certificate.lines().take(3) {
        assert_eq!(paste.take(&roots, line), Taken::More);
    }
    paste.give_up();
    assert_eq!(paste.take(&roots, "status"), Taken::Not);
    for line in certificate.lines() {
        assert_ne!(paste.take(&roots, line), Taken::Not);
    }
    assert_eq!(paste.take(&roots, "status"), Taken::Not);
    assert_eq!(recall(&store), [der(1, 300)]);
}

#[test]
fn a_root_is_shown_by_its_fingerprint() {
    let mut memory = blank();
    let store = open(&mut memory);
    let longest = der(9, ROOT_MAX);
    assert_eq!(Roots::new(&store).about(0), None);
    assert_eq!(paste(&store, &text(&longest)), KEPT);
    let fingerprint: Vec<_> = Sha256::digest(&longest).iter().map(|byte| format!("{byte:02X}")).collect();
    let about = Roots::new(&store).about(0).expect("it is there");
    assert_eq!(about.as_str(), format!("1: 1024 bytes, SHA-256 {}", fingerprint.join(":")));
    assert_eq!(Roots::new(&store).about(1), None);
}

#[test]
fn limits_are_told_as_they_are() {
    for number in [ROOTS, ROOT_MAX, ROOTS_BYTES] {
        assert!(FULL.0.contains(&format!("{number}")), "{number}");
    }
    const { assert!(PIECES < 8, "so many keys there are for one") };
}

#[test]
fn what_nobody_typed_is_none() {
    let mut garbage = vec![0x5a; FLASH_BYTES];
    assert!(recall(&open(&mut garbage)).is_empty());
    let mut memory = blank();
    let store = open(&mut memory);
    for head in [&[0; HEAD_BYTES][..], &[0xff; HEAD_BYTES], &[10, 0], &[1; HEAD_BYTES - 1]] {
        store.save(Key::root(0), head).expect("there is room");
        assert!(recall(&store).is_empty(), "{head:?}");
    }
    assert_eq!(paste(&store, &text(&der(1, 300))), KEPT);
    store.save(Key::root_piece(0, 1), &[0; 140]).expect("there is room");
    assert!(recall(&store).is_empty(), "a piece is another one");
}

#[test]
fn wherever_the_power_goes_it_is_all_of_a_root_or_none() {
    let mut before = blank();
    let (old, new) = (der(1, 400), der(2, 600));
    assert_eq!(paste(&open(&mut before), &text(&old)), KEPT);
    for steps in 0.. {
        let mut memory = before.clone();
        let mut flash = RamFlash::new(&mut memory[..]);
        flash.cut_after(steps);
        let done = paste(&Store::new(flash, 0..FLASH_BYTES as u32), &text(&new)) == KEPT;
        let found = recall(&open(&mut memory));
        let is_new = found == [old.clone(), new.clone()];
        assert!(is_new || (!done && found == [old.clone()]), "cut after {steps}: {}", found.len());
        if done {
            assert!(steps > 5, "{steps}");
            break;
        }
    }
}

#[test]
fn others_can_still_change_what_they_keep_when_all_roots_are_there() {
    let mut memory = blank();
    let store = open(&mut memory);
    for seed in 0..4 {
        assert_eq!(paste(&store, &text(&der(seed, ROOTS_BYTES / 4))), KEPT);
    }
    for place in 0..crate::keyring::PRINCIPALS {
        store.save(Key::principal(place), &[place as u8; 112]).expect("there is room");
    }
    for list in [Key::HOSTS, Key::ORIGINS, Key::WEBHOOKS, Key::WIFI, Key::SIGNING, Key::SIGNED_BEFORE] {
        store.save(list, &[1; VALUE_MAX]).expect("there is room");
    }
    for n in 0..500_u32 {
        store.save(Key::calibration(0), &n.to_le_bytes()).expect("there is room");
    }
    assert_eq!(recall(&open(&mut memory)).len(), 4);
}
