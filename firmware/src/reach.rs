//! Whom the device may call: what its owner has allowed on the console, and which roots it trusts, beyond a restart.
//!
//! All of it is one value in the store, so that a cut never leaves half of what was typed. What cannot be what was typed
//! allows nothing: a device that calls nobody is only less useful.

use core::fmt::{self, Write as _};

use embedded_storage_async::nor_flash::NorFlash;
use protocol_core::push::{Challenge, Ranges, Rules, Webhooks};

use crate::{
    board::{Key, Trouble},
    console::{Hooks, What},
    naming::{WORDS_MAX, Words},
    store::{Store, VALUE_MAX},
};

/// Everything that push notifications have to know about whom they may go to.
#[derive(Clone, Copy, Debug)]
pub struct Reach<'s> {
    /// Whether there are any.
    pub is_on: bool,
    /// Where they may go, and who is asked first.
    pub webhooks: Webhooks<'s>,
    /// Who says that a server is who it says it is: root certificates in DER. Without any no `https` gets through.
    pub roots: &'s [&'s [u8]],
}

impl Reach<'_> {
    /// Calls nobody.
    pub const NONE: Self =
        Self { is_on: false, webhooks: Webhooks { rules: Rules::STRICT, challenge: Challenge::ByDialect }, roots: &[] };
}

/// Bytes of what is kept: a byte of yes and no, and hosts with a space between them.
pub const WEBHOOK_BYTES: usize = VALUE_MAX;

/// What the owner allows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Allowed<'m> {
    /// Whether there are push notifications.
    pub is_on: bool,
    /// See [`Rules::plain_http`].
    pub plain_http: bool,
    /// See [`Rules::ranges`].
    pub ranges: Ranges,
    /// See [`Rules::hosts`].
    pub hosts: Words<'m>,
    /// Who is asked first.
    pub challenge: Challenge,
}

/// Room for the longest answer to [`Hooks::Show`].
pub type Answer = heapless::String<{ WEBHOOK_BYTES + 192 }>;

impl<'m> Allowed<'m> {
    /// What a device allows whose owner has said nothing: `https` to public addresses.
    pub const DEFAULT: Self = Self {
        is_on: true,
        plain_http: false,
        ranges: Ranges { loopback: false, private: false, link_local: false },
        hosts: Words::new(),
        challenge: Challenge::ByDialect,
    };

    /// The rules that this is.
    pub fn rules(&self) -> Rules<'_> {
        Rules { plain_http: self.plain_http, ranges: self.ranges, hosts: &self.hosts }
    }

    /// The same as push notifications want it.
    pub fn webhooks(&self) -> Webhooks<'_> {
        Webhooks { rules: self.rules(), challenge: self.challenge }
    }

    /// Finds what was kept.
    pub fn recall<F: NorFlash>(store: &Store<F>, memory: &'m mut [u8; WEBHOOK_BYTES]) -> Self {
        let length = store.load(Key::WEBHOOKS, memory);
        let memory: &'m [u8; WEBHOOK_BYTES] = memory;
        match length {
            None => Self::DEFAULT,
            Some(length) => {
                let kept = memory.get(..length).and_then(Self::from_bytes);
                kept.unwrap_or(Self { is_on: false, ..Self::DEFAULT })
            }
        }
    }

    /// Does what was typed, for the next start, and says how it stands then.
    ///
    /// # Errors
    /// Says what is wrong with it, or why it is not kept. Everything stays as it was then.
    pub fn obey<F: NorFlash>(store: &Store<F>, hooks: Hooks<'_>) -> Result<Answer, Trouble> {
        let mut memory = [0; WEBHOOK_BYTES];
        let mut allowed = Allowed::recall(store, &mut memory);
        let is_change = hooks != Hooks::Show;
        match hooks {
            Hooks::Show => {}
            Hooks::On(is_on) => allowed.is_on = is_on,
            Hooks::Allow(what, is_allowed) => *allowed.part(what) = is_allowed,
            Hooks::Challenge(challenge) => allowed.challenge = challenge,
            Hooks::Host(host) if !Rules::is_host(host) => return Err(BAD_HOST),
            // What is there already is there once.
            Hooks::Host(host) => {
                allowed.hosts.retain(|known| !known.eq_ignore_ascii_case(host));
                return allowed.with(host)?.keep(store);
            }
            Hooks::Forget(host) => {
                let before = allowed.hosts.len();
                allowed.hosts.retain(|known| !known.eq_ignore_ascii_case(host));
                if allowed.hosts.len() == before {
                    return Err(Trouble("that host was not named; webhooks shows which were"));
                }
            }
        }
        if is_change { allowed.keep(store) } else { Ok(allowed.answer("")) }
    }

    /// The same with one more host.
    fn with<'h>(self, host: &'h str) -> Result<Allowed<'h>, Trouble>
    where
        'm: 'h,
    {
        let Self { is_on, plain_http, ranges, hosts, challenge } = self;
        let mut hosts: Words<'h> = hosts;
        hosts.push(host).map_err(|_| TOO_MUCH)?;
        Ok(Allowed { is_on, plain_http, ranges, hosts, challenge })
    }

    fn keep<F: NorFlash>(&self, store: &Store<F>) -> Result<Answer, Trouble> {
        store.save(Key::WEBHOOKS, &self.to_bytes().ok_or(TOO_MUCH)?)?;
        Ok(self.answer("from the next restart on: "))
    }

    fn answer(&self, begin: &str) -> Answer {
        let mut answer = Answer::new();
        // cannot fail: there is room for the longest.
        let _ = write!(answer.as_mut_view(), "{begin}{self}");
        answer
    }

    fn part(&mut self, what: What) -> &mut bool {
        match what {
            What::Http => &mut self.plain_http,
            What::Loopback => &mut self.ranges.loopback,
            What::Private => &mut self.ranges.private,
            What::LinkLocal => &mut self.ranges.link_local,
        }
    }

    fn to_bytes(&self) -> Option<heapless::Vec<u8, WEBHOOK_BYTES>> {
        let mut flags = 0;
        let Ranges { loopback, private, link_local } = self.ranges;
        for (bit, is_set) in [self.is_on, self.plain_http, loopback, private, link_local].into_iter().enumerate() {
            flags |= u8::from(is_set) << bit;
        }
        flags |= match self.challenge {
            Challenge::ByDialect => BY_DIALECT,
            Challenge::Always => ALWAYS,
            Challenge::Never => NEVER,
        };
        let mut bytes = heapless::Vec::new();
        bytes.push(FORM | flags).ok()?;
        for (place, host) in self.hosts.iter().enumerate() {
            let space: &[u8] = if place == 0 { b"" } else { b" " };
            bytes.extend_from_slice(space).ok()?;
            bytes.extend_from_slice(host.as_bytes()).ok()?;
        }
        Some(bytes)
    }

    fn from_bytes(bytes: &'m [u8]) -> Option<Self> {
        let (flags, line) = bytes.split_first()?;
        let challenge = match flags & !0x1f ^ FORM {
            BY_DIALECT => Challenge::ByDialect,
            ALWAYS => Challenge::Always,
            NEVER => Challenge::Never,
            _ => return None,
        };
        let has = |bit: u8| flags & 1 << bit != 0;
        let mut hosts = Words::new();
        let line = core::str::from_utf8(line).ok()?;
        for host in line.split(' ').filter(|_| !line.is_empty()) {
            hosts.push(host).ok().filter(|()| Rules::is_host(host))?;
        }
        let ranges = Ranges { loopback: has(2), private: has(3), link_local: has(4) };
        Some(Self { is_on: has(0), plain_http: has(1), ranges, hosts, challenge })
    }
}

/// In words.
impl fmt::Display for Allowed<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.is_on {
            return f.write_str("no push notifications");
        }
        describe(&self.webhooks(), f)
    }
}

/// Says where push notifications may go.
///
/// # Errors
/// Those of the writer.
pub fn describe(Webhooks { rules, challenge }: &Webhooks<'_>, f: &mut dyn fmt::Write) -> fmt::Result {
    f.write_str(if rules.plain_http { "push notifications by https and http" } else { "push notifications by https" })?;
    f.write_str(" to public")?;
    let Ranges { loopback, private, link_local } = rules.ranges;
    for (name, is_allowed) in [("private", private), ("link-local", link_local), ("loopback", loopback)] {
        if is_allowed {
            write!(f, ", {name}")?;
        }
    }
    f.write_str(" addresses")?;
    for (place, host) in rules.hosts.iter().enumerate() {
        write!(f, "{}{host}", if place == 0 { ", and only to: " } else { " " })?;
    }
    f.write_str(match challenge {
        Challenge::ByDialect => "",
        Challenge::Always => "; every receiver is asked first",
        Challenge::Never => "; no receiver is asked first",
    })
}

/// Says in which form the rest is, for those who may find another one some day.
const FORM: u8 = 0x80;
const BY_DIALECT: u8 = 0;
const ALWAYS: u8 = 0x20;
const NEVER: u8 = 0x40;

const BAD_HOST: Trouble = Trouble("a host is a name, *. and the end of names, or an address, with :PORT if it has one");
const TOO_MUCH: Trouble = Trouble("that is too much: 4 hosts at most, of 159 characters in all");

const _: () = assert!(WORDS_MAX == 4 && WEBHOOK_BYTES == 160, "a sentence says so");

#[cfg(test)]
mod tests {
    extern crate std;

    use std::{format, string::String, vec::Vec};

    use super::*;
    use crate::simulated::flash::{
        RamFlash,
        two_pages::{FLASH_BYTES, blank, open},
    };

    fn shown<F: NorFlash>(store: &Store<F>) -> String {
        Allowed::obey(store, Hooks::Show).expect("it can be shown").as_str().into()
    }

    #[test]
    fn what_is_allowed_outlives_a_restart_until_it_is_refused() {
        let mut memory = blank();
        let store = open(&mut memory);
        assert_eq!(shown(&store), "push notifications by https to public addresses");
        for hooks in [Hooks::Allow(What::Http, true), Hooks::Allow(What::Private, true), Hooks::Host("Hooks.lan:8443")]
        {
            let answer = Allowed::obey(&store, hooks).expect("there is room");
            assert!(answer.starts_with("from the next restart on: "), "{answer}");
        }
        Allowed::obey(&store, Hooks::Host("*.a.example")).expect("there is room");
        let store = open(&mut memory);
        let words = "push notifications by https and http to public, private addresses, and only to: ";
        assert_eq!(shown(&store), format!("{words}Hooks.lan:8443 *.a.example"));
        let mut room = [0; WEBHOOK_BYTES];
        let allowed = Allowed::recall(&store, &mut room);
        assert!(allowed.is_on);
        assert_eq!(
            allowed.rules(),
            Rules {
                plain_http: true,
                ranges: Ranges { private: true, ..Ranges::default() },
                hosts: &["Hooks.lan:8443", "*.a.example"],
            }
        );
        for hooks in [Hooks::Allow(What::Http, false), Hooks::Forget("hooks.LAN:8443"), Hooks::On(false)] {
            Allowed::obey(&store, hooks).expect("there is room");
        }
        let store = open(&mut memory);
        assert_eq!(shown(&store), "no push notifications");
        Allowed::obey(&store, Hooks::On(true)).expect("there is room");
        Allowed::obey(&store, Hooks::Forget("*.a.example")).expect("there is room");
        assert_eq!(shown(&store), "push notifications by https to public, private addresses");
    }

    #[test]
    fn each_part_is_one_of_its_own() {
        for what in [What::Http, What::Loopback, What::Private, What::LinkLocal] {
            let mut memory = blank();
            let store = open(&mut memory);
            Allowed::obey(&store, Hooks::Allow(what, true)).expect("there is room");
            let mut expected = Allowed::DEFAULT;
            *expected.part(what) = true;
            assert_eq!(Allowed::recall(&store, &mut [0; _]), expected, "{what:?}");
            Allowed::obey(&store, Hooks::Allow(what, false)).expect("there is room");
            assert_eq!(Allowed::recall(&store, &mut [0; _]), Allowed::DEFAULT, "{what:?}");
        }
    }

    #[test]
    fn who_is_asked_first_is_kept_too() {
        let mut memory = blank();
        let store = open(&mut memory);
        for (challenge, words) in [
            (Challenge::Always, "; every receiver is asked first"),
            (Challenge::Never, "; no receiver is asked first"),
            (Challenge::ByDialect, "public addresses"),
        ] {
            Allowed::obey(&store, Hooks::Challenge(challenge)).expect("there is room");
            assert_eq!(Allowed::recall(&store, &mut [0; _]).webhooks().challenge, challenge);
            assert!(shown(&store).ends_with(words), "{}", shown(&store));
        }
    }

    #[test]
    fn bad_hosts_and_too_many_are_refused_and_change_nothing() {
        let mut memory = blank();
        let store = open(&mut memory);
        let host = |bytes: usize| format!("{}.{}", "h".repeat(60), "h".repeat(bytes - 61));
        let (first, second, third) = (host(79), host(79), host(80));
        Allowed::obey(&store, Hooks::Host(&first)).expect("there is room");
        Allowed::obey(&store, Hooks::Host(&second.to_uppercase())).expect("it is the same one");
        assert_eq!(Allowed::obey(&store, Hooks::Host(&third)), Err(TOO_MUCH));
        Allowed::obey(&store, Hooks::Host(&host(79).replace('h', "i"))).expect("there is room");
        for bad in ["", "*", "a b", "http://a", "a:0", "a:http", "127.1", "mö", "user@a"] {
            assert_eq!(Allowed::obey(&store, Hooks::Host(bad)), Err(BAD_HOST), "{bad}");
        }
        assert!(Allowed::obey(&store, Hooks::Forget("b")).is_err());
        let mut room = [0; WEBHOOK_BYTES];
        assert_eq!(Allowed::recall(&store, &mut room).hosts.len(), 2);

        let mut memory = blank();
        let store = open(&mut memory);
        for host in ["a", "b", "c", "d"] {
            Allowed::obey(&store, Hooks::Host(host)).expect("there is room");
        }
        assert_eq!(Allowed::obey(&store, Hooks::Host("e")), Err(TOO_MUCH));
        Allowed::obey(&store, Hooks::Host("D")).expect("it is there already");
        assert!(shown(&store).ends_with("only to: a b c D"));
    }

    #[test]
    fn the_longest_answer_fits() {
        let hosts: Vec<String> = [39, 39, 39, 39].iter().map(|bytes| "h".repeat(*bytes)).collect();
        let hosts: Vec<&str> = hosts.iter().map(String::as_str).collect();
        let ranges = Ranges { loopback: true, private: true, link_local: true };
        let hosts = Words::from_slice(&hosts).expect("4 fit");
        let all = Allowed { is_on: true, plain_http: true, ranges, hosts, challenge: Challenge::Always };
        assert_eq!(all.to_bytes().expect("it fits").len(), WEBHOOK_BYTES);
        let answer = all.answer("from the next restart on: ");
        assert_eq!(answer.as_str(), format!("from the next restart on: {}", all));
    }

    #[test]
    fn what_nobody_typed_allows_nothing() {
        let mut memory = blank();
        let store = open(&mut memory);
        for bytes in [
            &[0x01][..],
            &[0x61],
            &[0xe1],
            &[0xff],
            b"\x81a b c d e",
            b"\x81a  b",
            b"\x81 a",
            b"\x81a ",
            b"\x81http://a",
            b"\x81\xff",
            b"\x81a:0",
        ] {
            store.save(Key::WEBHOOKS, bytes).expect("there is room");
            assert!(!Allowed::recall(&store, &mut [0; _]).is_on, "{bytes:?}");
        }
        store.save(Key::WEBHOOKS, b"\x81a b").expect("there is room");
        assert!(Allowed::recall(&store, &mut [0; _]).is_on);
    }

    #[test]
    fn wherever_the_power_goes_it_is_as_before_or_as_it_was_typed() {
        let mut before = blank();
        Allowed::obey(&open(&mut before), Hooks::Host("old.lan")).expect("there is room");
        for steps in 0.. {
            let mut memory = before.clone();
            let mut flash = RamFlash::new(&mut memory[..]);
            flash.cut_after(steps);
            let store = Store::new(flash, 0..FLASH_BYTES as u32);
            let done = Allowed::obey(&store, Hooks::Host("new.lan")).is_ok();
            let found = shown(&open(&mut memory));
            assert!(found.ends_with("to: old.lan new.lan") || (!done && found.ends_with("to: old.lan")), "{found}");
            if done {
                assert!(steps > 2, "{steps}");
                break;
            }
        }
    }
}
