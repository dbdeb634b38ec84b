//! How the device is, as a JSON document that is made a member at a time: no buffer holds all of it.

use core::{
    cell::Cell,
    fmt::{self, Write as _},
    net::Ipv4Addr,
};

use protocol_core::{
    Limits, Node,
    push::PushCounts,
    time::{Millis, UnixMillis},
};

use crate::reset::{DETAIL_MAX, Past};

/// What does not change while the device runs, and how to measure what does.
pub struct Facts {
    /// What the board calls itself.
    pub board: &'static str,
    /// Why it started.
    pub past: Past,
    /// Measures the stack, where somebody can.
    pub stack: Option<fn() -> Stack>,
    /// How it is connected; whoever knows keeps it up to date.
    pub network: Connection,
}

/// How the device is connected, as far as it knows: for somebody at the console who sees no log.
#[derive(Debug, Default)]
pub struct Connection {
    /// Where it is to be found.
    pub address: Cell<Option<Ipv4Addr>>,
    /// What there is to say about the radio, in words.
    pub wifi: Cell<Option<&'static str>>,
}

/// How much stack is needed and how much there is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stack {
    /// The deepest that it has been.
    pub deepest_bytes: usize,
    /// The deepest that it can be.
    pub all_bytes: usize,
}

/// The status of one moment, while it is being read.
pub struct Status<'a> {
    facts: &'a Facts,
    now: Millis,
    time: Option<UnixMillis>,
    limits: Limits,
    push: Option<PushCounts>,
    is_open: bool,
    principals: usize,
    stack: Option<Stack>,
    address: Option<Ipv4Addr>,
    wifi: Option<&'static str>,
    member: usize,
    /// Bytes of the member that were given already.
    given: usize,
}

impl<'a> Status<'a> {
    /// Looks at everything once, so that what is read fits together.
    pub fn new(node: &Node<'_>, facts: &'a Facts) -> Self {
        let door = node.door();
        Self {
            facts,
            is_open: door.is_open(),
            principals: door.principals().fold(0, |count, _| usize::saturating_add(count, 1)),
            now: node.now(),
            time: node.wall_time(),
            limits: node.limits(),
            push: node.push_counts(),
            stack: facts.stack.map(|measure| measure()),
            address: facts.network.address.get(),
            wifi: facts.network.wifi.get(),
            member: 0,
            given: 0,
        }
    }

    /// Fills `out` with the next bytes and says how many; 0 is the end.
    pub fn fill(&mut self, out: &mut [u8]) -> usize {
        let bytes = out.len();
        let mut room = out;
        while !room.is_empty() && self.member < MEMBERS {
            let mut text = heapless::String::<MEMBER_MAX>::new();
            // cannot fail: no member is longer, and a test says so.
            let _ = self.write(&mut text);
            let rest = text.as_bytes().get(self.given..).unwrap_or_default();
            let (now, later) = room.split_at_mut(rest.len().min(room.len()));
            now.copy_from_slice(&rest[..now.len()]);
            self.given = self.given.saturating_add(now.len());
            room = later;
            if self.given >= text.len() {
                self.member = self.member.saturating_add(1);
                self.given = 0;
            }
        }
        bytes.saturating_sub(room.len())
    }

    fn write(&self, text: &mut heapless::String<MEMBER_MAX>) -> fmt::Result {
        let Self { facts, limits, .. } = self;
        match self.member {
            0 => writeln!(text, "{{\"board\":\"{}\",\n\"version\":\"{}\",", facts.board, env!("CARGO_PKG_VERSION")),
            1 => {
                let Past { reason, detail } = &facts.past;
                writeln!(text, "\"reset\":{{\"reason\":\"{}\",\"detail\":\"{detail}\"}},", reason.as_str())
            }
            2 => writeln!(text, "\"uptimeMs\":{},", self.now.0),
            3 => self.time.map_or(Ok(()), |time| writeln!(text, "\"time\":\"{time}\",")),
            4 => self.stack.map_or(Ok(()), |Stack { deepest_bytes, all_bytes }| {
                writeln!(text, "\"stackBytes\":{{\"deepest\":{deepest_bytes},\"all\":{all_bytes}}},")
            }),
            5 => self.address.map_or(Ok(()), |address| writeln!(text, "\"address\":\"{address}\",")),
            6 => self.wifi.map_or(Ok(()), |wifi| writeln!(text, "\"wifi\":\"{wifi}\",")),
            7 => writeln!(text, "\"door\":{{\"open\":{},\"principals\":{}}},", self.is_open, self.principals),
            8 => writeln!(text, "\"tasks\":{{\"used\":{},\"all\":{}}},", limits.tasks_used, limits.tasks),
            9 => writeln!(text, "\"logBlocks\":{{\"used\":{},\"all\":{}}},", limits.blocks_used, limits.blocks),
            10 => writeln!(text, "\"readers\":{{\"used\":{},\"all\":{}}},", limits.readers_used, limits.readers),
            11 => self.push.map_or(Ok(()), |push| write_push(text, &push)),
            _ => writeln!(text, "\"workers\":{{\"all\":{}}}}}", limits.workers),
        }
    }
}

fn write_push(text: &mut dyn fmt::Write, push: &PushCounts) -> fmt::Result {
    let PushCounts { used, all, delivered, failed, given_up, lost } = push;
    write!(text, "\"push\":{{\"used\":{used},\"all\":{all},\"delivered\":{delivered},")?;
    writeln!(text, "\"failed\":{failed},\"givenUp\":{given_up},\"lost\":{lost}}},")
}

const MEMBERS: usize = 13;

/// The longest member has the longest detail.
const MEMBER_MAX: usize = DETAIL_MAX + 64;

#[cfg(test)]
mod tests {
    extern crate std;
    use std::{string::String, vec::Vec};

    use protocol_core::{
        Engine, Identity, Served, Storage,
        door::{Allowance, Classes, Door, DoorStorage, Principal},
        push::{Challenge, PushStorage, Rules, Webhooks},
        time::Clock,
    };

    use super::*;
    use crate::{
        agents::sensor,
        reset::{Memo, Reason},
        simulated::SplitMix,
    };

    struct Late;

    impl Clock for Late {
        fn now(&self) -> Millis {
            Millis(1_000_000_000_000)
        }
    }

    fn read(facts: &Facts, piece: usize) -> String {
        let mut storage = Storage::<2, 8, 1, 1>::new();
        let mut chance = SplitMix::new(1);
        let identity = Identity { profile: sensor::PROFILE, url: None, served: Served::ALL };
        let mut known = DoorStorage::<2, 1>::new();
        let mut door = Door::new(&mut known, Allowance::UNLIMITED);
        door.know(Principal::new("anna", Classes::ALL, "annas-first-token").expect("it is fit"))
            .expect("there is room");
        let mut engine = Engine::new(&mut storage, &mut chance);
        let mut webhooks = PushStorage::<3, 1>::new();
        engine.set_push(&mut webhooks, Webhooks { rules: Rules::STRICT, challenge: Challenge::ByDialect });
        let node = Node::new(engine, door, &Late, identity);
        node.handle_wall_time(UnixMillis(1_767_225_600_000));
        let mut status = Status::new(&node, facts);
        let mut all = Vec::new();
        let mut buffer = std::vec![0; piece];
        loop {
            match status.fill(&mut buffer) {
                0 => return String::from_utf8(all).expect("it is text"),
                filled => all.extend_from_slice(&buffer[..filled]),
            }
        }
    }

    #[test]
    fn no_count_is_too_large() {
        let mut text = heapless::String::<MEMBER_MAX>::new();
        let most = u32::MAX;
        let push = PushCounts { used: most, all: most, delivered: most, failed: most, given_up: most, lost: most };
        assert!(write_push(&mut text, &push).is_ok());
    }

    #[test]
    fn is_the_same_json_whatever_the_pieces() {
        let mut memo = Memo::EMPTY;
        memo.write(Reason::StackOverflow, format_args!("{}", "\"".repeat(2 * DETAIL_MAX)));
        let stack = || Stack { deepest_bytes: usize::MAX, all_bytes: usize::MAX };
        let facts = Facts {
            board: "a-board-with-a-long-name",
            past: Past::of(Reason::Unknown, &mut memo),
            stack: Some(stack),
            network: Connection {
                address: Cell::new(Some(Ipv4Addr::new(192, 168, 100, 200))),
                wifi: Cell::new(Some(crate::wifi::Link::NoNetwork.as_str())),
            },
        };
        let whole = read(&facts, 4096);
        let json = protocol_core::json::Json::parse(whole.as_bytes()).expect("it is JSON");
        let reset = json.member("reset").expect("why it started");
        assert!(
            reset
                .member("reason")
                .and_then(|reason| reason.text())
                .is_some_and(|reason| reason.escaped() == "stack overflow")
        );
        assert!(whole.contains("\"time\":\"2026-01-01T00:00:00.000Z\""), "{whole}");
        assert!(whole.contains("\"address\":\"192.168.100.200\"") && whole.contains("wifi SSID PASSWORD"), "{whole}");
        assert!(whole.contains("\"door\":{\"open\":false,\"principals\":1}") && !whole.contains("anna"), "{whole}");
        assert!(whole.contains("\"push\":{\"used\":0,\"all\":3,\"delivered\":0,"), "{whole}");
        for piece in [1, 2, 7, 64, 100] {
            assert_eq!(read(&facts, piece), whole);
        }
    }
}
