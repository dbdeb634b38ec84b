//! The serial console at work.

use core::fmt::Write as _;

use embedded_io_async::{Read as _, Write as _};
use protocol_core::Node;

use super::{desk::Desk, guard::Guard, network};
use crate::{
    board::{Board as _, Key, here},
    console::{self, Command, Line, Trial},
    status::{Facts, Status},
};

/// What the console needs to answer.
pub(super) struct Room {
    pub(super) node: &'static Node<'static>,
    pub(super) facts: &'static Facts,
    pub(super) desk: &'static Desk,
    #[cfg_attr(not(feature = "emulated"), expect(dead_code, reason = "only a trial looks at it"))]
    pub(super) guard: &'static Guard,
}

#[embassy_executor::task]
pub(super) async fn listen(mut serial: here::Serial, room: Room) -> ! {
    let mut line = Line::new();
    loop {
        let mut byte = [0];
        // Nobody there: the cable is out, or a byte came that was none. The next one may be.
        let Ok(1) = serial.read(&mut byte).await else { continue };
        let Some(typed) = line.push(byte[0]) else { continue };
        let answer = match typed.and_then(console::parse) {
            Ok(Command::Status) => {
                tell_status(&mut serial, &room).await;
                continue;
            }
            Ok(command) => room.obey(command).await,
            Err(complaint) => say(format_args!("{complaint}\r\n")),
        };
        let _ = serial.write_all(answer.as_bytes()).await;
    }
}

async fn tell_status(serial: &mut here::Serial, room: &Room) {
    let mut status = Status::new(room.node, room.facts);
    let mut piece = [0; 64];
    loop {
        match status.fill(&mut piece) {
            0 => return,
            // Whoever does not listen misses it.
            filled => drop(serial.write_all(&piece[..filled]).await),
        }
    }
}

type Answer = heapless::String<{ console::HELP.len() }>;

fn say(text: core::fmt::Arguments<'_>) -> Answer {
    let mut answer = Answer::new();
    // cannot fail: help is the longest that is said.
    let _ = answer.write_fmt(text);
    answer
}

impl Room {
    async fn obey(&self, command: Command<'_>) -> Answer {
        let done = match command {
            Command::Help => return say(format_args!("{}", console::HELP)),
            Command::Wifi(_) | Command::ForgetWifi if !self.desk.has_radio => {
                return say(format_args!("there is no radio on this board\r\n"));
            }
            Command::Wifi(_) | Command::ForgetWifi if network::built_in().is_some() => {
                return say(format_args!("this image was built for one network, and joins no other\r\n"));
            }
            Command::Wifi(network) => {
                let kept = self.desk.store.save(Key::WIFI, &network.to_bytes()).await;
                self.desk.network.signal(Some(network));
                kept
            }
            Command::ForgetWifi => {
                self.desk.network.signal(None);
                self.desk.store.forget(Key::WIFI).await
            }
            Command::TimeServer(Some(server)) => match network::time_server(server) {
                Some(_) => {
                    let kept = self.desk.store.save(Key::TIME_SERVER, server.as_bytes()).await;
                    self.desk.time_server.signal(());
                    kept
                }
                None => return say(format_args!("that is no ADDRESS[:PORT]\r\n")),
            },
            Command::TimeServer(None) => {
                let kept = self.desk.store.forget(Key::TIME_SERVER).await;
                self.desk.time_server.signal(());
                kept
            }
            Command::Reboot => {
                self.desk.reboot();
                Ok(())
            }
            Command::Trial(trial) => return self.try_out(trial).await,
            Command::Status => Ok(()),
        };
        match done {
            Ok(()) => say(format_args!("ok\r\n")),
            Err(trouble) => say(format_args!("{trouble}\r\n")),
        }
    }

    #[cfg(not(feature = "emulated"))]
    async fn try_out(&self, _: Trial) -> Answer {
        say(format_args!("{}\r\n", console::Complaint::Unknown))
    }

    #[cfg(feature = "emulated")]
    async fn try_out(&self, trial: Trial) -> Answer {
        match trial {
            Trial::Panic => panic!("somebody asked for a \"panic\""),
            Trial::Overflow => {
                super::trial::overflow(0);
                say(format_args!("the stack has no end\r\n"))
            }
            Trial::Hang => super::trial::hang(),
            Trial::Stall => {
                self.guard.stall();
                say(format_args!("ok\r\n"))
            }
            Trial::Bench => super::trial::bench(self.node).await,
        }
    }
}
