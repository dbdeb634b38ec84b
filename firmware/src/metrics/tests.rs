extern crate std;
use std::{collections::BTreeMap, string::String, vec, vec::Vec};

use protocol_core::{
    Engine, Identity, Inbound, Served, Storage,
    door::Door,
    push::{Challenge, PushStorage, Rules, Webhooks},
    time::Clock,
};

use super::*;
use crate::{
    agents::sensor,
    http::Limits,
    reset::Reason,
    simulated::SplitMix,
    status::{Connection, Edge, Stack},
};

struct Stopped;

impl Clock for Stopped {
    fn now(&self) -> Millis {
        Millis(1_234_007)
    }
}

fn read(node: &Node<'_>, facts: &Facts, piece: usize) -> String {
    let mut metrics = Metrics::new(node, facts);
    let (mut all, mut buffer) = (Vec::new(), vec![0; piece]);
    loop {
        match metrics.fill(&mut buffer) {
            0 => return String::from_utf8(all).expect("it is text"),
            filled => all.extend_from_slice(&buffer[..filled]),
        }
    }
}

fn with_node(test: impl FnOnce(&Node<'_>, &Facts)) {
    let mut storage = Storage::<4, 64, 1, 4>::new();
    let (mut chance, mut places) = (SplitMix::new(1), PushStorage::<2, 1>::new());
    let mut engine = Engine::new(&mut storage, &mut chance);
    engine.set_push(&mut places, Webhooks { rules: Rules::STRICT, challenge: Challenge::Never });
    let identity = Identity { profile: sensor::PROFILE, url: None, served: Served::ALL };
    let node = Node::new(engine, Door::open_to_all(), &Stopped, identity);
    let facts = Facts {
        board: "a-board",
        past: Reason::StackOverflow.into(),
        stack: Some(|| Stack { deepest_bytes: 1, all_bytes: usize::MAX }),
        network: Connection::default(),
        edge: Edge::new(&Limits::DEVICE, 6, 1),
    };
    test(&node, &facts);
}

#[test]
fn is_the_same_text_whatever_the_pieces() {
    with_node(|node, facts| {
        for _ in 0..3 {
            drop(node.call(&Inbound { body: b"{", ..Inbound::GUEST }));
        }
        let whole = read(node, facts, 1 << 16);
        for line in [
            "# HELP mote_reset_info Why the device started, always 1.\n# TYPE mote_reset_info gauge\n\
             mote_reset_info{reason=\"stack overflow\"} 1\n",
            "\nmote_uptime_seconds 1234.007\n",
            "\nmote_faults_total{reason=\"parse\"} 3\n",
            "\nmote_table_size{table=\"push_configs\"} 2\n",
            "\nmote_http_responses_total{code=\"505\"} 0\n",
            "\nmote_push_attempts_total{outcome=\"failed\"} 0\n",
            "\nmote_door_open 1\n",
            "\nmote_stack_deepest_bytes 1\n",
        ] {
            assert!(whole.contains(line), "{line} is not in {whole}");
        }
        for piece in [1, 2, 7, 64, 100, 1000] {
            assert_eq!(read(node, facts, piece), whole);
        }
    });
}

#[test]
fn a_line_that_is_being_given_stays_what_it_was() {
    with_node(|node, facts| {
        let mut metrics = Metrics::new(node, facts);
        let (mut text, mut piece) = (String::new(), [0; 3]);
        while let filled @ 1.. = metrics.fill(&mut piece) {
            text.push_str(core::str::from_utf8(&piece[..filled]).expect("it is ASCII"));
            // Each call is one more of a family, and the line may be in the middle of its number.
            drop(node.call(&Inbound { body: b"{", ..Inbound::GUEST }));
        }
        for line in text.lines().filter(|line| !line.starts_with('#')) {
            let (_, number) = line.rsplit_once(' ').expect("a name and a number");
            assert!(number.parse::<f64>().is_ok(), "{line}");
        }
        let parse = text.split_once("reason=\"parse\"} ").and_then(|(_, rest)| rest.split_once('\n'));
        let (parse, _) = parse.expect("it is there");
        assert!(parse.parse::<u32>().is_ok_and(|parse| parse > 100), "{parse}");
    });
}

#[test]
fn the_table_in_the_documentation_is_what_is_served() {
    let page = include_str!("../../../docs/operations.md");
    let rows = page.lines().filter_map(|line| line.strip_prefix("| `mote_"));
    let told: BTreeMap<_, _> = rows
        .map(|row| {
            let mut cells = row.split('|').map(str::trim);
            (cells.next().unwrap_or_default().trim_end_matches('`'), (cells.next(), cells.nth(1)))
        })
        .collect();
    let served: BTreeMap<_, _> = FAMILIES
        .iter()
        .map(|family| (family.name.trim_start_matches("mote_"), (Some(family.kind), Some(family.help))))
        .collect();
    assert_eq!(told, served);
}
