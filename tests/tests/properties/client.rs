//! The client understands the server, in every version and however the bytes come; and whatever comes, it lives on.

use mote_tests::{
    random::{Random, with_seeds},
    visit::{self, VERSIONS},
    world::{PROFILE, World},
};
use protocol_core::{
    Agent, Done, Profile, Served, Stopped, TaskCx,
    client::{Answer, Content, Events, Request, Say, Saying, TaskState, Version},
    json::Json,
};

use crate::{make, mutations::mutate};

/// Says again what it was told, in an artifact of two chunks; asks once if the text begins with a question mark.
struct Echo;

impl Agent for Echo {
    async fn run(&self, task: &mut TaskCx<'_, '_>) -> Result<Done, Stopped> {
        let said = task.text().unwrap_or("none").to_owned();
        if said.starts_with('?') {
            return task.ask(format_args!("{said}"));
        }
        task.artifact("echo").more_to_come().text(format_args!("{said}")).await?;
        task.artifact("echo").append().text(format_args!("{said}")).await?;
        Ok(Done::Completed)
    }
}

fn world() -> World {
    World::with::<Echo, 8, 256, 3, 8>(Echo, Served::ALL, Profile { skills: &[], ..PROFILE })
}

fn written(version: Version, id: u32, request: &Request<'_>) -> String {
    let mut body = String::new();
    version.write(id, request, &mut |piece: &str| body.push_str(piece)).unwrap();
    body
}

/// The data of the events of a stream that comes in pieces of that size.
fn events(stream: &str, piece: usize) -> Vec<String> {
    let mut buffer = vec![0; 8192];
    let mut events = Events::new(&mut buffer);
    let mut found = Vec::new();
    for mut bytes in stream.as_bytes().chunks(piece) {
        while !bytes.is_empty() {
            if let Some(data) = events.push(&mut bytes).unwrap() {
                found.push(String::from_utf8(data.to_vec()).unwrap());
            }
        }
    }
    found
}

/// The words of an artifact's parts.
fn texts<'a>(
    parts: impl Iterator<Item = Result<protocol_core::client::Part<'a>, impl core::fmt::Debug>>,
) -> Vec<String> {
    let text = |content| if let Content::Text(text) = content { text.to_string() } else { panic!("no text") };
    parts.map(|part| text(part.unwrap().content)).collect()
}

#[test]
fn what_is_asked_is_understood_and_so_is_what_is_answered() {
    with_seeds(60, |random| {
        let mut world = world();
        let version = Version::parse(VERSIONS[random.below(VERSIONS.len())]).unwrap();
        let text = format!("!{}", make::text(random, 40));
        let context = random.once_in(2).then(|| make::name(random, 10));
        let parts = [Saying::Text(&text)];
        let say = Say { message: "m", parts: &parts, context: context.as_deref(), ..Say::default() };
        let id = random.number() as u32;

        let body = world.ask(&written(version, id, &Request::Send(say)));
        let Ok(Answer::Task(task)) = version.read(body.as_bytes(), id) else { panic!("{body}") };
        assert_eq!(task.status.state, Some(TaskState::Completed));
        let artifacts = task.artifacts.map(|artifact| texts(artifact.unwrap().parts)).collect::<Vec<_>>();
        assert_eq!(artifacts, [[text.clone(), text.clone()]]);
        assert_eq!(context, context.as_ref().and(task.context.map(|context| context.to_string())));
        assert!(version.read(body.as_bytes(), id.wrapping_add(1)).is_err());

        let name = task.id.to_string();
        let shown = world.ask(&written(version, 1, &Request::Get { task: &name }));
        let Ok(Answer::Task(again)) = version.read(shown.as_bytes(), 1) else { panic!("{shown}") };
        assert_eq!(again.status.state, Some(TaskState::Completed));
        let refused = world.ask(&written(version, 2, &Request::Cancel { task: &name }));
        let Ok(Answer::Error(failure)) = version.read(refused.as_bytes(), 2) else { panic!("{refused}") };
        assert_eq!(failure.kind, Some(protocol_core::FaultKind::TaskNotCancelable));
        let list = Request::List { context: None, page: None };
        if version.has(&list) {
            let listed = world.ask(&written(version, 3, &list));
            let page = version.read_page(listed.as_bytes(), 3).unwrap().unwrap();
            assert_eq!(page.tasks().map(|task| task.unwrap().id.to_string()).collect::<Vec<_>>(), [name]);
        }
    });
}

#[test]
fn a_stream_is_understood_however_it_is_torn() {
    for name in VERSIONS {
        let version = Version::parse(name).unwrap();
        let parts = [Saying::Text("!é\u{2028}\n😀")];
        let say = Say { message: "m", parts: &parts, ..Say::default() };
        let client = world().post(&written(version, 7, &Request::Stream(say)));
        assert!(client.is_stream);
        let stream = client.text();
        let whole = events(&stream, stream.len());
        let mut said = Vec::new();
        let mut states = Vec::new();
        for data in &whole {
            match version.read_event(data.as_bytes(), 7).unwrap() {
                Answer::Artifact(update) => {
                    said.extend(texts(update.artifact.parts));
                    assert_eq!((update.is_append, update.is_last), (said.len() == 2, said.len() == 2));
                }
                Answer::Status(update) => states.push(update.status.state.unwrap()),
                Answer::Task(task) => states.push(task.status.state.unwrap()),
                other => panic!("{other:?}"),
            }
        }
        assert_eq!(said, ["!é\u{2028}\n😀"; 2], "{name}");
        assert_eq!(states.last(), Some(&TaskState::Completed), "{name}");
        for piece in 1..stream.len() {
            assert_eq!(events(&stream, piece), whole, "{name} in pieces of {piece}");
        }
        let returns = stream.replace('\n', "\r\n");
        for piece in [1, 2, 3, 5, 64] {
            assert_eq!(events(&returns, piece), whole, "{name} with returns in pieces of {piece}");
        }
    }
}

#[test]
fn a_question_is_answered_in_its_task() {
    for name in VERSIONS {
        let version = Version::parse(name).unwrap();
        let mut world = world();
        let [question, answer] = ["?why", "!because"].map(|text| [Saying::Text(text)]);
        let say = Say { message: "m1", parts: &question, ..Say::default() };
        let body = world.ask(&written(version, 1, &Request::Send(say)));
        let Ok(Answer::Task(task)) = version.read(body.as_bytes(), 1) else { panic!("{body}") };
        assert_eq!(task.status.state, Some(TaskState::InputRequired));
        assert_eq!(texts(task.status.message.unwrap().parts), ["?why"]);
        let (id, context) = (task.id.to_string(), task.context.map(|context| context.to_string()));
        let say = Say { message: "m2", parts: &answer, task: Some(&id), context: context.as_deref(), ..Say::default() };
        let body = world.ask(&written(version, 2, &Request::Send(say)));
        let Ok(Answer::Task(task)) = version.read(body.as_bytes(), 2) else { panic!("{body}") };
        assert!(task.id.is(&id) && task.status.state == Some(TaskState::Completed), "{body}");
    }
}

/// Documents of every kind, in every version.
fn documents() -> Vec<String> {
    let mut documents = vec![
        r#"{"name":"n","supportedInterfaces":[{"url":"u","protocolBinding":"JSONRPC","protocolVersion":"1.0"}],"skills":[{"id":"s","examples":["e"]}],"securitySchemes":{"b":{"type":"http","scheme":"Bearer"}}}"#.to_owned(),
        r#"{"name":"n","url":"u","protocolVersion":"0.3.0","additionalInterfaces":[{"url":"v","transport":"GRPC"}],"authentication":{"schemes":["Basic"]}}"#.to_owned(),
        r#"{"jsonrpc":"2.0","id":7,"error":{"code":-32001,"message":"no","data":[{"reason":"TASK_NOT_FOUND"}]}}"#.to_owned(),
    ];
    for name in VERSIONS {
        let version = Version::parse(name).unwrap();
        let mut world = world();
        let data = Json::parse(br#"{"a":[1,2.5e3,null]}"#).unwrap();
        let parts = [Saying::Text("!x"), Saying::Data(data)];
        let say = Say { message: "m", parts: &parts, ..Say::default() };
        documents.push(world.ask(&written(version, 7, &Request::Send(say))));
        documents.push(world.post(&written(version, 7, &Request::Stream(say))).text());
        let list = Request::List { context: None, page: None };
        documents.extend(version.has(&list).then(|| world.ask(&written(version, 7, &list))));
    }
    documents
}

#[test]
fn whatever_comes_is_read_or_refused() {
    let documents = documents();
    with_seeds(400, |random| {
        let mut bytes = random.pick(&documents).clone().into_bytes();
        for _ in 0..random.below(4) {
            mutate(random, &mut bytes, &documents);
        }
        look(random, &bytes);
    });
    // Nothing of it is refused as it is.
    let newest = Version::newest();
    assert!(documents.iter().any(|one| visit::page(newest, one.as_bytes(), 7).is_ok()));
    assert_eq!(documents.iter().filter(|one| visit::card(one.as_bytes()).is_ok()).count(), 2);
}

fn look(random: &mut Random, bytes: &[u8]) {
    let _ = visit::card(bytes);
    for name in VERSIONS {
        let version = Version::parse(name).unwrap();
        for is_event in [false, true] {
            let _ = visit::answer(version, bytes, 7, is_event);
        }
        let _ = visit::page(version, bytes, 7);
        let mut buffer = vec![0; random.below(600)];
        let mut events = Events::new(&mut buffer);
        let mut rest = bytes;
        while !rest.is_empty() {
            let before = rest.len();
            if let Ok(Some(data)) = events.push(&mut rest) {
                let _ = visit::answer(version, data, 7, true);
            }
            assert!(rest.len() < before, "nothing was taken");
        }
    }
}
