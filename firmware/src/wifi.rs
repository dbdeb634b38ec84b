//! How a device joins a wireless network and stays in it, whatever the radio.

use core::fmt;

use embassy_sync::{blocking_mutex::raw::NoopRawMutex, signal::Signal};
use protocol_core::time::Millis;

/// A radio that can join a network.
#[expect(async_fn_in_trait, reason = "one executor, one thread: no future of ours is Send")]
pub trait Radio {
    /// Joins a network, and leaves the one before.
    ///
    /// # Errors
    /// Says why it did not.
    ///
    /// # Cancellation
    /// May be dropped: the next call begins anew.
    async fn join(&mut self, network: &Network) -> Result<(), JoinError>;

    /// Waits until the network is lost.
    ///
    /// # Cancellation
    /// May be dropped: whether it is lost is asked again by the next call.
    async fn wait_until_lost(&mut self);
}

/// The radio of a board that has none.
#[derive(Clone, Copy, Debug)]
pub enum NoRadio {}

impl Radio for NoRadio {
    async fn join(&mut self, _: &Network) -> Result<(), JoinError> {
        match *self {}
    }

    async fn wait_until_lost(&mut self) {
        match *self {}
    }
}

/// The longest name of a network (IEEE 802.11).
pub const SSID_MAX: usize = 32;
/// The shortest and the longest key of WPA2 and WPA3.
pub const PASSWORD_MIN: usize = 8;
/// See [`PASSWORD_MIN`].
pub const PASSWORD_MAX: usize = 63;

/// A network and its key; an open one has an empty key.
#[derive(Clone, PartialEq, Eq)]
pub struct Network {
    ssid: heapless::String<SSID_MAX>,
    password: heapless::String<PASSWORD_MAX>,
}

/// Nobody is to find the key in a log.
impl fmt::Debug for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Network({:?})", self.ssid)
    }
}

/// What is wrong with a network or its key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BadNetwork {
    /// The name is empty or longer than [`SSID_MAX`].
    Ssid,
    /// The key is too short or too long.
    Password,
}

impl BadNetwork {
    /// What is wrong, and what would be right.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Ssid => "the name of a network has 1 to 32 bytes",
            Self::Password => "a password has 8 to 63 characters; leave it out for an open network",
        }
    }
}

impl fmt::Display for BadNetwork {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl core::error::Error for BadNetwork {}

impl Network {
    /// Checks a name and a key.
    ///
    /// # Errors
    /// Says what no network could have.
    pub fn new(ssid: &str, password: &str) -> Result<Self, BadNetwork> {
        if ssid.is_empty() {
            return Err(BadNetwork::Ssid);
        }
        if !password.is_empty() && password.len() < PASSWORD_MIN {
            return Err(BadNetwork::Password);
        }
        Ok(Self {
            ssid: heapless::String::try_from(ssid).map_err(|_| BadNetwork::Ssid)?,
            password: heapless::String::try_from(password).map_err(|_| BadNetwork::Password)?,
        })
    }

    /// Its name.
    #[must_use]
    pub fn ssid(&self) -> &str {
        &self.ssid
    }

    /// Its key.
    #[must_use]
    pub fn password(&self) -> &str {
        &self.password
    }

    /// As it is kept in flash: the length of the name, the name, the key.
    #[must_use]
    pub fn to_bytes(&self) -> heapless::Vec<u8, { 1 + SSID_MAX + PASSWORD_MAX }> {
        let mut bytes = heapless::Vec::new();
        // cannot fail: that is how long it may be.
        let _ = bytes.push(self.ssid.len() as u8);
        let _ = bytes.extend_from_slice(self.ssid.as_bytes());
        let _ = bytes.extend_from_slice(self.password.as_bytes());
        bytes
    }

    /// Reads what [`Network::to_bytes`] wrote.
    #[must_use]
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (length, rest) = bytes.split_first()?;
        let (ssid, password) = rest.split_at_checked(usize::from(*length))?;
        Self::new(core::str::from_utf8(ssid).ok()?, core::str::from_utf8(password).ok()?).ok()
    }
}

/// Why a radio did not join.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum JoinError {
    /// No network of that name answers.
    NoSuchNetwork,
    /// The network did not take the key.
    WrongPassword,
    /// The network is there and wants nothing to do with us.
    Refused,
    /// Nothing came of it in time.
    Timeout,
    /// The radio itself does not work.
    Radio,
}

impl JoinError {
    /// What happened and what to do about it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::NoSuchNetwork => "no such network: is the name right, is it near, and is it on 2.4 GHz?",
            Self::WrongPassword => "wrong password",
            Self::Refused => "the access point refuses this device",
            Self::Timeout => "no answer in time: is the signal too weak?",
            Self::Radio => "the radio does not work",
        }
    }
}

impl fmt::Display for JoinError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl core::error::Error for JoinError {}

/// What there is to say about the radio, for the log and the console.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Link {
    /// Nobody has said which network to join.
    NoNetwork,
    /// It is being joined.
    Joining,
    /// It is joined.
    Joined,
    /// It could not be joined; it is tried again then.
    Failed(JoinError, Millis),
    /// It was joined, and is gone.
    Lost,
}

impl Link {
    /// What there is to say, and to do.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::NoNetwork => {
                "no network to join: type wifi SSID PASSWORD on the serial console, or build with MOTE_WIFI_SSID and MOTE_WIFI_PASSWORD"
            }
            Self::Joining => "joining the network",
            Self::Joined => "joined the network",
            Self::Failed(error, _) => error.as_str(),
            Self::Lost => "the network is lost",
        }
    }
}

/// Where the network to join comes from. A new one takes effect at once.
pub type NetworkChange = Signal<NoopRawMutex, Network>;

/// Joins the network, stays in it, and joins the next one when there is a change.
///
/// `sleep` waits, `tell` hears what happens.
pub async fn stay_joined<R: Radio>(
    radio: &mut R,
    network: Option<Network>,
    change: &NetworkChange,
    sleep: impl AsyncFn(Millis),
    tell: impl Fn(Link),
) -> ! {
    let mut network = network;
    loop {
        let Some(wanted) = &network else {
            tell(Link::NoNetwork);
            network = Some(change.wait().await);
            continue;
        };
        network = match embassy_futures::select::select(try_to_stay(radio, wanted, &sleep, &tell), change.wait()).await
        {
            embassy_futures::select::Either::First(never) => match never {},
            embassy_futures::select::Either::Second(changed) => Some(changed),
        };
    }
}

async fn try_to_stay<R: Radio>(
    radio: &mut R,
    network: &Network,
    sleep: &impl AsyncFn(Millis),
    tell: &impl Fn(Link),
) -> core::convert::Infallible {
    let mut pause = PAUSE_MIN;
    loop {
        tell(Link::Joining);
        match radio.join(network).await {
            Ok(()) => {
                pause = PAUSE_MIN;
                tell(Link::Joined);
                radio.wait_until_lost().await;
                tell(Link::Lost);
            }
            Err(error) => {
                tell(Link::Failed(error, pause));
                sleep(pause).await;
                pause = Millis(pause.0 * 2).min(PAUSE_MAX);
            }
        }
    }
}

/// How long a device waits after the first failure; twice as long after each one that follows.
const PAUSE_MIN: Millis = Millis(1_000);
/// How long it waits at most: an access point that has been restarted is found again within a minute.
const PAUSE_MAX: Millis = Millis(60_000);

#[cfg(test)]
mod tests {
    extern crate std;

    use core::{
        cell::{Cell, RefCell},
        future::{pending, poll_fn},
        pin::pin,
        task::{Context, Poll, Waker},
    };
    use std::{format, vec, vec::Vec};

    use super::*;

    #[test]
    fn a_network_is_checked_kept_and_read_again() {
        for (ssid, password) in [("a", ""), ("my net", "12345678"), (&"n".repeat(32), &"p".repeat(63))] {
            let network = Network::new(ssid, password).expect("it is good");
            assert_eq!(Network::from_bytes(&network.to_bytes()), Some(network));
        }
        assert_eq!(Network::new("", "12345678"), Err(BadNetwork::Ssid));
        assert_eq!(Network::new(&"n".repeat(33), ""), Err(BadNetwork::Ssid));
        assert_eq!(Network::new("a", "1234567"), Err(BadNetwork::Password));
        assert_eq!(Network::new("a", &"p".repeat(64)), Err(BadNetwork::Password));
        assert!(BadNetwork::Ssid.as_str().contains(&format!("{SSID_MAX}")));
        assert!(BadNetwork::Password.as_str().contains(&format!("{PASSWORD_MIN} to {PASSWORD_MAX}")));
        for bad in [&b""[..], b"\x05abc", b"\x01\xff", b"\x00", b"\x01a1234"] {
            assert_eq!(Network::from_bytes(bad), None, "{bad:?}");
        }
    }

    #[test]
    fn nobody_finds_the_key_in_a_log() {
        let network = Network::new("home", "correct horse").expect("it is good");
        assert!(!format!("{network:?}").contains("horse"));
    }

    /// A radio that does as it was told, call by call; when there is nothing left it stays joined.
    #[derive(Default)]
    struct Script {
        outcomes: Vec<Result<(), JoinError>>,
        asked: RefCell<Vec<std::string::String>>,
        is_lost: Cell<bool>,
    }

    struct Fake<'s>(&'s Script, usize);

    impl Radio for Fake<'_> {
        async fn join(&mut self, network: &Network) -> Result<(), JoinError> {
            self.0.asked.borrow_mut().push(network.ssid().into());
            self.1 += 1;
            self.0.outcomes.get(self.1 - 1).copied().unwrap_or(Ok(()))
        }

        async fn wait_until_lost(&mut self) {
            poll_fn(|_| if self.0.is_lost.take() { Poll::Ready(()) } else { Poll::Pending }).await;
        }
    }

    #[derive(Default)]
    struct Heard {
        links: RefCell<Vec<Link>>,
        slept: RefCell<Vec<u64>>,
    }

    /// Runs the loop by polling it between the steps of a test. Pauses are over at once.
    fn run(script: &Script, first: Option<&str>, steps: &[&dyn Fn(&NetworkChange)]) -> Heard {
        let heard = Heard::default();
        let change = NetworkChange::new();
        let named = |name: &str| Network::new(name, "12345678").expect("it is good");
        {
            let mut radio = Fake(script, 0);
            let sleep = async |span: Millis| {
                heard.slept.borrow_mut().push(span.0);
                if heard.slept.borrow().len() > 20 {
                    pending::<()>().await;
                }
            };
            let tell = |link| heard.links.borrow_mut().push(link);
            let mut going = pin!(stay_joined(&mut radio, first.map(named), &change, sleep, tell));
            let mut cx = Context::from_waker(Waker::noop());
            assert!(going.as_mut().poll(&mut cx).is_pending());
            for step in steps {
                step(&change);
                assert!(going.as_mut().poll(&mut cx).is_pending());
            }
        }
        heard
    }

    #[test]
    fn failures_are_told_in_words_and_tried_again_with_longer_and_longer_pauses() {
        let outcomes = vec![Err(JoinError::WrongPassword); 9];
        let heard = run(&Script { outcomes, ..Script::default() }, Some("home"), &[]);
        assert_eq!(*heard.slept.borrow(), [1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000, 60_000]);
        assert_eq!(heard.links.borrow()[1], Link::Failed(JoinError::WrongPassword, Millis(1_000)));
        assert_eq!(heard.links.borrow().last(), Some(&Link::Joined));
    }

    #[test]
    fn a_network_that_comes_back_is_joined_again_at_once() {
        let script = Script {
            outcomes: vec![Ok(()), Err(JoinError::NoSuchNetwork), Ok(()), Err(JoinError::Timeout)],
            ..Script::default()
        };
        let heard = run(&script, Some("home"), &[&|_| script.is_lost.set(true), &|_| script.is_lost.set(true)]);
        assert_eq!(*heard.slept.borrow(), [1_000, 1_000], "the pause begins anew after each success");
        assert_eq!(heard.links.borrow().iter().filter(|link| **link == Link::Joined).count(), 3);
    }

    #[test]
    fn the_network_can_be_changed_at_any_time() {
        let script = Script { outcomes: vec![Err(JoinError::Timeout); 30], ..Script::default() };
        let other = Network::new("other", "").expect("it is good");
        let heard = run(
            &script,
            None,
            &[&|change| change.signal(Network::new("home", "12345678").expect("it is good")), &|change| {
                change.signal(other.clone())
            }],
        );
        assert_eq!(heard.links.borrow().first(), Some(&Link::NoNetwork));
        let asked = script.asked.borrow();
        assert!(asked.first().is_some_and(|name| name == "home") && asked.last().is_some_and(|name| name == "other"));
    }
}
