//! What is printed at the start: where we are, and some things to try.

use core::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use protocol_core::{Access, Level, Line, Profile, time::Millis};

use crate::{
    args::{AgentName, Args, Preset},
    board::say,
    keys,
};

/// Prints where we listen and what to try; `own` is what an agent of one's own says about itself.
pub fn greet(args: &Args, own: Option<&Profile<'_>>, listening: SocketAddr) {
    let agent = match (own, args.agent) {
        (Some(own), _) => own.name,
        (None, Some(AgentName::Conformance)) => "conformance agent",
        (None, _) => "sensor node",
    };
    let (one, other) = own.map_or(("read temperature", "watch temperature 3 times"), to_try);
    let room = match args.preset {
        Preset::Host => "",
        Preset::Pico => ", with no more room than on a Pico",
    };
    let url = base_url(listening);
    let is_spoken =
        |wording: &&Wording| args.dialects.0.split(',').any(|version| wording.versions.contains(&version.trim()));
    let wording = WORDINGS.iter().find(is_spoken);
    say(format_args!("Mote {agent} {}{room}", env!("CARGO_PKG_VERSION")));
    say(format_args!("listening on http://{listening}/"));
    if wording.is_some_and(|wording| wording.page) {
        say(format_args!("page         open {url} in a browser"));
    }
    say(format_args!("card         {url}.well-known/agent-card.json"));
    say(format_args!("door         {}", door(args)));
    say(format_args!("webhooks     {}", args.calls.words(args.bind)));
    let Some(wording) = wording else { return };
    let is_shut = !args.keys.is_open(args.bind);
    let (hint, header) =
        if is_shut { (", with your token in TOKEN", format!(" {AUTHORIZATION}")) } else { ("", String::new()) };
    say(format_args!("\ntry one of these{hint}:"));
    let token = if is_shut { "MOTE_TOKEN=$TOKEN " } else { "" };
    for (command, text) in [("ask", one), ("watch", other)] {
        say(format_args!("\n{token}cargo run -q -p host-sim -- {command} {url} {text}"));
    }
    let body = wording.body.replace("TEXT", one);
    say(format_args!("\ncurl -s {url}{header} -H 'Content-Type: application/json' -d '{body}'"));
    say(format_args!("\nand from your own program: docs/clients.md"));
    say(format_args!(""));
}

/// Tells what happens, from that level on.
pub(crate) fn hear(least: Option<Level>) -> fn(&Line) {
    fn tell(line: &Line) {
        let Millis(at) = line.at();
        say(format_args!("{:>6}.{:03} {line}", at / 1000, at % 1000));
    }
    match least {
        None => |_| {},
        Some(Level::Debug | Level::Info) => tell,
        Some(Level::Warn) => |line| {
            if line.level() >= Level::Warn {
                tell(line);
            }
        },
        Some(Level::Error) => |line| {
            if line.level() >= Level::Error {
                tell(line);
            }
        },
    }
}

/// Two things to say to an agent of one's own, such as its skills have them. Quotation marks would end somebody else's.
fn to_try<'a>(own: &Profile<'a>) -> (&'a str, &'a str) {
    let examples = own.skills.iter().filter(|skill| skill.access < Access::Operator).flat_map(|skill| skill.examples);
    let mut plain = examples.filter(|example| !example.contains(['"', '\'', '\\'])).copied();
    let one = plain.next().unwrap_or("hello");
    (one, plain.next().unwrap_or(one))
}

/// Who gets in, in words.
fn door(args: &Args) -> String {
    let known = keys::listed(&args.keys.known);
    match (args.keys.is_open(args.bind), args.keys.is_given()) {
        (true, false) if args.keys.is_open => "open: whoever reaches it may ask and act".to_owned(),
        (true, false) => "open: everybody on this machine may ask and act; --token shuts it, see --help".to_owned(),
        (true, true) => format!("open: whoever reaches it may ask and act; known by their tokens are {known}"),
        (false, _) if args.keys.is_environment => {
            format!("shut, for MOTE_TOKEN is in the environment: a token is needed; known are {known}")
        }
        (false, _) => format!("shut: a token is needed; known are {known}"),
    }
}

/// In double quotes, so that the shell puts in the token. The variable is the client's: ours can have names and classes, too.
const AUTHORIZATION: &str = r#"-H "Authorization: Bearer $TOKEN""#;

/// How to ask in a dialect.
struct Wording {
    versions: &'static [&'static str],
    body: &'static str,
    /// Whether the page at `/` speaks it.
    page: bool,
}

/// The newest first: that is the one to show.
const WORDINGS: &[Wording] = &[
    Wording {
        versions: &["1.0"],
        body: r#"{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":{"messageId":"1","role":"ROLE_USER","parts":[{"text":"TEXT"}]}}}"#,
        page: true,
    },
    Wording {
        versions: &["0.3", "0.2"],
        body: r#"{"jsonrpc":"2.0","id":1,"method":"message/send","params":{"message":{"kind":"message","messageId":"1","role":"user","parts":[{"kind":"text","text":"TEXT"}]}}}"#,
        page: false,
    },
    Wording {
        versions: &["0.1"],
        body: r#"{"jsonrpc":"2.0","id":1,"method":"tasks/send","params":{"id":"1","message":{"role":"user","parts":[{"type":"text","text":"TEXT"}]}}}"#,
        page: false,
    },
];

/// Where a client on this machine reaches us.
fn base_url(mut listening: SocketAddr) -> String {
    // "Any address" is none that a client could connect to.
    match listening.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => listening.set_ip(Ipv4Addr::LOCALHOST.into()),
        IpAddr::V6(ip) if ip.is_unspecified() => listening.set_ip(Ipv6Addr::LOCALHOST.into()),
        _ => {}
    }
    format!("http://{listening}/")
}

#[cfg(test)]
mod tests {
    use protocol_core::json::Json;

    use super::*;
    use crate::args::Asked;

    fn args(line: &str) -> Args {
        match Args::parse(line.split_whitespace().map(str::to_owned)) {
            Ok(Asked::Run(args)) => args,
            other => panic!("{line}: {other:?}"),
        }
    }

    #[test]
    fn who_gets_in_is_told_and_no_token() {
        for (line, words) in [
            ("", "open: everybody on this machine"),
            ("--bind 0.0.0.0 --open", "open: whoever reaches it"),
            ("--token anna:read:secret-token-one", "shut: a token is needed; known are anna (read)"),
            (
                "--token a:read:secret-token-one --token a:read:secret-token-two --token b:act:secret-token-three",
                "known are a (read), b (act)",
            ),
            ("--open --token anna:read:secret-token-one", "open: whoever reaches it may ask and act; known"),
        ] {
            let told = door(&args(line).with_keys(None).unwrap());
            assert!(told.contains(words) && !told.contains("secret"), "{line}: {told}");
        }
    }

    #[test]
    fn what_shut_the_door_is_told_where_nobody_has_typed_it() {
        let told = |line: &str, variable: &str| door(&args(line).with_keys(Some(variable)).unwrap());
        assert!(told("", "the-owners-own-token").starts_with("shut, for MOTE_TOKEN is in the environment: "));
        for (line, variable) in [
            ("", ""),
            ("--open", "the-owners-own-token"),
            ("--token anna:read:secret-token-one", "the-owners-own-token"),
        ] {
            assert!(!told(line, variable).contains("MOTE_TOKEN"), "{line}");
        }
        // What the client's token is in is another one.
        assert!(!AUTHORIZATION.contains("MOTE_TOKEN"));
    }

    #[test]
    fn what_to_try_is_what_an_agent_can_do() {
        assert_eq!(to_try(&firmware::agents::sensor::PROFILE).0, "read temperature");
        assert_eq!(to_try(&Profile::PLAIN), ("hello", "hello"));
    }

    #[test]
    fn a_client_is_sent_to_an_address_that_it_can_reach() {
        for (listening, url) in [
            ("127.0.0.1:8080", "http://127.0.0.1:8080/"),
            ("0.0.0.0:80", "http://127.0.0.1:80/"),
            ("[::]:80", "http://[::1]:80/"),
            ("192.168.0.7:80", "http://192.168.0.7:80/"),
        ] {
            assert_eq!(base_url(listening.parse().unwrap()), url);
        }
    }

    #[test]
    fn what_is_shown_can_be_pasted_into_a_shell() {
        for wording in WORDINGS {
            assert!(Json::parse(wording.body.as_bytes()).is_ok(), "{}", wording.body);
            assert!(!wording.body.contains('\''));
        }
        assert!(!AUTHORIZATION.contains('\''));
    }
}
