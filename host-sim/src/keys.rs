//! Who gets in: what the command line, the environment and a file say about it.

use core::{fmt, net::IpAddr};
use std::{
    fs, io,
    path::{Path, PathBuf},
};

use protocol_core::{
    Access,
    door::{Classes, Door, Principal, Unfit},
};

/// Somebody with one token, and what that one may do. Of the token no more is kept than its digest.
#[derive(Clone)]
pub(crate) struct Grant(Principal);

impl Grant {
    /// Reads `NAME:CLASSES:TOKEN`.
    pub(crate) fn parse(text: &str) -> Result<Self, BadGrant> {
        let mut parts = text.splitn(3, ':');
        let (Some(name), Some(classes), Some(token)) = (parts.next(), parts.next(), parts.next()) else {
            return Err(BadGrant::Form);
        };
        Self::new(name, Classes::parse(classes).ok_or(BadGrant::Unfit(Unfit::Classes))?, token)
    }

    /// Reads `NAME:CLASSES:TOKEN`, or a token alone: whoever has that one owns the device.
    fn parse_or_own(text: &str) -> Result<Self, BadGrant> {
        if text.contains(':') { Self::parse(text) } else { Self::new("owner", Classes::ALL, text) }
    }

    fn new(name: &str, classes: Classes, token: &str) -> Result<Self, BadGrant> {
        Principal::new(name, classes, token).map(Self).map_err(BadGrant::Unfit)
    }

    fn name(&self) -> &str {
        &self.0.name
    }
}

impl PartialEq for Grant {
    fn eq(&self, other: &Self) -> bool {
        let (Self(one), Self(other)) = (self, other);
        one.name == other.name && one.classes == other.classes && one.shares_token_with(other)
    }
}

impl Eq for Grant {}

/// Never the token.
impl fmt::Debug for Grant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:..", self.0.name, self.0.classes)
    }
}

/// What is wrong with a grant. It never tells the token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BadGrant {
    /// It has no three parts.
    Form,
    /// One of its parts is wrong.
    Unfit(Unfit),
}

impl fmt::Display for BadGrant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Form => f.write_str("it takes NAME:CLASSES:TOKEN, with classes such as read+act"),
            Self::Unfit(unfit) => unfit.fmt(f),
        }
    }
}

/// What is wrong with what was said about who gets in. It never tells a token.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum BadKeys {
    /// Something here is no grant.
    Grant(String, BadGrant),
    /// The file cannot be read.
    File(PathBuf, String),
    /// The file has no token.
    Empty(PathBuf),
    /// Somebody has more than two tokens.
    Three(String),
    /// Somebody has two lists of classes.
    Classes(String),
    /// Two have the same token.
    Shared(String, String),
    /// There is room for so many only.
    Full(usize),
    /// Nobody is known, and others than those on this machine would get in.
    Unguarded(IpAddr),
}

impl fmt::Display for BadKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Grant(place, bad) => write!(f, "{place}: {bad}"),
            Self::File(path, error) => write!(f, "--token-file {}: {error}", path.display()),
            Self::Empty(path) => write!(f, "--token-file {}: there is no token in it", path.display()),
            Self::Three(name) => write!(f, "{name} has more than two tokens: the old one and the new one are two"),
            Self::Classes(name) => write!(f, "the two tokens of {name} have other classes each"),
            Self::Shared(one, other) => write!(f, "{one} and {other} have the same token"),
            Self::Full(room) => write!(f, "there is room for {room} names with tokens"),
            Self::Unguarded(address) => write!(
                f,
                "on {address} others can reach it: say who may with --token NAME:CLASSES:TOKEN, --token-file FILE or \
                 MOTE_TOKEN, or let everybody in with --open"
            ),
        }
    }
}

impl core::error::Error for BadKeys {}

/// Who gets in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Keys {
    /// From the command line, or else from the environment.
    pub(crate) given: Vec<Grant>,
    /// Where more of them are.
    pub(crate) file: Option<PathBuf>,
    /// All of them, when the file was read last.
    pub(crate) known: Vec<Grant>,
    /// Those that were given are from the environment.
    pub(crate) is_environment: bool,
    /// `--open` was said.
    pub(crate) is_open: bool,
}

impl Keys {
    /// Adds what the environment says, if the command line says nothing: tokens, with spaces or lines between them.
    pub(crate) fn add_environment(&mut self, value: &str) -> Result<(), BadKeys> {
        if !self.is_given() {
            let grants = value.split_ascii_whitespace().map(Grant::parse_or_own);
            self.given = grants.collect::<Result<_, _>>().map_err(|bad| BadKeys::Grant("MOTE_TOKEN".into(), bad))?;
            self.is_environment = self.is_given();
        }
        Ok(())
    }

    /// Reads the file, if there is one.
    pub(crate) fn read(&mut self) -> Result<(), BadKeys> {
        let mut known = self.given.clone();
        if let Some(path) = &self.file {
            known.extend(read_file(path)?);
        }
        self.known = known;
        Ok(())
    }

    /// Whether somebody said who may come in, even if that is nobody any more.
    pub(crate) const fn is_given(&self) -> bool {
        !self.given.is_empty() || self.file.is_some()
    }

    /// Whether everybody gets in: if that was said, or nothing was and only this machine can reach us.
    pub(crate) fn is_open(&self, bind: IpAddr) -> bool {
        self.is_open || !self.is_given() && bind.to_canonical().is_loopback()
    }

    /// Everybody who is known, where there is room for so many.
    pub(crate) fn principals(&self, room: usize) -> Result<Vec<Principal>, BadKeys> {
        let mut principals: Vec<Principal> = Vec::new();
        for Grant(grant) in &self.known {
            let name = || grant.name.as_str().to_owned();
            if let Some(same) = principals.iter().find(|known| known.shares_token_with(grant)) {
                return Err(BadKeys::Shared(same.name.as_str().to_owned(), name()));
            }
            match principals.iter_mut().find(|known| known.name == grant.name) {
                Some(known) if known.tokens.iter().flatten().count() == 2 => return Err(BadKeys::Three(name())),
                Some(known) if known.classes != grant.classes => return Err(BadKeys::Classes(name())),
                Some(known) => known.tokens = [grant.tokens[0], known.tokens[0]],
                None => principals.push(grant.clone()),
            }
        }
        if principals.len() > room { Err(BadKeys::Full(room)) } else { Ok(principals) }
    }
}

/// One grant in a line; empty lines and those that begin with `#` are none.
fn read_file(path: &Path) -> Result<Vec<Grant>, BadKeys> {
    let cannot = |error: io::Error| BadKeys::File(path.to_owned(), error.to_string());
    let text = fs::read_to_string(path).map_err(cannot)?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let is_private = fs::metadata(path).map_err(cannot)?.permissions().mode() & 0o077 == 0;
        if !is_private {
            let path = path.display();
            eprintln!("host-sim: other users may read {path} and the tokens in it: chmod 600 {path}");
        }
    }
    let mut grants = Vec::new();
    for (line, number) in text.lines().map(str::trim).zip(1..) {
        if !line.is_empty() && !line.starts_with('#') {
            let place = || format!("--token-file {}, line {number}", path.display());
            grants.push(Grant::parse(line).map_err(|bad| BadKeys::Grant(place(), bad))?);
        }
    }
    Ok(grants)
}

/// Who is known, for people: names and classes.
pub(crate) fn listed(grants: &[Grant]) -> String {
    let mut seen: Vec<&str> = Vec::new();
    let mut list = Vec::new();
    for grant in grants {
        let (name, classes) = (grant.name(), grant.0.classes);
        if !seen.contains(&name) {
            seen.push(name);
            list.push(format!("{name} ({classes})"));
        }
    }
    if list.is_empty() { "nobody".to_owned() } else { list.join(", ") }
}

/// Warns of those who are known in vain.
pub(crate) fn warn(principals: &[Principal]) {
    for Principal { name, .. } in principals.iter().filter(|known| !known.classes.has(Access::Read)) {
        eprintln!("host-sim: {name} may not read, so it cannot call");
    }
}

/// Makes the door know these, and nobody else. Who is known already keeps its tasks.
pub(crate) fn make_known(door: &mut Door<'_>, principals: &[Principal]) {
    let gone: Vec<_> = door
        .principals()
        .filter(|known| principals.iter().all(|wanted| wanted.name != known.name))
        .map(|known| known.name.clone())
        .collect();
    for name in gone {
        door.forget(&name);
    }
    // Who gets the token of somebody else can have it when that one has another.
    let mut waiting: Vec<&Principal> = principals.iter().collect();
    while !waiting.is_empty() {
        let before = waiting.len();
        waiting.retain(|wanted| door.know((*wanted).clone()).is_err());
        if waiting.len() == before {
            // These have changed their tokens with each other: they are new ones.
            for wanted in &waiting {
                door.forget(&wanted.name);
            }
            for wanted in waiting.drain(..) {
                // cannot fail: no token is of two, and there is room.
                let _ = door.know(wanted.clone());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use protocol_core::door::{Address, Allowance, Caller, Credential, DoorStorage};
    use protocol_core::time::Millis;

    use super::*;

    fn keys(grants: &[&str]) -> Keys {
        let given = grants.iter().map(|grant| Grant::parse(grant).unwrap()).collect();
        let mut keys = Keys { given, ..Keys::default() };
        keys.read().unwrap();
        keys
    }

    fn caller(door: &mut Door<'_>, token: &str) -> Option<Caller> {
        let credential = Credential { name: None, token: token.as_bytes() };
        door.admit(Millis(0), Address::default(), Some(credential)).ok()
    }

    fn is_let_in(door: &mut Door<'_>, token: &str) -> bool {
        caller(door, token).is_some()
    }

    #[test]
    fn a_grant_has_three_parts_and_hides_the_last() {
        let grant = Grant::parse("anna:read+act:a-token:with-colons").unwrap();
        assert_eq!(grant.name(), "anna");
        assert!(Principal::new("a", Classes::ALL, "a-token:with-colons").unwrap().shares_token_with(&grant.0));
        assert_eq!(format!("{grant:?}"), "anna:read+act:..");
        for (text, bad) in [
            ("annas-secret-token", BadGrant::Form),
            ("anna:annas-secret-token", BadGrant::Form),
            ("anna:all:annas-secret-token", BadGrant::Unfit(Unfit::Classes)),
            ("an na:read:annas-secret-token", BadGrant::Unfit(Unfit::Name)),
            ("anna:read:secret", BadGrant::Unfit(Unfit::Token)),
        ] {
            assert_eq!(Grant::parse(text), Err(bad));
            assert!(!bad.to_string().contains("secret"));
        }
    }

    #[test]
    fn no_text_of_a_token_is_kept() {
        // It is what the door keeps, which has digests, and nothing beside it.
        assert_eq!(size_of::<Grant>(), size_of::<Principal>());
        let grant = |text| Grant::parse(text).unwrap();
        assert_eq!(grant("anna:read:annas-first-token"), grant("anna:read:annas-first-token"));
        assert_ne!(grant("anna:read:annas-first-token"), grant("anna:read:annas-second-token"));
    }

    #[test]
    fn the_environment_counts_where_the_command_line_says_nothing() {
        let mut env = Keys::default();
        env.add_environment("the-owners-own-token\n anna:read:annas-secret-token").unwrap();
        assert_eq!(format!("{:?}", env.given), "[owner:read+act+operator:.., anna:read:..]");
        let mut said = keys(&["ben:act:bens-secret-token"]);
        said.add_environment("the-owners-own-token").unwrap();
        assert_eq!(format!("{:?}", said.given), "[ben:act:..]");
        let mut nothing = Keys::default();
        nothing.add_environment(" ").unwrap();
        assert!(!nothing.is_given());
        let bad = Keys::default().add_environment("short").unwrap_err().to_string();
        assert!(bad.starts_with("MOTE_TOKEN: a token has 16 to") && !bad.contains("short"), "{bad}");
    }

    #[test]
    fn everybody_gets_in_only_where_nobody_else_can_reach_it_or_somebody_said_so() {
        for (address, is_loopback) in [
            ("127.0.0.1", true),
            ("127.1.2.3", true),
            ("::1", true),
            ("::ffff:127.0.0.1", true),
            ("0.0.0.0", false),
            ("::", false),
            ("192.168.0.7", false),
        ] {
            let address = address.parse().unwrap();
            assert_eq!(Keys::default().is_open(address), is_loopback, "{address}");
            assert!(!keys(&["anna:read:annas-secret-token"]).is_open(address));
            let open = Keys { is_open: true, ..keys(&["anna:read:annas-secret-token"]) };
            assert!(open.is_open(address));
            // A file that was emptied is no reason to open.
            assert!(!Keys { file: Some("tokens".into()), ..Keys::default() }.is_open(address));
        }
    }

    #[test]
    fn a_name_has_an_old_and_a_new_token_and_they_are_its_own() {
        let two = keys(&["anna:read:annas-first-token", "ben:act:bens-secret-token", "anna:read:annas-second-token"]);
        let principals = two.principals(2).unwrap();
        assert_eq!(principals.len(), 2);
        let mut storage = DoorStorage::<2, 1>::new();
        let mut door = Door::new(&mut storage, Allowance::UNLIMITED);
        make_known(&mut door, &principals);
        for token in ["annas-first-token", "annas-second-token", "bens-secret-token"] {
            assert!(is_let_in(&mut door, token), "{token}");
        }
        assert_eq!(two.principals(1).unwrap_err(), BadKeys::Full(1));
        for (grants, bad) in [
            (&["anna:read:annas-first-token", "ben:read:annas-first-token"][..], "anna and ben have the same token"),
            (&["anna:read:annas-first-token", "anna:act:annas-second-token"][..], "other classes"),
            (&["anna:read:annas-token-no-1", "anna:read:annas-token-no-2", "anna:read:annas-token-no-3"][..], "two"),
        ] {
            let bad_keys = keys(grants).principals(9).unwrap_err().to_string();
            assert!(bad_keys.contains(bad) && !bad_keys.contains("-token"), "{bad_keys}");
        }
    }

    #[test]
    fn who_is_not_named_again_is_forgotten_and_tokens_can_change_hands() {
        let mut storage = DoorStorage::<2, 1>::new();
        let mut door = Door::new(&mut storage, Allowance::UNLIMITED);
        let mut know = |grants: &[&str]| {
            make_known(&mut door, &keys(grants).principals(2).unwrap());
            ["annas-first-token", "bens-secret-token"].map(|token| is_let_in(&mut door, token))
        };
        assert_eq!(know(&["anna:read:annas-first-token", "ben:act:bens-secret-token"]), [true, true]);
        assert_eq!(know(&["ben:act:annas-first-token", "anna:read:bens-secret-token"]), [true, true]);
        assert_eq!(know(&["carl:read:annas-first-token"]), [true, false]);
        assert_eq!(know(&[]), [false, false]);
    }

    #[test]
    fn only_who_changes_tokens_with_another_is_somebody_new() {
        const FIRST: [&str; 3] =
            ["anna:act:annas-first-token", "ben:act:bens-secret-token", "carl:act:carls-secret-token"];
        let callers_after = |grants: &[&str], tokens: [&str; 3]| {
            let mut storage = DoorStorage::<3, 1>::new();
            let mut door = Door::new(&mut storage, Allowance::UNLIMITED);
            make_known(&mut door, &keys(&FIRST).principals(3).unwrap());
            let before = FIRST.map(|grant| caller(&mut door, grant.rsplit(':').next().unwrap()).unwrap());
            make_known(&mut door, &keys(grants).principals(3).unwrap());
            let after = tokens.map(|token| caller(&mut door, token).unwrap());
            [0, 1, 2].map(|place| before[place] == after[place])
        };
        // Wherever the third one stands.
        for grants in [
            ["carl:act:carls-secret-token", "ben:act:annas-first-token", "anna:act:bens-secret-token"],
            ["ben:act:annas-first-token", "anna:act:bens-secret-token", "carl:act:carls-secret-token"],
        ] {
            let tokens = ["bens-secret-token", "annas-first-token", "carls-secret-token"];
            assert_eq!(callers_after(&grants, tokens), [false, false, true]);
        }
        // A token that is handed on costs nobody anything, whoever is named first.
        let mut grants = ["carl:act:bens-secret-token", "ben:act:annas-first-token", "anna:act:annas-second-token"];
        for _ in 0..2 {
            let tokens = ["annas-second-token", "annas-first-token", "bens-secret-token"];
            assert_eq!(callers_after(&grants, tokens), [true, true, true]);
            grants.reverse();
        }
    }
}
