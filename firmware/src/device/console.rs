//! The serial console at work.

use embedded_io_async::{ErrorType, Read as _, Write as _};
use protocol_core::{Node, door::Caller};

use super::{desk::Desk, network};
#[cfg(feature = "emulated")]
use super::{guard::Guard, trial};
use crate::{
    board::{Board as _, Key, here},
    console::{self, Command, Line},
    keyring::{Keyring, Token},
    mdns::{self, LocalName, Wanted},
    reach::Allowed,
    recent::Recent,
    roots::{Paste, ROOTS, Roots, Taken},
    signing::Signer,
    status::{Facts, Status},
};

/// What the console needs to answer.
pub(super) struct Room {
    pub(super) node: &'static Node<'static>,
    pub(super) facts: &'static Facts,
    pub(super) desk: &'static Desk,
    pub(super) signer: Option<&'static Signer>,
    pub(super) local: Option<&'static LocalName>,
    #[cfg(feature = "emulated")]
    pub(super) guard: &'static Guard,
}

#[embassy_executor::task]
pub(super) async fn listen(mut serial: here::Serial, room: Room, mut unseen: Option<Token>) -> ! {
    let mut line = Line::new();
    let mut paste = Paste::default();
    loop {
        let mut byte = [0];
        // Nobody there: the cable is out, or a byte came that was none. The next one may be.
        let Ok(1) = serial.read(&mut byte).await else { continue };
        if let Some(token) = &unseen
            && tell_token(&mut serial, token).await.is_ok()
        {
            unseen = None;
        }
        let Some(typed) = line.push(byte[0]) else { continue };
        let roots = Roots::new(&room.desk.store);
        match typed.map(|typed| paste.take(&roots, typed)) {
            Ok(Taken::Not) => {}
            Ok(Taken::More) => continue,
            Ok(Taken::Done(done)) => {
                tell(&mut serial, done.map_or_else(|trouble| trouble.0, |()| LATER)).await;
                continue;
            }
            Err(_) => paste.give_up(),
        }
        let answer = match typed.and_then(console::parse) {
            Ok(Command::Status) => {
                let mut status = Status::new(room.node, room.facts);
                tell_all(&mut serial, &mut |piece| status.fill(piece)).await;
                continue;
            }
            Ok(Command::Log) => {
                // Whoever has the device in their hands may know everything.
                let mut recent = Recent::new(room.node, Caller::GUEST, 0);
                tell_all(&mut serial, &mut |piece| recent.fill(piece)).await;
                continue;
            }
            Ok(Command::Keys(keys)) => {
                let keyring = Keyring::new(&room.desk.store);
                let answer =
                    room.node.change_door(|door| keyring.obey(keys, door, |bytes| room.node.fill_random(bytes)));
                tell(&mut serial, &answer).await;
                continue;
            }
            Ok(Command::Hooks(hooks)) => {
                let answer = Allowed::obey(&room.desk.store, hooks);
                tell(&mut serial, answer.as_ref().map_or_else(|trouble| trouble.0, |answer| answer)).await;
                continue;
            }
            Ok(Command::Name(None)) => {
                let name = room.local.and_then(LocalName::get);
                let (name, domain) = name.as_deref().map_or(("none at the moment", ""), |name| (name, ".local"));
                for part in [name, domain, "\r\n"] {
                    let _ = serial.write_all(part.as_bytes()).await;
                }
                continue;
            }
            Ok(Command::Trust) => {
                tell_roots(&mut serial, &roots).await;
                continue;
            }
            #[cfg(feature = "emulated")]
            Ok(Command::Trial(trial)) => {
                trial::run(trial, &room, &mut serial).await;
                continue;
            }
            Ok(command) => room.obey(command),
            Err(complaint) => complaint.as_str(),
        };
        tell(&mut serial, answer).await;
    }
}

const LATER: &str = "ok, from the next restart on";

/// Answers. Whoever does not listen misses it.
async fn tell(serial: &mut here::Serial, answer: &str) {
    for part in [answer, "\r\n"] {
        let _ = serial.write_all(part.as_bytes()).await;
    }
}

/// Shows the token that was made at this start to whoever types first: before that nobody may be there to read it.
async fn tell_token(serial: &mut here::Serial, token: &Token) -> Result<(), <here::Serial as ErrorType>::Error> {
    for part in ["the token of owner, shown this once: ", token.as_str(), "\r\n"] {
        serial.write_all(part.as_bytes()).await?;
    }
    Ok(())
}

/// Shows whom it trusts, from the next start on at the latest.
async fn tell_roots(serial: &mut here::Serial, roots: &Roots<'_, here::Flash>) {
    let mut is_any = false;
    for place in 0..ROOTS {
        if let Some(about) = roots.about(place) {
            is_any = true;
            tell(serial, &about).await;
        }
    }
    if !is_any {
        tell(serial, "none: no https gets through; paste a root certificate to add it").await;
    }
}

/// Tells a document, a piece at a time.
async fn tell_all(serial: &mut here::Serial, fill: &mut dyn FnMut(&mut [u8]) -> usize) {
    let mut piece = [0; 64];
    loop {
        match fill(&mut piece) {
            0 => return,
            filled => drop(serial.write_all(&piece[..filled]).await),
        }
    }
}

impl Room {
    /// Does what was asked for, and says what came of it.
    fn obey(&self, command: Command<'_>) -> &'static str {
        let done = match command {
            Command::Help => return console::HELP,
            Command::Wifi(network) => self.desk.can_change_network().and_then(|()| {
                let kept = self.desk.store.save(Key::WIFI, &network.to_bytes());
                self.desk.network.signal(network);
                kept
            }),
            Command::ForgetWifi => self.desk.forget_wifi(),
            Command::TimeServer(Some(server)) if network::time_server(server).is_none() => {
                return "that is no ADDRESS[:PORT]";
            }
            Command::TimeServer(server) => {
                let kept = self.desk.store.save(Key::TIME_SERVER, server.unwrap_or_default().as_bytes());
                self.desk.time_server.signal(());
                kept
            }
            Command::Name(Some(name)) => mdns::keep(&self.desk.store, name).map(|()| {
                if let Some(wanted) = Wanted::new(name) {
                    self.desk.name.signal(wanted);
                }
            }),
            Command::Findable(is_findable) => {
                let kept = self.desk.store.save(Key::FINDABLE, &[is_findable.into()]);
                return kept.map_or_else(|trouble| trouble.0, |()| LATER);
            }
            Command::Names(list, words) => {
                let kept = list.keep(&self.desk.store, &words);
                return kept.map_or_else(|trouble| trouble.0, |()| LATER);
            }
            Command::Distrust(number) => {
                let forgotten = Roots::new(&self.desk.store).forget(number);
                return forgotten.map_or_else(|trouble| trouble.0, |()| LATER);
            }
            Command::RotateKey => {
                let Some(signer) = self.signer else { return "nothing is signed here" };
                let done = signer.rotate(&self.desk.store, |bytes| self.node.fill_random(bytes));
                return done
                    .map_or_else(|trouble| trouble.0, |()| "ok; the key before stays published until the next one");
            }
            Command::Reboot => {
                self.desk.reboot();
                Ok(())
            }
            Command::Status
            | Command::Log
            | Command::Name(None)
            | Command::Keys(_)
            | Command::Hooks(_)
            | Command::Trust
            | Command::Trial(_) => {
                return console::Complaint::Unknown.as_str();
            }
        };
        done.map_or_else(|trouble| trouble.0, |()| "ok")
    }
}
