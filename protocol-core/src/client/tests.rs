extern crate std;

use std::{format, string::String, string::ToString as _, vec, vec::Vec};

use super::*;
use crate::{FaultKind, json::Json, time::Millis};

fn version(name: &str) -> Version {
    Version::parse(name).unwrap()
}

fn written(version: Version, request: &Request<'_>) -> String {
    let mut body = String::new();
    version.write(7, request, &mut |piece: &str| body.push_str(piece)).unwrap();
    assert!(Json::parse(body.as_bytes()).is_ok(), "{body}");
    body
}

#[test]
fn requests_are_in_the_words_of_their_version() {
    let parts = [
        Saying::Text("say \"hi\"\n"),
        Saying::Data(Json::parse(b"{ \"a\" : 1 }").unwrap()),
        Saying::Data(Json::parse(b"[1]").unwrap()),
    ];
    let say = Say { message: "m", parts: &parts, task: Some("t"), context: Some("c"), is_at_once: true };
    for (name, body) in [
        (
            "1.0",
            r#"{"jsonrpc":"2.0","id":7,"method":"SendMessage","params":{"message":{"messageId":"m","taskId":"t","contextId":"c","role":"ROLE_USER","parts":[{"text":"say \"hi\"\n"},{"data":{"a":1}},{"data":[1]}]},"configuration":{"returnImmediately":true}}}"#,
        ),
        (
            "0.3",
            r#"{"jsonrpc":"2.0","id":7,"method":"message/send","params":{"message":{"kind":"message","messageId":"m","taskId":"t","contextId":"c","role":"user","parts":[{"kind":"text","text":"say \"hi\"\n"},{"kind":"data","data":{"a":1}},{"kind":"data","data":{"value":[1]}}]},"configuration":{"acceptedOutputModes":[],"blocking":false}}}"#,
        ),
        (
            "0.1",
            r#"{"jsonrpc":"2.0","id":7,"method":"tasks/send","params":{"id":"t","sessionId":"c","message":{"role":"user","parts":[{"type":"text","text":"say \"hi\"\n"},{"type":"data","data":{"a":1}},{"type":"data","data":{"value":[1]}}]}}}"#,
        ),
    ] {
        assert_eq!(written(version(name), &Request::Send(say)), body);
    }
    let bare = Say { message: "m", parts: &parts[..1], ..Say::default() };
    // There, a client names its tasks.
    assert!(written(version("0.1"), &Request::Send(bare)).contains(r#""params":{"id":"m","message""#));
    assert!(!written(version("1.0"), &Request::Stream(say)).contains("configuration"));
}

#[test]
fn calls_about_tasks_are_there_where_the_version_has_them() {
    for (name, words) in [
        ("1.0", ["GetTask", "CancelTask", "SubscribeToTask"]),
        ("0.3", ["tasks/get", "tasks/cancel", "tasks/resubscribe"]),
        ("0.1", ["tasks/get", "tasks/cancel", "tasks/resubscribe"]),
    ] {
        let task = "a\"b";
        let requests = [Request::Get { task }, Request::Cancel { task }, Request::Subscribe { task }];
        for (request, method) in requests.iter().zip(words) {
            let body = format!(r#"{{"jsonrpc":"2.0","id":7,"method":"{method}","params":{{"id":"a\"b"}}}}"#);
            assert_eq!(written(version(name), request), body);
        }
        assert_eq!(version(name).can_answer_at_once(), name != "0.1");
        let list = Request::List { context: None, page: Some("p") };
        let mut count = 0;
        let asked = version(name).write(1, &list, &mut |_: &str| count += 1);
        assert_eq!((asked.is_ok(), count > 0, version(name).has(&list)), (name == "1.0", name == "1.0", name == "1.0"));
    }
    let list = written(version("1.0"), &Request::List { context: Some("c"), page: Some("p") });
    assert!(list.ends_with(r#""params":{"pageSize":100,"contextId":"c","pageToken":"p"}}"#), "{list}");
}

#[test]
fn numbers_are_written_as_they_are() {
    for id in [0, 1, 10, 907, u32::MAX] {
        let mut body = String::new();
        version("1.0").write(id, &Request::Get { task: "t" }, &mut |piece: &str| body.push_str(piece)).unwrap();
        assert!(body.contains(&format!("\"id\":{id},")), "{body}");
    }
}

fn answer(result: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":7,"result":{result}}}"#)
}

#[test]
fn a_task_is_read_in_every_version() {
    for (name, result) in [
        (
            "1.0",
            r#"{"task":{"id":"t","contextId":"c","status":{"state":"TASK_STATE_INPUT_REQUIRED","message":{"parts":[{"text":"what?"}]}},"artifacts":[{"artifactId":"a","parts":[{"text":"1"},{"data":{"v":2}}]}]}}"#,
        ),
        // An answer to get has no wrapper.
        (
            "1.0",
            r#"{"id":"t","contextId":"c","status":{"state":"TASK_STATE_INPUT_REQUIRED","message":{"parts":[{"text":"what?"}]}},"artifacts":[{"artifactId":"a","parts":[{"text":"1"},{"data":{"v":2}}]}]}"#,
        ),
        (
            "0.3",
            r#"{"kind":"task","id":"t","contextId":"c","status":{"state":"input-required","message":{"kind":"message","parts":[{"kind":"text","text":"what?"}]}},"artifacts":[{"artifactId":"a","parts":[{"kind":"text","text":"1"},{"kind":"data","data":{"v":2}}]}]}"#,
        ),
        (
            "0.1",
            r#"{"id":"t","sessionId":"c","status":{"state":"input-required","message":{"role":"agent","parts":[{"type":"text","text":"what?"}]}},"artifacts":[{"index":0,"name":"a","parts":[{"type":"text","text":"1"},{"type":"data","data":{"v":2}}]}],"metadata":null}"#,
        ),
    ] {
        let body = answer(result);
        let Ok(Answer::Task(task)) = version(name).read(body.as_bytes(), 7) else { panic!("{body}") };
        assert!(task.id.is("t") && task.context.unwrap().is("c"));
        assert_eq!(task.status.state, Some(TaskState::InputRequired));
        let mut said = task.status.message.unwrap().parts;
        assert!(matches!(said.next(), Some(Ok(Part { content: Content::Text(text), .. })) if text.is("what?")));
        let artifact = { task.artifacts }.next().unwrap().unwrap();
        assert_eq!(artifact.id.to_string(), if name == "0.1" { "0" } else { "a" });
        let contents = artifact.parts.map(|part| part.unwrap().content).collect::<Vec<_>>();
        let [Content::Text(text), Content::Data(data)] = contents[..] else { panic!() };
        assert!(text.is("1") && data.raw() == r#"{"v":2}"#);
    }
}

#[test]
fn events_are_read_in_every_version() {
    for (name, status, chunk, has_final) in [
        (
            "1.0",
            r#"{"statusUpdate":{"taskId":"t","contextId":"c","status":{"state":"TASK_STATE_WORKING"}}}"#,
            r#"{"artifactUpdate":{"taskId":"t","artifact":{"artifactId":"a","parts":[{"text":"x"}]},"append":true,"lastChunk":true}}"#,
            false,
        ),
        (
            "0.3",
            r#"{"kind":"status-update","taskId":"t","contextId":"c","status":{"state":"working"},"final":true}"#,
            r#"{"kind":"artifact-update","taskId":"t","artifact":{"artifactId":"a","parts":[{"kind":"text","text":"x"}]},"append":true,"lastChunk":true}"#,
            true,
        ),
        (
            "0.1",
            r#"{"id":"t","status":{"state":"working"},"final":true}"#,
            r#"{"id":"t","artifact":{"index":3,"parts":[{"type":"text","text":"x"}],"append":true,"lastChunk":true}}"#,
            true,
        ),
    ] {
        let (status, chunk) = (answer(status), answer(chunk));
        let Ok(Answer::Status(read)) = version(name).read_event(status.as_bytes(), 7) else { panic!("{status}") };
        assert!(read.task.is("t") && read.is_final == has_final);
        assert_eq!(read.status.state, Some(TaskState::Working));
        let Ok(Answer::Artifact(read)) = version(name).read_event(chunk.as_bytes(), 7) else { panic!("{chunk}") };
        assert!(read.task.is("t") && read.is_append && read.is_last && { read.artifact.parts }.next().is_some());
    }
    // In the oldest version a status of its own looks like a task, but for where it stands.
    let bare = answer(r#"{"id":"t","status":{"state":"working"}}"#);
    assert!(matches!(version("0.1").read_event(bare.as_bytes(), 7), Ok(Answer::Status(_))));
    assert!(matches!(version("0.1").read(bare.as_bytes(), 7), Ok(Answer::Task(_))));
    // Examples of then have no envelope to speak of.
    let loose = br#"{"result":{"id":"t","status":{"state":"working"},"final":false}}"#;
    assert!(matches!(version("0.1").read_event(loose, 7), Ok(Answer::Status(_))));
    assert!(version("0.3").read_event(loose, 7).is_err());
}

#[test]
fn an_error_has_its_number_its_words_and_its_kind() {
    let body = |code: &str, data: &str| {
        format!(r#"{{"jsonrpc":"2.0","id":7,"error":{{"code":{code},"message":"why \u00e9","data":{data}}}}}"#)
    };
    let detail = |reason: &str| format!(r#"[{{"@type":"x"}},{{"@type":"y","reason":"{reason}"}}]"#);
    for (name, code, data, kind) in [
        ("1.0", "-32001", "null".to_string(), Some(FaultKind::TaskNotFound)),
        ("1.0", "-32603", detail("TASK_NOT_CANCELABLE"), Some(FaultKind::TaskNotCancelable)),
        ("1.0", "-32004", detail("WHO_KNOWS"), Some(FaultKind::UnsupportedOperation)),
        ("1.0", "-32000", "null".to_string(), None),
        ("1.0", "1", "{}".to_string(), None),
        ("0.3", "-32007", "\"x\"".to_string(), Some(FaultKind::ExtendedCardNotConfigured)),
        // The same numbers mean other things there.
        ("0.1", "-32007", "null".to_string(), Some(FaultKind::Unauthenticated)),
        ("0.1", "-32009", "null".to_string(), Some(FaultKind::TaskEnded)),
    ] {
        let body = body(code, &data);
        let Ok(Answer::Error(failure)) = version(name).read(body.as_bytes(), 7) else { panic!("{body}") };
        assert_eq!((failure.code.to_string().as_str(), failure.kind), (code, kind), "{name}");
        assert!(failure.message.unwrap().is("why é"));
    }
    // Who could not read the request says so to nobody.
    let nobody = br#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"no"}}"#;
    assert!(matches!(version("1.0").read(nobody, 7), Ok(Answer::Error(Failure { kind: Some(FaultKind::Parse), .. }))));
}

#[test]
fn what_is_no_answer_is_told() {
    let other = answer(r#"{"message":{"parts":[]}}"#).replace("\"id\":7", "\"id\":8");
    let text = answer(r#"{"message":{"parts":[]}}"#).replace("\"id\":7", "\"id\":\"7\"");
    for (body, words) in [
        ("", "no JSON"),
        ("[]", "`the answer` must be an object"),
        (r#"{"id":7,"result":{}}"#, "`jsonrpc`"),
        (r#"{"jsonrpc":"2.0","id":7}"#, "`result` is missing"),
        (r#"{"jsonrpc":"2.0","id":7,"result":{},"error":{"code":1}}"#, "beside a result"),
        (r#"{"jsonrpc":"2.0","id":7,"error":{"code":"1"}}"#, "`error.code` is missing"),
        (r#"{"jsonrpc":"2.0","id":7,"id":7,"result":{}}"#, "twice"),
        (r#"{"jsonrpc":"2.0","id":7,"result":{"huh":1}}"#, "neither a task nor a message"),
        (r#"{"jsonrpc":"2.0","id":7,"result":{"task":{"id":"t"}}}"#, "`task.status` is missing"),
        (
            r#"{"jsonrpc":"2.0","id":7,"result":{"task":{"id":"t","status":{"state":"S"},"artifacts":{}}}}"#,
            "must be an array",
        ),
        (&other, "another one"),
        (&text, "another one"),
    ] {
        let Err(why) = version("1.0").read(body.as_bytes(), 7) else { panic!("{body}") };
        assert!(why.to_string().contains(words), "{body}: {why}");
    }
    // A state of tomorrow is no reason not to show a task.
    let body = answer(r#"{"task":{"id":"t","status":{"state":"TASK_STATE_DREAMING"}}}"#);
    let Ok(Answer::Task(task)) = version("1.0").read(body.as_bytes(), 7) else { panic!() };
    assert!(task.status.state.is_none() && task.status.word.is("TASK_STATE_DREAMING"));
}

#[test]
fn a_page_of_tasks_may_be_empty_in_two_ways() {
    let newest = Version::newest();
    for (result, count, next) in [
        (r#"{"tasks":[{"id":"t","status":{"state":"TASK_STATE_WORKING"}},{}],"nextPageToken":"n"}"#, 2, Some("n")),
        (r#"{"tasks":[],"nextPageToken":"","pageSize":50,"totalSize":0}"#, 0, None),
        ("{}", 0, None),
    ] {
        let body = answer(result);
        let page = newest.read_page(body.as_bytes(), 7).unwrap().unwrap();
        assert_eq!(page.tasks().count(), count);
        assert_eq!(page.next.map(|next| next.to_string()).as_deref(), next);
    }
    let body = answer(r#"{"tasks":[{"id":"t","status":{"state":"TASK_STATE_WORKING"}},{}]}"#);
    let read =
        newest.read_page(body.as_bytes(), 7).unwrap().unwrap().tasks().map(|task| task.is_ok()).collect::<Vec<_>>();
    assert_eq!(read, [true, false]);
}

/// The place that a card names: version, address, whether it said the version.
fn place(card: &str, wanted: Option<&str>) -> Option<(&'static str, String, bool)> {
    let card = Card::read(card.as_bytes()).unwrap();
    let place = card.place(wanted.map(version))?;
    Some((place.version.name(), place.url.to_string(), place.is_sure))
}

#[test]
fn a_card_names_the_place_and_the_version() {
    let named = |version, url: &str, is_sure| Some((version, url.to_string(), is_sure));
    let listed = |interfaces: &str| {
        format!(r#"{{"name":"n","supportedInterfaces":[{interfaces}],"url":"u","protocolVersion":"0.3.0"}}"#)
    };
    let both = listed(
        r#"{"url":"g","protocolBinding":"GRPC","protocolVersion":"1.0"},{"url":"a","protocolBinding":"JSONRPC","protocolVersion":"0.3"},{"url":"b","protocolBinding":"JSONRPC","protocolVersion":"1.0"}"#,
    );
    // The newest one wins, wherever it stands.
    assert_eq!(place(&both, None), named("1.0", "b", true));
    assert_eq!(place(&both, Some("0.3")), named("0.3", "a", true));
    let other = listed(r#"{"url":"g","protocolBinding":"HTTP+JSON","protocolVersion":"1.0"}"#);
    assert_eq!(place(&other, None), named("0.3", "u", true));
    let future = listed(r#"{"url":"f","protocolBinding":"JSONRPC","protocolVersion":"2.0"}"#);
    assert_eq!(place(&future, None), named("0.3", "u", true));
    for (card, found) in [
        (r#"{"name":"n","url":"u","protocolVersion":"0.3.0","preferredTransport":"JSONRPC"}"#, named("0.3", "u", true)),
        (r#"{"name":"n","url":"u","protocolVersion":"0.2.5"}"#, named("0.3", "u", true)),
        (
            r#"{"name":"n","url":"g","protocolVersion":"0.3.0","preferredTransport":"GRPC","additionalInterfaces":[{"url":"h","transport":"HTTP+JSON"},{"url":"j","transport":"JSONRPC"}]}"#,
            named("0.3", "j", true),
        ),
        (r#"{"name":"n","url":"u"}"#, named("0.3", "u", false)),
        (r#"{"name":"n","url":"g","preferredTransport":"GRPC"}"#, None),
        (r#"{"name":"n","url":"u","protocolVersion":"7.0"}"#, None),
        (
            r#"{"name":"n","skills":[],"supportedInterfaces":[{"protocolBinding":"JSONRPC","protocolVersion":"1.0"}]}"#,
            None,
        ),
    ] {
        assert_eq!(place(card, None), found, "{card}");
    }
    assert_eq!(place(r#"{"name":"n","url":"u"}"#, Some("0.1")), named("0.1", "u", true));
    assert_eq!(version("0.3").before(), Some(version("0.1")));
    assert_eq!(version("0.1").before(), None);
}

#[test]
fn a_card_says_what_the_agent_can_do_and_who_gets_in() {
    let card = br#"{"name":"n","description":"d","version":"","url":"u","capabilities":{"streaming":true},
        "skills":[{"id":"s","name":"S","description":"does","examples":["e1","e2",3]},7],
        "securitySchemes":{"bearer":{"type":"http","scheme":"Bearer"}},"authentication":{"schemes":["Basic"]}}"#;
    let card = Card::read(card).unwrap();
    assert!(card.name.is("n") && card.is_streaming && card.version.is_none());
    let skill = card.skills().next().unwrap();
    assert!(skill.id.unwrap().is("s") && skill.examples().count() == 2);
    let schemes = card.schemes().map(|(name, _)| name.to_string()).collect::<Vec<_>>();
    assert_eq!(schemes, ["bearer"]);
    let oldest = Card::read(br#"{"name":"n","url":"u","authentication":{"schemes":["Basic"]}}"#).unwrap();
    assert!(oldest.schemes().next().unwrap().0.is("Basic"));
    for (card, words) in [
        ("<html>", "no JSON"),
        ("[]", "must be an object"),
        (r#"{"name":"x"}"#, "`supportedInterfaces` is missing"),
        (r#"{"url":"u"}"#, "`name` is missing"),
    ] {
        assert!(Card::read(card.as_bytes()).unwrap_err().to_string().contains(words), "{card}");
    }
}

/// What comes out of a stream that comes in pieces of that size: the data of its events, and errors.
fn events(stream: &[u8], piece: usize, room: usize) -> (Vec<String>, Option<String>) {
    let mut buffer = vec![0; room];
    let mut events = Events::new(&mut buffer);
    let mut found = Vec::new();
    for mut bytes in stream.chunks(piece) {
        while !bytes.is_empty() {
            match events.push(&mut bytes) {
                Ok(Some(data)) => found.push(String::from_utf8(data.to_vec()).unwrap()),
                Ok(None) => {}
                Err(TooLong { most }) => found.push(format!("longer than {most}")),
            }
        }
    }
    (found, events.last_id().map(str::to_string))
}

#[test]
fn a_stream_is_the_same_in_pieces_of_any_size() {
    for (stream, expected, id) in [
        ("data: a\n\ndata:b\n\n", &["a", "b"][..], None),
        ("data: a\r\n\r\ndata: b\r\n\r\n", &["a", "b"], None),
        ("data: a\r\rdata: b\r\r", &["a", "b"], None),
        ("\u{feff}data: a\n\n", &["a"], None),
        (": hello\n\n:\n\ndata: a\ndata:  b\ndata\ndata: é\n\n", &["a\n b\n\né"], None),
        ("event: error\nid: 7\nretry: 250\nfoo: bar\nfoo\ndata: a\n\nid: 8\n", &["a"], Some("7")),
        ("id: 7\ndata: a\n\nid\ndata: b\n\n", &["a", "b"], None),
        ("id: 7\ndata: a\n\nid: 8\n\n", &["a"], Some("8")),
        ("data: a\n\ndata: lost", &["a"], None),
        ("data:\n\n", &[""], None),
        ("id: x\0y\ndata: a\n\n", &["a"], None),
    ] {
        for piece in 1..=stream.len() {
            let (found, last) = events(stream.as_bytes(), piece, 64);
            assert_eq!(found, expected, "{stream:?} in pieces of {piece}");
            assert_eq!(last.as_deref(), id, "{stream:?}");
        }
    }
}

#[test]
fn an_event_that_is_too_long_is_passed_over() {
    let long = format!("id: 1\ndata: {}\ndata: more\n\ndata: next\n\n", "x".repeat(40));
    let (found, _) = events(long.as_bytes(), 1, 32);
    assert_eq!(found, ["longer than 32", "next"]);
    // Of many lines, each of which would fit.
    let many = format!("{}\n: {}\ndata: next\n\n", "data: 1234567890\n".repeat(4), "c".repeat(100));
    let (found, _) = events(many.as_bytes(), 7, 32);
    assert_eq!(found, ["longer than 32", "next"]);
    let (found, _) = events(b"data: a\n\n", 1, 0);
    assert_eq!(found, ["longer than 0"]);
}

#[test]
fn a_new_connection_begins_behind_the_last_whole_event() {
    let mut buffer = [0; 128];
    let mut events = Events::new(&mut buffer);
    assert!(events.push(&mut &b"retry: 250\nid: 1\ndata: a\n\nid: 2\ndata: lo"[..]).unwrap().is_some());
    assert_eq!(events.push(&mut &b"id: 2\ndata: lo"[..]), Ok(None));
    assert_eq!((events.last_id(), events.retry()), (Some("1"), Some(Millis(250))));
    events.restart();
    assert_eq!(events.last_id(), Some("1"));
    assert_eq!(events.push(&mut &b"\xef\xbb\xbfdata: b\n\n"[..]), Ok(Some(&b"b"[..])));
    assert_eq!(events.last_id(), Some("1"));
    let mut late = &b"id: 9999999999999999999999999999999999999999999999999999999999999999999\ndata: c\n\n"[..];
    assert!(events.push(&mut late).unwrap().is_some());
    assert_eq!(events.last_id(), None, "one that is too long cannot be asked for");
    for (id, kept) in [("7 \u{e9}", Some("7 \u{e9}")), ("7\u{1b}", None), ("7\u{7f}", None), ("7\u{85}", None)] {
        let event = std::format!("id: {id}\ndata: d\n\n");
        assert!(events.push(&mut event.as_bytes()).unwrap().is_some());
        assert_eq!(events.last_id(), kept, "no header can have {id:?}");
    }
}
