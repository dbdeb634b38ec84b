//! How the device is, as a JSON document that is made a member at a time: no buffer holds all of it.

use core::{cell::Cell, fmt, net::Ipv4Addr};

use protocol_core::{
    Node, Usage,
    push::PushCounts,
    time::{Millis, UnixMillis},
};

use crate::{
    http::{Gauge, Limits, Traffic},
    pieces::{self, Parts},
    reset::Past,
};

/// What is running.
pub(crate) const VERSION: &str = env!("CARGO_PKG_VERSION");
/// What it was built for, and how.
pub(crate) const TARGET: &str = env!("MOTE_TARGET");
const PROFILE: &str = env!("MOTE_PROFILE");
/// What was built in, as JSON has a list.
const FEATURES: &str = match (cfg!(feature = "signing"), cfg!(feature = "tls")) {
    (true, true) => "\"signing\",\"tls\"",
    (true, false) => "\"signing\"",
    (false, true) => "\"tls\"",
    (false, false) => "",
};

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
    /// What its clients meet first.
    pub edge: Edge,
}

/// The HTTP edge: what it has room for, and what it counts.
pub struct Edge {
    /// Its limits.
    pub limits: &'static Limits,
    /// Connections that are served at the same time.
    pub connections: usize,
    /// Buffers for large bodies.
    pub bodies: usize,
    /// Its counters.
    pub traffic: Traffic,
}

impl Edge {
    /// One with that much room.
    #[must_use]
    pub fn new(limits: &'static Limits, connections: usize, bodies: usize) -> Self {
        Self { limits, connections, bodies, traffic: Traffic::default() }
    }
}

impl Facts {
    /// How full the table of that number is, and what it is called among metrics.
    pub(crate) fn usage(&self, node: &Node<'_>, number: usize) -> Option<(&'static str, Usage)> {
        let limits = node.limits();
        let of = |gauge: &Gauge, all| Usage { used: gauge.used(), most: gauge.most(), all: all as u32 };
        let edge = &self.edge;
        let push = |PushCounts { used, most, all, .. }| Usage { used, most, all };
        Some(match number {
            0 => ("tasks", limits.tasks),
            1 => ("log_blocks", limits.blocks),
            2 => ("workers", limits.workers),
            3 => ("readers", limits.readers),
            4 => ("push_configs", push(node.push_counts().unwrap_or_default())),
            5 => ("connections", of(&edge.traffic.connections, edge.connections)),
            6 => ("body_buffers", of(&edge.traffic.bodies, edge.bodies)),
            _ => return None,
        })
    }
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
    /// How full the tables are, as [`Facts::usage`] numbers them.
    tables: [Usage; TABLES.len()],
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
            tables: core::array::from_fn(|number| {
                facts.usage(node, number).map(|(_, usage)| usage).unwrap_or_default()
            }),
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
        let mut given = self.given;
        let filled = pieces::fill(self, &mut given, out);
        self.given = given;
        filled
    }
}

impl Parts for Status<'_> {
    fn write(&self, out: &mut dyn fmt::Write) -> fmt::Result {
        let Self { facts, .. } = self;
        match self.member {
            0 => writeln!(out, "{{\"board\":\"{}\",\n\"version\":\"{VERSION}\",", facts.board),
            1 => writeln!(
                out,
                "\"build\":{{\"target\":\"{TARGET}\",\"profile\":\"{PROFILE}\",\"features\":[{FEATURES}]}},"
            ),
            2 => {
                let Past { reason, detail } = &facts.past;
                writeln!(out, "\"reset\":{{\"reason\":\"{}\",\"detail\":\"{detail}\"}},", reason.as_str())
            }
            3 => writeln!(out, "\"uptimeMs\":{},", self.now.0),
            4 => self.time.map_or(Ok(()), |time| writeln!(out, "\"time\":\"{time}\",")),
            5 => self.stack.map_or(Ok(()), |Stack { deepest_bytes, all_bytes }| {
                writeln!(out, "\"stackBytes\":{{\"deepest\":{deepest_bytes},\"all\":{all_bytes}}},")
            }),
            6 => self.address.map_or(Ok(()), |address| writeln!(out, "\"address\":\"{address}\",")),
            7 => self.wifi.map_or(Ok(()), |wifi| writeln!(out, "\"wifi\":\"{wifi}\",")),
            8 => writeln!(out, "\"door\":{{\"open\":{},\"principals\":{}}},", self.is_open, self.principals),
            9 => write_limits(out, facts.edge.limits),
            10 => self.push.map_or(Ok(()), |push| write_push(out, &push)),
            member => {
                let number = member.saturating_sub(FIRST_TABLE);
                let Some((name, usage)) = TABLES.get(number).zip(self.tables.get(number)) else { return Ok(()) };
                if name.is_empty() {
                    return Ok(());
                }
                let Usage { used, most, all } = usage;
                let end = if number.saturating_add(1) == TABLES.len() { "}" } else { "," };
                writeln!(out, "\"{name}\":{{\"used\":{used},\"most\":{most},\"all\":{all}}}{end}")
            }
        }
    }

    fn go_on(&mut self) {
        self.member = self.member.saturating_add(1);
    }

    fn is_done(&self) -> bool {
        self.member >= FIRST_TABLE.saturating_add(TABLES.len())
    }
}

/// What a client meets that asks for much. Times are those that it may have to wait.
fn write_limits(out: &mut dyn fmt::Write, limits: &Limits) -> fmt::Result {
    let Limits { head_bytes, body_bytes, requests, connections_per_address, allowance, .. } = limits;
    write!(out, "\"limits\":{{\"headBytes\":{head_bytes},\"bodyBytes\":{body_bytes},")?;
    write!(out, "\"idleMs\":{},\"blockingMs\":{},", limits.idle.as_millis(), allowance.blocking.0)?;
    write!(out, "\"requestsPerConnection\":{requests},\"connectionsPerAddress\":{connections_per_address},")?;
    writeln!(out, "\"tasksPerCaller\":{},\"answersPerCaller\":{}}},", allowance.tasks, allowance.readers)
}

fn write_push(out: &mut dyn fmt::Write, push: &PushCounts) -> fmt::Result {
    let PushCounts { used, most, all, delivered, failed, given_up, lost } = push;
    write!(out, "\"push\":{{\"used\":{used},\"most\":{most},\"all\":{all},\"delivered\":{delivered},")?;
    writeln!(out, "\"failed\":{failed},\"givenUp\":{given_up},\"lost\":{lost}}},")
}

/// The member of the first table.
const FIRST_TABLE: usize = 11;

/// What the tables are called here, as [`Facts::usage`] numbers them. That of webhooks has more to say, and a line of its own.
const TABLES: [&str; 7] = ["tasks", "logBlocks", "workers", "readers", "", "connections", "bodies"];

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
        reset::{DETAIL_MAX, Memo, Reason},
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
            edge: Edge::new(&Limits::DEVICE, 6, 1),
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
        assert!(whole.contains("\"push\":{\"used\":0,\"most\":0,\"all\":3,\"delivered\":0,"), "{whole}");
        assert!(whole.contains("\"tasks\":{\"used\":0,\"most\":0,\"all\":2}"), "{whole}");
        assert!(whole.contains("\"connections\":{\"used\":0,\"most\":0,\"all\":6}"), "{whole}");
        assert!(
            json.member("limits")
                .and_then(|limits| limits.member("bodyBytes"))
                .is_some_and(|bytes| bytes.raw() == "8192")
        );
        assert!(json.member("build").and_then(|build| build.member("target")).is_some());
        for piece in [1, 2, 7, 64, 100] {
            assert_eq!(read(&facts, piece), whole);
        }
    }
}
