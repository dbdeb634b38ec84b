//! The terminal as people type it: what it shows, and how it ends.
#![cfg(unix)]

use core::time::Duration;
use std::{
    io::{BufRead, BufReader, Read, Write},
    net::{TcpListener, TcpStream},
    process::{Child, Command, Output, Stdio},
    thread,
    time::Instant,
};

/// The program, and nothing in its environment that it would listen to.
fn program(words: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_host-sim"));
    command.args(words).env_remove("MOTE_TOKEN").stdin(Stdio::null());
    command
}

/// An agent of our own, ended with its test.
struct Agent {
    child: Child,
    url: String,
}

impl Agent {
    fn start(flags: &[&str]) -> Self {
        let mut child = program(&["--port", "0"]).args(flags).stdout(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let address = loop {
            let line = lines.next().expect("it says where it listens").unwrap();
            if let Some(rest) = line.split("listening on http://").nth(1) {
                break rest.trim_end_matches('/').to_owned();
            }
        };
        thread::spawn(move || lines.for_each(drop));
        Self { child, url: format!("http://{address}") }
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// How a command ended, and what it said where.
#[derive(Debug)]
struct Said {
    code: i32,
    out: String,
    err: String,
}

impl From<Output> for Said {
    fn from(output: Output) -> Self {
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        Self { code: output.status.code().unwrap(), out: text(output.stdout), err: text(output.stderr) }
    }
}

fn say(words: &[&str]) -> Said {
    program(words).output().unwrap().into()
}

fn say_with(token: &str, words: &[&str]) -> Said {
    program(words).env("MOTE_TOKEN", token).output().unwrap().into()
}

#[test]
fn every_version_reads_watches_asks_back_and_ends() {
    let agent = Agent::start(&["--seed", "1"]);
    let url = agent.url.as_str();
    for version in ["1.0", "0.3", "0.1"] {
        let say = |words: &[&str]| say(&[words, &["--a2a", version]].concat());
        let read = say(&["ask", url, "read", "temperature"]);
        assert_eq!((read.code, read.out.lines().count()), (0, 1), "{read:?}");
        assert!(read.out.starts_with("temperature ") && read.err.starts_with("completed (task "), "{read:?}");
        let watched = say(&["watch", url, "watch temperature 3 times every 10 ms"]);
        assert_eq!((watched.code, watched.out.lines().count()), (0, 3), "{watched:?}");
        let help = say(&["ask", url, "hello"]);
        assert!(help.code == 0 && help.out.contains("read temperature"), "{help:?}");

        let asked = say(&["ask", url, "calibrate", "temperature"]);
        assert_eq!(asked.code, 6, "{asked:?}");
        let task = asked.err.split("--task ").nth(1).unwrap().split(' ').next().unwrap();
        assert_eq!(say(&["get", url, task]).code, 6);
        let answered = say(&["watch", url, "--task", task, "21.5"]);
        assert_eq!(answered.code, 0, "{answered:?}");

        let long = say(&["ask", url, "--no-wait", "alert when temperature above 99"]);
        assert_eq!(long.code, 0, "{long:?}");
        let task = long.err.split("(task ").nth(1).unwrap().trim_end().trim_end_matches(')');
        let ended = say(&["cancel", url, task]);
        assert!(ended.code == 0 && ended.err.starts_with("canceled"), "{ended:?}");
        let again = say(&["cancel", url, task]);
        assert!(again.code == 4 && again.err.contains("(-32002)"), "{again:?}");
        assert_eq!(say(&["watch", url, "--task", task]).code, 1);
        let tasks = say(&["tasks", url]);
        if version == "1.0" {
            assert!(tasks.code == 0 && tasks.out.contains(&format!("{task}  canceled")), "{tasks:?}");
        } else {
            assert!(tasks.code == 2 && tasks.err.contains("nobody can ask for all tasks"), "{tasks:?}");
        }
    }
    let card = say(&["card", url]);
    assert!(card.code == 0 && card.out.contains("> read temperature") && card.out.contains("A2A 1.0"), "{card:?}");
    assert_eq!(say(&["card", &format!("{url}/.well-known/agent.json")]).out, card.out);
}

#[test]
fn an_agent_that_does_not_name_its_version_is_spoken_to_in_the_one_it_knows() {
    let agent = Agent::start(&["--dialects", "0.1"]);
    let read = say(&["ask", &agent.url, "read", "temperature", "--json"]);
    assert!(read.code == 0 && read.out.contains(r#""index":0"#), "{read:?}");
    let watched = say(&["watch", &agent.url, "watch temperature 2 times every 10 ms"]);
    assert_eq!((watched.code, watched.out.lines().count()), (0, 2), "{watched:?}");
    let long = say(&["ask", &agent.url, "--timeout", "0.5", "watch temperature 2 times every 700 ms"]);
    assert_eq!((long.code, long.out.lines().count()), (0, 2), "{long:?}");
}

#[test]
fn a_machine_gets_one_document_in_a_line() {
    let agent = Agent::start(&["--fault", "temperature:after=2"]);
    let watched = say(&["watch", &agent.url, "--json", "watch temperature 5 times every 10 ms"]);
    assert_eq!(watched.code, 1, "{watched:?}");
    let lines = watched.out.lines().collect::<Vec<_>>();
    assert!(lines[0].starts_with(r#"{"task":{"#) && lines.last().unwrap().contains("TASK_STATE_FAILED"), "{lines:?}");
    assert_eq!(lines.iter().filter(|line| line.contains("artifactUpdate")).count(), 2);
    for line in lines {
        assert!(protocol_core::json::Json::parse(line.as_bytes()).is_ok(), "{line}");
    }
    let missing = say(&["get", &agent.url, "nobody", "--json"]);
    assert!(missing.code == 4 && missing.out.starts_with(r#"{"error":{"code":-32001,"#), "{missing:?}");
}

#[test]
fn who_is_not_let_in_is_told_what_to_do() {
    let grants = ["owner:read+act:the-token-of-the-owner", "guest:act:the-token-of-a-guest"];
    let agent = Agent::start(&["--token", grants[0], "--token", grants[1]]);
    let ask = ["ask", agent.url.as_str(), "read", "temperature"];
    let none = say(&ask);
    assert!(none.code == 5 && none.err.contains("put it into the variable MOTE_TOKEN"), "{none:?}");
    let wrong = say_with("a-token-that-nobody-has", &ask);
    assert!(wrong.code == 5 && wrong.err.contains("does not know the token"), "{wrong:?}");
    assert!(!wrong.err.contains("a-token-that"), "{wrong:?}");
    let guest = say_with("the-token-of-a-guest", &ask);
    assert!(guest.code == 5 && guest.err.contains("not allowed"), "{guest:?}");
    assert_eq!(say_with("the-token-of-the-owner", &ask).code, 0);
    // As a server has it.
    assert_eq!(say_with(&grants.join(" "), &ask).code, 0);
    assert_eq!(say(&["card", &agent.url]).code, 0);
}

/// Answers each request with what `answer` makes of its head and body, and hangs up.
fn serve(answer: impl Fn(&str, &str) -> String + Send + 'static) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = BufReader::new(stream.unwrap());
            let mut head = String::new();
            while !head.ends_with("\r\n\r\n") && stream.read_line(&mut head).is_ok_and(|count| count > 0) {}
            let length = head.lines().find_map(|line| line.strip_prefix("Content-Length: ")).unwrap_or("0");
            let mut body = vec![0; length.parse().unwrap()];
            stream.read_exact(&mut body).unwrap();
            let answer = answer(&head, &String::from_utf8(body).unwrap());
            // Who has heard enough hangs up.
            let _ = stream.get_mut().write_all(answer.as_bytes());
        }
    });
    url
}

fn http(status: &str, media: &str, body: &str) -> String {
    format!("HTTP/1.1 {status}\r\nContent-Type: {media}\r\nContent-Length: {}\r\n\r\n{body}", body.len())
}

fn json(body: &str) -> String {
    http("200 OK", "application/json", body)
}

fn stream(events: &str) -> String {
    format!("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\n\r\n{events}")
}

/// The card of an agent that is asked at its root, wherever that is.
fn card(head: &str) -> String {
    let host = head.lines().find_map(|line| line.strip_prefix("Host: ")).unwrap();
    json(&format!(
        r#"{{"name":"n","capabilities":{{"streaming":true}},"skills":[],"supportedInterfaces":[{{"url":"http://{host}/","protocolBinding":"JSONRPC","protocolVersion":"1.0"}}]}}"#
    ))
}

/// The number of a request.
fn id(body: &str) -> &str {
    body.split("\"id\":").nth(1).unwrap().split(',').next().unwrap()
}

#[test]
fn what_is_no_agent_is_told_from_one_that_is_not_there() {
    let nobody = TcpListener::bind("127.0.0.1:0").unwrap();
    let gone = format!("http://{}", nobody.local_addr().unwrap());
    drop(nobody);
    let away = say(&["ask", &gone, "hello"]);
    assert!(away.code == 3 && away.err.contains("nothing listens there"), "{away:?}");

    for (answer, code, words) in [
        (http("404 Not Found", "text/plain", ""), 7, "there is no card at http://127.0.0.1:"),
        (http("200 OK", "text/html", "<html>"), 7, "no card of an A2A agent"),
        (http("302 Found\r\nLocation: http://elsewhere.example/\u{9b}2J", "text/plain", ""), 7, "sends elsewhere"),
        (http("503 Busy", "text/plain", ""), 4, "no time (503)"),
        ("SSH-2.0-OpenSSH_9.9\r\n\r\n".to_owned(), 7, "no HTTP"),
        (String::new(), 3, "cut off"),
        (
            json(r#"{"name":"n","url":"https://secure.example/","protocolVersion":"0.3.0"}"#),
            7,
            "https is not spoken here",
        ),
        (json(r#"{"name":"n","url":"g:1","preferredTransport":"GRPC"}"#), 7, "no interface"),
    ] {
        let url = serve(move |_, _| answer.clone());
        let said = say(&["ask", &url, "hello"]);
        assert!(said.code == code && said.err.contains(words) && !said.err.contains('\u{9b}'), "{said:?}");
    }
    for (words, said) in [
        (&["ask", "https://x.example", "hi"][..], "https is not spoken here"),
        (&["ask", "x.example", "hi"], "must begin with"),
        (&["ask", "http://127.0.0.1:1"], "nothing to say"),
    ] {
        let bad = say(words);
        assert!(bad.code == 2 && bad.err.contains(said) && bad.err.lines().count() == 1, "{bad:?}");
    }
    let help = say(&["watch", "--help"]);
    assert!(help.code == 0 && help.out.contains("Exit codes"), "{help:?}");
}

#[test]
fn an_agent_does_not_drive_the_terminal() {
    let url = serve(|head, body| {
        if head.starts_with("GET") {
            return card(head)
                .replace("\"name\":\"n\"", r#""name":"n\u001b]0;owned\u0007""#)
                .replace("Content-Length", "X");
        }
        let (id, text) = (id(body), r#"{"text":"\u001b[2J\u009b31mé\u202e\nsecond"}"#);
        json(&format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"message":{{"parts":[{text}]}}}}}}"#))
    });
    for words in
        [&["ask", url.as_str(), "x"][..], &["ask", &url, "x", "--json"], &["card", &url], &["card", &url, "--json"]]
    {
        let said = say(words);
        assert_eq!(said.code, 0, "{said:?}");
        assert!(!said.out.contains(['\u{1b}', '\u{9b}', '\u{202e}', '\u{7}']), "{said:?}");
    }
    assert_eq!(say(&["ask", &url, "x"]).out, "\\u{1b}[2J\\u{9b}31mé\\u{202e}\nsecond\n");
}

#[test]
fn a_token_goes_to_no_other_host_than_the_one_that_was_named() {
    let url = serve(|head, body| {
        assert!(!head.contains("evil"));
        if head.starts_with("GET") {
            card(head).replace("http://127.0.0.1", "http://evil.example").replace("Content-Length", "X")
        } else {
            assert!(head.contains("Authorization: Bearer a-token"));
            json(&format!(r#"{{"jsonrpc":"2.0","id":{},"result":{{"message":{{"parts":[]}}}}}}"#, id(body)))
        }
    });
    let kept = say_with("a-token", &["ask", &url, "x"]);
    assert!(kept.code == 2 && kept.err.contains("evil.example") && kept.err.contains("--elsewhere"), "{kept:?}");
    // But it may be asked where it is.
    assert_eq!(say_with("a-token", &["ask", &url, "--here", "x"]).code, 0);
    let split = say_with("two\u{1}words", &["ask", &url, "x"]);
    assert!(split.code == 2 && split.err.contains("MOTE_TOKEN"), "{split:?}");
}

#[test]
fn a_stream_that_breaks_is_taken_up_behind_what_was_seen() {
    let url = serve(|head, body| {
        if head.starts_with("GET") {
            return card(head);
        }
        let event = |result: &str| format!(r#"data: {{"jsonrpc":"2.0","id":{},"result":{result}}}"#, id(body));
        let chunk = |text: &str| {
            event(&format!(
                r#"{{"artifactUpdate":{{"taskId":"t","artifact":{{"artifactId":"a","parts":[{{"text":"{text}"}}]}},"append":true}}}}"#
            ))
        };
        let task = |state: &str, parts: &str| {
            event(&format!(
                r#"{{"task":{{"id":"t","status":{{"state":"TASK_STATE_{state}"}},"artifacts":[{{"artifactId":"a","parts":[{parts}]}}]}}}}"#
            ))
        };
        if body.contains("SendStreamingMessage") {
            let (begin, one, two) = (task("WORKING", ""), chunk("one"), chunk("two"));
            stream(&format!("retry: 1\nid: 1\n{begin}\n\nid: 2\n{one}\n\nid: 3\n{two}\n\nid: 4\ndata: {{\"torn"))
        } else if head.contains("Last-Event-ID: 3") {
            // It begins with the task as it is, and then says no more.
            let (snapshot, three) =
                (task("WORKING", r#"{"text":"one"},{"text":"two"},{"text":"three"}"#), chunk("four"));
            stream(&format!("{snapshot}\n\nid: 6\n{three}\n\n"))
        } else {
            assert!(head.contains("Last-Event-ID: 6"), "{head}");
            let done = event(r#"{"statusUpdate":{"taskId":"t","status":{"state":"TASK_STATE_COMPLETED"}}}"#);
            stream(&format!("{done}\n\n"))
        }
    });
    let watched = say(&["watch", &url, "x"]);
    assert_eq!((watched.code, watched.out.as_str()), (0, "one\ntwo\nthree\nfour\n"), "{watched:?}");
    assert_eq!(watched.err.matches("taken up again").count(), 2, "{watched:?}");
}

#[test]
fn who_is_silent_is_not_waited_for() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let begun = Instant::now();
    let said = say(&["ask", &url, "x", "--timeout", "0.2"]);
    assert!(said.code == 3 && said.err.contains("said nothing for 0.2 s"), "{said:?}");
    assert!(begun.elapsed() < Duration::from_secs(9));
}

/// An agent that is asked by its card and answers every call with a result.
fn serve_result(result: &'static str) -> String {
    serve(move |head, body| match head.starts_with("GET") {
        true => card(head),
        false => json(&format!(r#"{{"jsonrpc":"2.0","id":{},"result":{result}}}"#, id(body))),
    })
}

#[test]
fn a_task_that_takes_longer_than_the_patience_is_waited_for() {
    let agent = Agent::start(&[]);
    for version in ["1.0", "0.3", "0.1"] {
        let words = ["ask", &agent.url, "--timeout", "0.5", "--a2a", version, "watch temperature 3 times every 400 ms"];
        let said = say(&words);
        assert_eq!((said.code, said.out.lines().count()), (0, 3), "{version}: {said:?}");
    }
}

#[test]
fn who_loses_the_agent_is_told_how_to_come_back_to_the_task() {
    let url = serve(|head, body| match () {
        () if head.starts_with("GET") => card(head),
        () if body.contains("SendMessage") => json(&format!(
            r#"{{"jsonrpc":"2.0","id":{},"result":{{"task":{{"id":"t","status":{{"state":"TASK_STATE_WORKING"}}}}}}}}"#,
            id(body)
        )),
        () => String::new(),
    });
    let lost = say(&["ask", &url, "x"]);
    assert!(lost.code == 3 && lost.err.contains(&format!("host-sim watch {url} --task t,")), "{lost:?}");
}

#[test]
fn what_may_be_copied_into_a_shell_is_not_obeyed_there() {
    let url = serve_result(r#"{"task":{"id":"x'; reboot '","status":{"state":"TASK_STATE_INPUT_REQUIRED"}}}"#);
    let asked = say(&["ask", &url, "x"]);
    assert!(asked.code == 6 && asked.err.contains(r"--task 'x'\''; reboot '\''' WORDS"), "{asked:?}");
}

#[test]
fn a_state_that_nobody_knows_is_no_good_end() {
    let url = serve_result(r#"{"task":{"id":"t","status":{"state":"TASK_STATE_MAYBE"}}}"#);
    let said = say(&["ask", &url, "x"]);
    assert!(said.code == 7 && said.err.contains("TASK_STATE_MAYBE"), "{said:?}");
    // As the other versions have it, not inside of anything.
    let shown = say(&["ask", &url, "x", "--json"]);
    assert!(shown.code == 7 && shown.out.starts_with(r#"{"id":"t","#), "{shown:?}");
}

#[test]
fn a_machine_gets_the_error_of_a_stream() {
    let url = serve(|head, body| match head.starts_with("GET") {
        true => card(head),
        false => {
            let id = id(body);
            stream(&format!(
                "data: {{\"jsonrpc\":\"2.0\",\"id\":{id},\"error\":{{\"code\":-32603,\"message\":\"no\"}}}}\n\n"
            ))
        }
    });
    let said = say(&["watch", &url, "x", "--json"]);
    assert_eq!((said.code, said.out.as_str()), (4, "{\"error\":{\"code\":-32603,\"message\":\"no\"}}\n"), "{said:?}");
}

#[test]
fn pages_without_end_are_not_read_to_their_end_and_that_is_told() {
    let url = serve(|head, body| match head.starts_with("GET") {
        true => card(head),
        false => {
            json(&format!(r#"{{"jsonrpc":"2.0","id":{0},"result":{{"tasks":[],"nextPageToken":"{0}"}}}}"#, id(body)))
        }
    });
    let said = say(&["tasks", &url]);
    assert!(said.code == 0 && said.err.contains("more than 100 pages"), "{said:?}");
}

#[test]
fn ctrl_c_leaves_the_task_or_ends_it() {
    let agent = Agent::start(&[]);
    for (flags, state) in [(&[][..], "working"), (&["--cancel"][..], "canceled")] {
        let words =
            [&["watch", agent.url.as_str(), "--json", "watch temperature every 20 ms for 60 s"][..], flags].concat();
        let mut child = program(&words).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        let mut first = String::new();
        out.read_line(&mut first).unwrap();
        let task = first.split(r#""id":""#).nth(1).unwrap().split('"').next().unwrap().to_owned();
        // The first event is shown before it is known what it says: the second is behind that.
        out.read_line(&mut first).unwrap();
        assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
        let mut err = String::new();
        child.stderr.take().unwrap().read_to_string(&mut err).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(130), "{err}");
        assert_eq!(err.contains(&format!("host-sim cancel {} {task}", agent.url)), flags.is_empty(), "{err}");
        let left = say(&["get", &agent.url, &task]);
        assert!(left.err.starts_with(state), "{left:?}");
    }
}

#[test]
fn ctrl_c_ends_a_task_that_is_waited_for() {
    let (asked, told) = std::sync::mpsc::channel();
    let url = serve(move |head, body| {
        if head.starts_with("GET") {
            return card(head);
        }
        asked.send(body.to_owned()).unwrap();
        let task = r#"{"id":"t","status":{"state":"TASK_STATE_WORKING"}}"#;
        let result = if body.contains("SendMessage") { format!(r#"{{"task":{task}}}"#) } else { task.to_owned() };
        json(&format!(r#"{{"jsonrpc":"2.0","id":{},"result":{result}}}"#, id(body)))
    });
    let mut child = program(&["ask", &url, "--cancel", "x"]).stderr(Stdio::null()).spawn().unwrap();
    let next = |word| told.iter().find(|body| body.contains(word)).unwrap();
    // An agent that waited for the end of the task would not have told by now which one it is.
    assert!(next("SendMessage").contains(r#""returnImmediately":true"#));
    next("GetTask");
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    assert!(next("CancelTask").contains(r#""id":"t""#));
    assert_eq!(child.wait().unwrap().code(), Some(130));
}

#[test]
fn a_second_ctrl_c_waits_for_nobody() {
    let (asked, told) = std::sync::mpsc::channel();
    let (until_the_end, end) = std::sync::mpsc::channel::<()>();
    let url = serve(move |head, body| {
        if head.starts_with("GET") {
            return card(head);
        }
        asked.send(body.to_owned()).unwrap();
        if body.contains("CancelTask") {
            let _ = end.recv();
        }
        let task = r#"{"id":"t","status":{"state":"TASK_STATE_WORKING"}}"#;
        let result = if body.contains("SendMessage") { format!(r#"{{"task":{task}}}"#) } else { task.to_owned() };
        json(&format!(r#"{{"jsonrpc":"2.0","id":{},"result":{result}}}"#, id(body)))
    });
    let child = program(&["ask", &url, "--cancel", "x"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // It knows by now which task it is, and then it wants to end it.
    for call in ["GetTask", "CancelTask"] {
        told.iter().find(|body| body.contains(call)).unwrap();
        assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    }
    let said = Said::from(child.wait_with_output().unwrap());
    assert!(said.code == 130 && said.err.contains("has not said that the task has ended"), "{said:?}");
    drop(until_the_end);
}

#[test]
fn without_a_command_it_is_an_agent_as_before() {
    let agent = Agent::start(&[]);
    let mut socket = TcpStream::connect(agent.url.trim_start_matches("http://")).unwrap();
    socket.write_all(b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").unwrap();
    let mut answer = String::new();
    socket.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
    let help = say(&["--help"]);
    assert!(help.out.contains("host-sim ask --help"), "{help:?}");
}
