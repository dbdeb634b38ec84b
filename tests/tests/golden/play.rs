//! Plays a golden file: does its steps and writes down what comes.

use core::task::{Context, Poll, Waker};
use std::collections::BTreeMap;

use mote_tests::{
    script::Script,
    webhook::{TAKEN, Webhooks},
    world::{Client, PROFILE, World},
};
use protocol_core::{
    Inbound, Profile, Reply, Served,
    door::{Allowance, Rate},
    push::Challenge,
};

use crate::judge;

/// Through so small a window that every answer is sent in several pieces.
const WINDOW: usize = 61;

/// What a caller may have in a guarded world.
const ALLOWANCE: Allowance = Allowance { principal: Rate { per_second: 1, burst: 20 }, ..Allowance::UNLIMITED };

/// The file as it would be if everything that comes out were expected.
pub(crate) fn play(path: &str, written: &str) -> String {
    let mut player = Player {
        world: None,
        setting: Setting::default(),
        headers: Headers::default(),
        open: BTreeMap::new(),
        webhooks: None,
    };
    let mut played = String::new();
    for (number, line) in written.lines().enumerate() {
        if is_expectation(line) {
            continue;
        }
        played.push_str(line);
        played.push('\n');
        player.step(&format!("{path}:{}", number + 1), line, &mut played);
    }
    played
}

/// `<`, `<<` or `=` with the name of a request before it, or none.
fn is_expectation(line: &str) -> bool {
    let rest = line.trim_start_matches(|c: char| c.is_ascii_lowercase());
    rest.starts_with('<') || rest.starts_with('=')
}

struct Player {
    world: Option<World>,
    setting: Setting,
    headers: Headers,
    /// Requests that were given a name, and how much of their answers was looked at.
    open: BTreeMap<String, (Client, usize)>,
    webhooks: Option<Webhooks>,
}

#[derive(Default)]
struct Setting {
    serves: Option<Served>,
    takes_all: bool,
    is_tight: bool,
    is_clockless: bool,
    is_guarded: bool,
    is_pushing: bool,
}

#[derive(Default)]
struct Headers {
    version: Option<String>,
    last_event_id: Option<String>,
    token: Option<String>,
}

impl Player {
    fn step(&mut self, place: &str, line: &str, played: &mut String) {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        match word {
            "" | "#" => {}
            "serves:" => self.setting.serves = Some(Served::parse(rest).expect("versions we know")),
            "takes:" => self.setting.takes_all = rest == "*/*",
            "world:" => match rest {
                "tight" => self.setting.is_tight = true,
                "clockless" => self.setting.is_clockless = true,
                "guarded" => self.setting.is_guarded = true,
                "pushing" => self.setting.is_pushing = true,
                _ => panic!("{place}: what world is {rest}?"),
            },
            "token:" => self.headers.token = Some(rest.to_owned()),
            "version:" => self.headers.version = Some(rest.to_owned()),
            "last-event-id:" => self.headers.last_event_id = Some(rest.to_owned()),
            "advance" => self.world().advance(rest.parse().expect("milliseconds")),
            "pushed" => {
                self.world();
                for sent in self.webhooks.iter().flat_map(Webhooks::take) {
                    match &sent.body {
                        Some(body) => drop(judge::json(place, body)),
                        None => assert!(sent.id.ends_with("-0"), "{place}: a challenge is no event"),
                    }
                    let method = if sent.body.is_some() { "POST" } else { "GET" };
                    played.push_str(&format!("< {method} {} {}\n", sent.url, sent.id));
                    for (name, value) in
                        [("X-A2A-Notification-Token", sent.token), ("Authorization", sent.authorization)]
                    {
                        if let Some(value) = value {
                            played.push_str(&format!("< {name}: {value}\n"));
                        }
                    }
                    if let Some(body) = sent.body {
                        played.push_str(&format!("< Content-Type: {}\n< {body}\n", sent.content_type));
                    }
                }
            }
            "card" => {
                let reply = self.world().node.card(rest);
                let card = read_now(reply);
                judge::json(place, &card);
                played.push_str(&format!("< {card}\n"));
            }
            "hex>" => {
                let bytes: Vec<u8> = (0..rest.len() / 2)
                    .map(|n| u8::from_str_radix(&rest[2 * n..2 * n + 2], 16).expect("hex digits"))
                    .collect();
                self.send(place, "", &bytes, played);
            }
            _ => {
                if let Some(name) = word.strip_suffix('>') {
                    self.send(place, name, rest.as_bytes(), played);
                } else if let Some(name) = word.strip_suffix('?') {
                    self.look(place, name, played);
                } else if let Some(name) = word.strip_suffix('!') {
                    let (client, _) = self.open.remove(name).unwrap_or_else(|| panic!("{place}: who is {name}?"));
                    client.hang_up();
                } else {
                    panic!("{place}: what is {line}?");
                }
            }
        }
    }

    fn send(&mut self, place: &str, name: &str, body: &[u8], played: &mut String) {
        let headers = core::mem::take(&mut self.headers);
        let world = self.world();
        let caller = match &headers.token {
            Some(token) => world.inbound(token, "").caller,
            None if world.node.door().is_open() => Inbound::GUEST.caller,
            None => None,
        };
        let inbound = Inbound {
            caller,
            host: Some("probe.local"),
            version: headers.version.as_deref(),
            last_event_id: headers.last_event_id.as_deref(),
            body,
            ..Inbound::GUEST
        };
        let client = self.world().request(&inbound, WINDOW);
        assert!(client.has_ended() || !name.is_empty(), "{place}: a request that stays open needs a name");
        self.open.insert(name.to_owned(), (client, 0));
        self.look(place, name, played);
    }

    /// Writes down what has come of an answer since the last look, and whether that was its end.
    fn look(&mut self, place: &str, name: &str, played: &mut String) {
        let (client, seen) = self.open.get_mut(name).unwrap_or_else(|| panic!("{place}: who is {name}?"));
        let text = client.text();
        let new = &text[*seen..];
        if client.is_stream {
            judge::stream(place, &text);
            let lines = new.strip_suffix('\n').unwrap_or(new);
            for line in lines.split('\n').filter(|_| !new.is_empty()) {
                let space = if line.is_empty() { "" } else { " " };
                played.push_str(&format!("{name}<<{space}{line}\n"));
            }
        } else if !new.is_empty() {
            if client.has_ended() {
                judge::answer(place, &text);
            }
            played.push_str(&format!("{name}< {new}\n"));
        }
        if *seen == 0 && client.status != 200 {
            played.push_str(&format!("{name}= {}\n", client.status));
        }
        if let Some(seconds) = client.retry_after.filter(|_| *seen == 0) {
            played.push_str(&format!("{name}= again after {seconds} s\n"));
        }
        *seen = text.len();
        let state = match (client.has_ended(), client.is_broken()) {
            (true, _) => "ended",
            (_, true) => "cut off",
            _ => "open",
        };
        if client.is_stream || !name.is_empty() {
            played.push_str(&format!("{name}= {state}\n"));
        }
    }

    fn world(&mut self) -> &mut World {
        let Setting { serves, takes_all, is_tight, is_clockless, is_guarded, is_pushing } = self.setting;
        let webhooks = &mut self.webhooks;
        self.world.get_or_insert_with(|| {
            let input_modes: &[&str] = if takes_all { &["*/*"] } else { PROFILE.input_modes };
            let profile = Profile { input_modes, ..PROFILE };
            let served = serves.unwrap_or(Served::ALL);
            if is_pushing {
                let mut world = World::pushing::<_, 8, 512, 4, 1>(Script, Challenge::ByDialect, None);
                *webhooks = Some(Webhooks::start(&mut world, 1, |_| TAKEN));
                return world;
            }
            match (is_tight, is_clockless) {
                _ if is_guarded => World::guarded::<_, 8, 512, 3, 8>(Script, served, ALLOWANCE),
                (true, _) => World::with::<_, 3, 40, 1, 2>(Script, served, profile),
                (_, true) => World::without_wall_time(Script),
                _ => World::with::<_, 8, 512, 3, 8>(Script, served, profile),
            }
        })
    }
}

fn read_now(mut reply: Reply<'_, '_>) -> String {
    let mut bytes = Vec::new();
    let mut window = [0; WINDOW];
    loop {
        match reply.poll_fill(&mut Context::from_waker(Waker::noop()), &mut window) {
            Poll::Ready(Ok(0)) => return String::from_utf8(bytes).expect("answers are UTF-8"),
            Poll::Ready(Ok(n)) => bytes.extend_from_slice(&window[..n]),
            other => panic!("no answer at once: {other:?}"),
        }
    }
}
