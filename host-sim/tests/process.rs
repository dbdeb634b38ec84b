//! The program as people start it: its words, its exit codes, its end, over real sockets.
#![cfg(unix)]

use core::time::Duration;
use std::{
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
    process::{Child, Command, Output, Stdio},
    sync::mpsc::{Receiver, channel},
};

/// A running host-sim, ended with its test.
struct Sim {
    child: Child,
    address: String,
    /// What it says after it has said where it listens.
    said: Receiver<String>,
}

impl Sim {
    fn start(flags: &[&str]) -> Self {
        let mut child =
            program(&[]).args(["--port", "0"]).args(flags).stdout(Stdio::piped()).spawn().expect("host-sim starts");
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let address = loop {
            let line = lines.next().expect("host-sim says where it listens").unwrap();
            if let Some(rest) = line.split("http://").nth(1) {
                break rest.split('/').next().unwrap().to_owned();
            }
        };
        // It goes on talking: somebody must listen.
        let (tell, said) = channel();
        std::thread::spawn(move || lines.for_each(|line| drop(line.map(|line| tell.send(line)))));
        Self { child, address, said }
    }

    /// Waits until it says something.
    fn wait_for(&self, words: &str) -> String {
        loop {
            let line = self.said.recv_timeout(Duration::from_secs(10)).unwrap_or_else(|_| panic!("no {words:?}"));
            if line.contains(words) {
                return line;
            }
        }
    }

    fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
        stream
    }

    /// Sends a request and reads until the server closes.
    fn exchange(&self, request: &str) -> String {
        let mut stream = self.connect();
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }

    fn post(&self, body: &str) -> String {
        self.exchange(&post(body, "close"))
    }

    fn get(&self, path: &str) -> String {
        self.exchange(&format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"))
    }

    fn ask(&self, text: &str) -> String {
        self.post(&message("SendMessage", "m", text))
    }

    /// The status of a call with that token.
    fn status_with(&self, token: &str) -> u16 {
        let request = post(&message("SendMessage", "m", "read temperature"), "close");
        let answer = self.exchange(&request.replacen("\r\n", &format!("\r\nAuthorization: Bearer {token}\r\n"), 1));
        answer.split(' ').nth(1).unwrap().parse().unwrap()
    }

    fn signal(&self, name: &str) {
        let told = Command::new("kill").args([name, &self.child.id().to_string()]).status().unwrap();
        assert!(told.success());
    }
}

impl Drop for Sim {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn post(body: &str, connection: &str) -> String {
    let length = body.len();
    format!(
        "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nConnection: {connection}\r\nContent-Length: {length}\r\n\r\n{body}"
    )
}

fn message(method: &str, id: &str, text: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{{"message":{{"messageId":"{id}","role":"ROLE_USER","parts":[{{"text":"{text}"}}]}}}}}}"#
    )
}

/// The program, and nothing in its environment that it would listen to.
fn program(flags: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_host-sim"));
    command.args(flags).env_remove("MOTE_TOKEN");
    command
}

fn refused(flags: &[&str]) -> Output {
    program(flags).output().unwrap()
}

#[test]
fn it_starts_without_configuration_and_answers() {
    let sim = Sim::start(&[]);
    let card = sim.get("/.well-known/agent-card.json");
    assert!(card.starts_with("HTTP/1.1 200 OK") && card.contains("\"url\":\"http://localhost/\""), "{card}");
    for field in ["ETag: \"", "Last-Modified: ", "Cache-Control: public, max-age="] {
        assert!(card.contains(field), "{card}");
    }
    let old_path = sim.get("/.well-known/agent.json");
    assert_eq!(old_path.split("\r\n\r\n").nth(1), card.split("\r\n\r\n").nth(1));
    let tag = card.split("ETag: ").nth(1).unwrap().lines().next().unwrap();
    let again = sim.exchange(&format!(
        "GET /.well-known/agent-card.json HTTP/1.1\r\nHost: localhost\r\nIf-None-Match: {tag}\r\nConnection: close\r\n\r\n"
    ));
    assert!(again.starts_with("HTTP/1.1 304"), "{again}");

    let reading = sim.ask("read temperature");
    assert!(reading.contains("TASK_STATE_COMPLETED") && reading.contains(r#""sensor":"temperature""#), "{reading}");
}

#[test]
fn the_public_url_is_what_it_is_told() {
    let sim = Sim::start(&["--url", "https://sensors.example/kitchen/"]);
    assert!(sim.get("/.well-known/agent-card.json").contains(r#""url":"https://sensors.example/kitchen/""#));
    for (host, status) in [("sensors.example", "200"), ("SENSORS.example:8080", "200"), ("evil.example", "421")] {
        let answer = sim.exchange(&format!("GET / HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n"));
        assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{host}: {answer}");
    }
}

#[test]
fn one_clear_sentence_and_an_exit_code() {
    let sim = Sim::start(&[]);
    let port = sim.address.split(':').nth(1).unwrap();
    for (flags, code, sentence) in [
        (&["--port", port][..], 1, "is taken"),
        (&["--port", "x"][..], 2, "--port"),
        (&["--agent", "cook"][..], 2, "sensor or conformance"),
        (&["--dialects", "7.0"][..], 2, "--dialects"),
        (&["--fault", "temperature"][..], 2, "--fault"),
        (&["--colour"][..], 2, "--colour"),
        (&["owner-token-0123456789"][..], 2, "host-sim: there is a word that belongs to no option, see --help"),
        (&["--bind", "0.0.0.0"][..], 2, "--token NAME:CLASSES:TOKEN, --token-file FILE or MOTE_TOKEN"),
        (&["--bind", "::"][..], 2, "--open"),
        (&["--token", "anna:read:short"][..], 2, "--token: a token has 16"),
        (&["--token-file", "no-such-file"][..], 2, "--token-file no-such-file: "),
    ] {
        let output = refused(flags);
        assert_eq!(output.status.code(), Some(code), "{flags:?}");
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(said.contains(sentence) && said.trim_end().lines().count() == 1, "{flags:?}: {said}");
    }
    assert!(refused(&["--help"]).status.success() && refused(&["--version"]).status.success());
}

#[test]
fn being_told_to_stop_it_ends_streams_properly_and_exits() {
    for signal in ["-INT", "-TERM"] {
        let mut sim = Sim::start(&[]);
        let mut stream = sim.connect();
        let body = message("SendStreamingMessage", "m", "watch temperature every 60 seconds");
        stream.write_all(post(&body, "keep-alive").as_bytes()).unwrap();
        let mut received = Vec::new();
        let mut piece = [0; 4096];
        while !received.windows(14).any(|window| window == b"artifactUpdate") {
            let n = stream.read(&mut piece).unwrap();
            assert!(n > 0, "closed before the first reading");
            received.extend_from_slice(&piece[..n]);
        }
        sim.signal(signal);
        stream.read_to_end(&mut received).unwrap();
        assert!(received.ends_with(b"0\r\n\r\n"), "cut off: {}", String::from_utf8_lossy(&received));
        assert_eq!(sim.child.wait().unwrap().code(), Some(0));
    }
}

#[test]
fn a_broken_sensor_is_a_failed_task_with_a_reason() {
    let sim = Sim::start(&["--fault", "temperature:after=2"]);
    for _ in 0..2 {
        assert!(sim.ask("read temperature").contains("TASK_STATE_COMPLETED"));
    }
    let broken = sim.ask("read temperature");
    assert!(broken.contains("TASK_STATE_FAILED") && broken.contains(r#""text":"temperature: "#), "{broken}");
    assert!(sim.ask("read humidity").contains("TASK_STATE_COMPLETED"));
}

#[test]
fn the_same_seed_gives_the_same_ids_and_readings() {
    let run = |seed: &str| {
        let answer = Sim::start(&["--seed", seed]).ask("read temperature");
        let value = answer.split(r#""value":"#).nth(1).unwrap().split(',').next().unwrap().to_owned();
        let id = answer.split(r#""id":""#).nth(1).unwrap().split('"').next().unwrap().to_owned();
        (value, id)
    };
    assert_eq!(run("7"), run("7"));
    assert_ne!(run("7"), run("8"));
}

#[test]
fn a_small_preset_answers_full_with_what_to_do() {
    let sim = Sim::start(&["--preset", "pico", "--agent", "conformance"]);
    let large = sim.post(&message("SendMessage", "m", &"x".repeat(9000)));
    assert!(large.starts_with("HTTP/1.1 413") && large.contains(r#""error":{"code":-32600"#), "{large}");
    let mut full = String::new();
    for _ in 0..17 {
        full = sim.post(&message("SendMessage", "tck-input-required", "x"));
    }
    assert!(full.contains(r#""code":-32000"#) && full.contains("Retry-After: "), "{full}");
    // What is stored is still there.
    let list = sim.post(r#"{"jsonrpc":"2.0","id":1,"method":"ListTasks","params":{}}"#);
    assert!(list.contains(r#""totalSize":16"#), "{list}");
}

#[test]
fn only_the_dialects_that_are_served_are_in_the_card_and_on_the_wire() {
    let sim = Sim::start(&["--dialects", "1.0", "--agent", "conformance"]);
    let card = sim.get("/.well-known/agent-card.json");
    assert!(card.contains("supportedInterfaces") && !card.contains("preferredTransport"), "{card}");
    let old = sim.post(r#"{"jsonrpc":"2.0","id":1,"method":"message/send","params":{}}"#);
    assert!(old.contains(r#""code":-32601"#), "{old}");
}

#[test]
fn it_says_who_gets_in_and_how_and_never_a_token() {
    for (flags, door, curl) in [
        (&[][..], "open: everybody on this machine may ask and act", "curl -s http://"),
        (&["--token", "anna:read:annas-secret-token"][..], "known are anna (read)", r#"Bearer $TOKEN" -H"#),
        (&["--open", "--token", "anna:read:annas-secret-token"][..], "open: whoever reaches it", "curl -s http://"),
        (&["--open"][..], "open: whoever reaches it", "curl -s http://"),
    ] {
        let sim = Sim::start(flags);
        let mut said = sim.wait_for("page ");
        assert!(said.contains("open http://127.0.0.1:"), "{flags:?}: {said}");
        said += &sim.wait_for("door ");
        assert!(said.contains(door), "{flags:?}: {said}");
        said += &sim.wait_for("curl ");
        assert!(said.contains(curl), "{flags:?}: {said}");
        said += &sim.wait_for("docs/clients.md");
        assert!(!said.contains("secret"), "{said}");
    }
}

#[test]
fn it_says_whom_it_may_call() {
    for (flags, words) in [
        (
            &[][..],
            "by https and http to public, loopback addresses; no https without --trust; http and loopback because only",
        ),
        (&["--webhooks", "none"], "by https to public addresses; no https without --trust"),
        (&["--webhooks", "http,private", "--webhook-host", "hooks.lan"], "private addresses, and only to: hooks.lan"),
        (&["--no-push"], "no push notifications"),
    ] {
        let said = Sim::start(flags).wait_for("webhooks ");
        assert!(said.contains(words), "{flags:?}: {said}");
    }
}

#[test]
fn guests_get_in_beside_who_is_known_if_somebody_says_so() {
    let sim = Sim::start(&["--open", "--token", "anna:read:annas-secret-token"]);
    assert!(sim.ask("read temperature").contains("TASK_STATE_COMPLETED"));
    assert_eq!((sim.status_with("annas-secret-token"), sim.status_with("a-guess-at-a-token")), (200, 401));
}

#[test]
fn the_environment_has_a_token_too() {
    let start = |value: &str, flags: &[&str]| {
        let mut child = program(flags).env("MOTE_TOKEN", value).stdout(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let door = lines.find_map(|line| line.ok().filter(|line| line.starts_with("door "))).unwrap();
        child.kill().unwrap();
        child.wait().unwrap();
        door
    };
    let own = start("the-owners-own-token", &["--port", "0"]);
    assert!(
        own.contains("MOTE_TOKEN") && own.contains("known are owner (read+act+operator)") && !own.contains("own-token"),
        "{own}"
    );
    let two = start("anna:read:annas-secret-token ben:act:bens-secret-token", &["--port", "0"]);
    assert!(two.contains("known are anna (read), ben (act)"), "{two}");
    let other = start("the-owners-own-token", &["--port", "0", "--token", "anna:read:annas-secret-token"]);
    assert!(other.contains("known are anna (read)") && !other.contains("owner"), "{other}");
}

#[test]
fn a_word_about_who_cannot_call() {
    let tokens = ["--port=0", "--token=anna:read:annas-secret-token", "--token=ben:act:bens-secret-token"];
    let mut child = program(&tokens).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert!(lines.any(|line| line.unwrap().starts_with("listening on ")));
    child.kill().unwrap();
    let warned = String::from_utf8(child.wait_with_output().unwrap().stderr).unwrap();
    assert_eq!(warned, "host-sim: ben may not read, so it cannot call\n");
    let sim = Sim::start(&tokens[1..]);
    assert_eq!(["annas-secret-token", "bens-secret-token"].map(|token| sim.status_with(token)), [200, 403]);
}

#[test]
fn a_file_of_tokens_is_read_again_when_somebody_says_so() {
    let path = std::env::temp_dir().join(format!("mote-tokens-{}", std::process::id()));
    let file = path.to_str().unwrap();
    let write = |text: &str| std::fs::write(&path, text).unwrap();
    let change = |mode: &str| assert!(Command::new("chmod").args([mode, file]).status().unwrap().success());
    write("");
    change("600");
    write("# who gets in\n\nanna:read:annas-secret-token\n");
    let sim = Sim::start(&["--token-file", file, "--token", "ben:act:bens-secret-token"]);
    assert!(sim.wait_for("door ").contains("known are ben (act), anna (read)"));
    let all = || ["annas-secret-token", "annas-other-token"].map(|token| sim.status_with(token));
    assert!(sim.ask("read temperature").starts_with("HTTP/1.1 401"));
    assert_eq!(all(), [200, 401]);
    write("anna:read:annas-secret-token\nanna:read:annas-other-token\n");
    sim.signal("-HUP");
    assert!(sim.wait_for("read again").ends_with("known are: ben (act), anna (read)"));
    assert_eq!(all(), [200, 200]);
    write("anna:read:secret\n");
    sim.signal("-HUP");
    let wrong = sim.wait_for("stay as they were");
    assert!(wrong.contains(&format!("{file}, line 1: a token has")) && !wrong.contains("secret"), "{wrong}");
    assert_eq!(all(), [200, 200]);
    write("# nobody\n");
    sim.signal("-HUP");
    assert!(sim.wait_for("read again").ends_with("known are: ben (act)"));
    assert_eq!(all(), [401, 401]);
    // One that is empty from the start is a mistake, and one that others may read is worth a word.
    let empty = refused(&["--token-file", file]);
    let said = String::from_utf8(empty.stderr).unwrap();
    assert!(empty.status.code() == Some(2) && said.contains("there is no token in it"), "{said}");
    assert!(!said.contains("chmod"), "{said}");
    change("644");
    assert!(String::from_utf8(refused(&["--token-file", file]).stderr).unwrap().contains("chmod 600"));
    std::fs::remove_file(path).unwrap();
}

#[test]
fn it_goes_by_the_names_it_is_given_and_pages_may_ask_that_were_allowed() {
    let ask = |sim: &Sim, fields: &str| {
        let answer = sim.exchange(&format!("GET / HTTP/1.1\r\n{fields}Connection: close\r\n\r\n"));
        answer.split(' ').nth(1).unwrap().to_owned()
    };
    let plain = Sim::start(&[]);
    let named = Sim::start(&["--name", "Kitchen.example", "--allow-origin", "https://panel.example"]);
    let (kitchen, panel) = ("Host: kitchen.example\r\n", "Host: localhost\r\nOrigin: https://panel.example\r\n");
    assert_eq!([ask(&plain, kitchen), ask(&plain, panel)], ["421", "403"]);
    assert_eq!([ask(&named, kitchen), ask(&named, panel)], ["200", "200"]);
}

#[test]
fn what_happens_is_told_from_the_level_on_that_was_asked_for() {
    let sim = Sim::start(&["--log", "info"]);
    sim.ask("read temperature");
    let line = sim.wait_for("submitted");
    assert!(line.contains("info: task=") && sim.wait_for("completed").contains("info: task="), "{line}");

    let sim = Sim::start(&["--log", "warn", "--fault", "temperature:after=0"]);
    sim.ask("read temperature");
    sim.wait_for("failed");
    let log = sim.get("/log");
    assert!(log.contains(r#""text":"submitted""#) && log.contains(r#""level":"warn""#), "{log}");
}
