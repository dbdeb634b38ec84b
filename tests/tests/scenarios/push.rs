//! Push notifications: who is told what, in which order and in which words.

use mote_tests::{
    webhook::{Answer, FAILED, Sent, TAKEN, Webhooks},
    world::World,
};
use protocol_core::push::{Challenge, Outcome};

use crate::support::{Script, about, code_of, member, send, send_01, send_03, state_of, texts};

/// A world with room for eight configurations and two senders.
pub(crate) fn world() -> World {
    World::pushing::<_, 8, 512, 8, 2>(Script, Challenge::ByDialect, None)
}

/// A message of 1.0 that wants to be answered at once, with a webhook.
pub(crate) fn send_to(text: &str, url: &str) -> String {
    let config =
        format!(r#"{{"url":"{url}","token":"t0k","authentication":{{"scheme":"Bearer","credentials":"c0c"}}}}"#);
    send("SendMessage", text, "").replace(
        r#"}]}}}"#,
        &format!(r#"}}]}},"configuration":{{"returnImmediately":true,"taskPushNotificationConfig":{config}}}}}}}"#),
    )
}

/// A configuration of 1.0 for a task.
pub(crate) fn set(task: &str, id: &str, url: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":3,"method":"CreateTaskPushNotificationConfig","params":{{"taskId":"{task}","id":"{id}","url":"{url}"}}}}"#
    )
}

/// Deletes it.
pub(crate) fn delete(task: &str, id: &str) -> String {
    set(task, id, "").replace("Create", "Delete")
}

fn events(sent: &[Sent]) -> Vec<String> {
    sent.iter().filter_map(|sent| sent.body.clone()).collect()
}

/// What happens in these scripts, slowly enough that nothing is joined.
const SLOWLY: &str = "work; wait 10; chunk a; wait 10; chunk b; wait 10; say x; wait 10; last c; wait 10; put d; end y";

#[test]
fn the_newest_dialect_is_told_every_event_once_as_a_stream_is() {
    let mut world = world();
    let hooks = Webhooks::start(&mut world, 2, |_| TAKEN);
    let id = member(&world.ask(&send_to(SLOWLY, "https://example.com/hook?a=b")), "id");
    let stream = world.post(&about("SubscribeToTask", &id));
    world.advance(1000);
    let streamed: Vec<String> = stream.events();
    let unwrap = |event: &String| event.split_once("\"result\":").unwrap().1.strip_suffix('}').unwrap().to_owned();
    let told = hooks.bodies();
    // It is told, too, what the stream shows in its snapshot.
    assert_eq!(told[..2].iter().map(|event| state_of(event)).collect::<Vec<_>>(), SUBMITTED_AND_WORKING);
    assert_eq!(told[2..], streamed[1..].iter().map(unwrap).collect::<Vec<_>>());
    assert_eq!(told.len(), 8, "{told:#?}");
    for sent in hooks.sent().iter() {
        assert_eq!(sent.url, "https://example.com/hook?a=b");
        assert_eq!((sent.token.as_deref(), sent.authorization.as_deref()), (Some("t0k"), Some("Bearer c0c")));
        assert_eq!((sent.content_type, &sent.task), ("application/a2a+json", &id));
    }
    let counts = world.node.push_counts().unwrap();
    assert_eq!((counts.used, counts.all, counts.delivered, counts.failed, counts.lost), (1, 8, 8, 0, 0));
}

const SUBMITTED_AND_WORKING: [&str; 2] = ["TASK_STATE_SUBMITTED", "TASK_STATE_WORKING"];

#[test]
fn the_middle_dialect_is_told_the_whole_task_as_it_was_behind_each_event() {
    let mut world = world();
    // So slow that the task has ended before the second one is sent.
    let hooks = Webhooks::start(&mut world, 2, |_| Answer::After(1000, Outcome::Delivered));
    let config = r#"}]},"configuration":{"blocking":false,"pushNotificationConfig":{"url":"http://example.com/"}}}}"#;
    let text = "work; wait 10; chunk a; wait 10; say x; wait 10; chunk b; wait 10; end y";
    let id = member(&world.ask(&send_03("message/send", text, "").replace("}]}}}", config)), "id");
    world.advance(10_000);
    let told = hooks.bodies();
    let seen: Vec<_> = told.iter().map(|task| (state_of(task), texts(task))).collect();
    let seen: Vec<(&str, Vec<&str>)> =
        seen.iter().map(|(state, texts)| (state.as_str(), texts.iter().map(String::as_str).collect())).collect();
    assert_eq!(
        seen,
        [
            ("submitted", vec![text]),
            ("working", vec![text]),
            ("working", vec!["a", text]),
            ("working", vec!["x", "a", text]),
            ("working", vec!["x", "a", "b", text]),
            ("completed", vec!["y", "a", "b", text, "x"]),
        ]
    );
    assert!(told.iter().all(|task| task.starts_with(&format!(r#"{{"kind":"task","id":"{id}""#))));
    // The last one is what the task is now.
    assert!(world.ask(&about("tasks/get", &id)).contains(told.last().unwrap()));
    assert!(hooks.sent().iter().all(|sent| sent.content_type == "application/json" && sent.token.is_none()));
}

#[test]
fn the_oldest_dialect_asks_first_and_then_tells_the_whole_task() {
    let mut world = world();
    let hooks = Webhooks::start(&mut world, 2, |_| TAKEN);
    let config = r#"}]},"pushNotification":{"url":"https://example.com/","token":"t"}}}"#;
    let client = world.post(&send_01("tasks/send", "t", SLOWLY).replace("}]}}}", config));
    world.advance(1000);
    assert!(client.has_ended());
    let sent = hooks.take();
    // It has not proved yet that it is whom its client meant.
    assert!(sent[0].body.is_none() && sent[0].token.is_none());
    assert!(sent[1..].iter().all(|sent| sent.token.as_deref() == Some("t")));
    assert!(
        sent[1..]
            .iter()
            .all(|sent| sent.body.as_ref().is_some_and(|task| task.starts_with(r#"{"id":"t","sessionId":"#)))
    );
    let states: Vec<String> = events(&sent).iter().map(|task| state_of(task)).collect();
    assert_eq!(states.len(), 8);
    assert_eq!((states[0].as_str(), states[1].as_str(), states[7].as_str()), ("submitted", "working", "completed"));
    assert!(client.text().contains(sent.last().unwrap().body.as_ref().unwrap()));
}

#[test]
fn a_webhook_that_was_asked_a_day_ago_is_asked_again_before_it_is_told_more() {
    let mut world = world();
    let hooks = Webhooks::start(&mut world, 1, |_| TAKEN);
    world.ask(&send_01("tasks/send", "t", "ask who"));
    let config = r#"{"jsonrpc":"2.0","id":1,"method":"tasks/pushNotification/set","params":{"id":"t","pushNotificationConfig":{"url":"https://example.com/"}}}"#;
    world.ask(config);
    let challenges = |sent: &[Sent]| sent.iter().map(|sent| sent.body.is_none()).collect::<Vec<_>>();
    assert_eq!(challenges(&hooks.take()), [true]);
    world.advance(23 * 3_600_000);
    world.ask(&send_01("tasks/send", "t", "ask again"));
    assert_eq!(challenges(&hooks.take()), [false, false]);
    world.advance(2 * 3_600_000);
    assert!(hooks.take().is_empty(), "nobody is asked for nothing");
    world.ask(&send_01("tasks/send", "t", "done"));
    assert_eq!(challenges(&hooks.take()), [true, false, false]);
}

#[test]
fn who_is_asked_is_what_the_owner_says() {
    for (challenge, expected) in [(Challenge::Always, 1), (Challenge::Never, 0), (Challenge::ByDialect, 0)] {
        let mut world = World::pushing::<_, 8, 512, 8, 2>(Script, challenge, None);
        let hooks = Webhooks::start(&mut world, 2, |_| TAKEN);
        world.ask(&send_to("done", "https://example.com/"));
        world.advance(1000);
        assert_eq!(hooks.sent().iter().filter(|sent| sent.body.is_none()).count(), expected, "{challenge:?}");
        assert_eq!(hooks.sent().first().is_some_and(|sent| sent.body.is_none()), expected == 1);
        assert_eq!(hooks.bodies().len(), 2, "{challenge:?}");
    }
    let mut world = World::pushing::<_, 8, 512, 8, 2>(Script, Challenge::Never, None);
    let hooks = Webhooks::start(&mut world, 2, |_| TAKEN);
    world.ask(
        &send_01("tasks/send", "t", "done")
            .replace("}]}}}", r#"}]},"pushNotification":{"url":"https://a.example/"}}}"#),
    );
    assert!(hooks.sent().iter().all(|sent| sent.body.is_some()) && hooks.sent().len() == 2);
}

#[test]
fn a_webhook_that_does_not_prove_itself_is_told_nothing() {
    let mut world = World::pushing::<_, 8, 512, 8, 2>(Script, Challenge::Always, None);
    let hooks = Webhooks::start(&mut world, 2, |_| Answer::Now(Outcome::Refused));
    world.ask(&send_to("work; wait 600000; say x; done", "https://example.com/"));
    world.advance(500_000);
    assert_eq!(hooks.sent().len(), 1, "it is left alone until there is something new");
    world.advance(500_000);
    assert!(hooks.sent().len() > 1 && hooks.bodies().is_empty());
    hooks.answer(|_| TAKEN);
    world.node.retry_deliveries();
    world.settle();
    // Then it hears everything.
    let states: Vec<String> = hooks.bodies().iter().map(|event| state_of(event)).collect();
    assert_eq!(states, [&SUBMITTED_AND_WORKING[..], &["TASK_STATE_WORKING", "TASK_STATE_COMPLETED"]].concat());
}

#[test]
fn what_was_a_message_is_told_to_nobody_and_leaves_nothing() {
    let mut world = world();
    let hooks = Webhooks::start(&mut world, 2, |_| TAKEN);
    let before = world.node.limits().blocks.used;
    let answer = world.ask(&send_to("reply hi", "https://example.com/"));
    assert!(answer.contains(r#""message""#));
    world.advance(100_000);
    assert!(hooks.sent().is_empty());
    assert_eq!(world.node.push_counts().unwrap().used, 0);
    // The reply goes with the next task; then there is nothing of it.
    for _ in 0..8 {
        world.ask(&send("SendMessage", "done", ""));
    }
    assert!(world.node.limits().blocks.used - before < 8 * 6, "{:?}", world.node.limits());
}

#[test]
fn a_configuration_tells_what_comes_behind_it_and_one_of_an_ended_task_nothing() {
    let mut world = world();
    let hooks = Webhooks::start(&mut world, 2, |_| TAKEN);
    let id = member(&world.ask(&send("SendMessage", "chunk a; ask who", "")), "id");
    assert!(world.ask(&set(&id, "x", "https://example.com/")).contains(r#""id":"x""#));
    world.advance(1000);
    assert!(hooks.sent().is_empty());
    world.ask(&send("SendMessage", "chunk b; done", &format!(r#","taskId":"{id}""#)));
    let kinds: Vec<String> =
        hooks.bodies().iter().map(|body| body[2..].split('"').next().unwrap().to_owned()).collect();
    assert_eq!(kinds, ["statusUpdate", "artifactUpdate", "statusUpdate"]);
    assert_eq!(state_of(hooks.bodies().last().unwrap()), "TASK_STATE_COMPLETED");
    hooks.take();
    assert!(world.ask(&set(&id, "y", "https://example.com/")).contains(r#""id":"y""#));
    world.advance(1000);
    assert!(hooks.sent().is_empty());
}

#[test]
fn a_task_that_is_opened_again_is_told_of_again() {
    let mut world = world();
    let hooks = Webhooks::start(&mut world, 2, |_| TAKEN);
    let config = r#"}]},"pushNotification":{"url":"https://example.com/"}}}"#;
    world.ask(&send_01("tasks/send", "t", "done").replace("}]}}}", config));
    let first = events(&hooks.take());
    world.advance(1000);
    world.ask(&send_01("tasks/send", "t", "say more; done"));
    let second = events(&hooks.take());
    let states = |told: &[String]| told.iter().map(|task| state_of(task)).collect::<Vec<_>>();
    assert_eq!(states(&first), ["submitted", "completed"]);
    assert_eq!(states(&second), ["submitted", "working", "completed"]);
}

#[test]
fn several_webhooks_of_a_task_are_told_the_same_each_at_its_own_pace() {
    let mut world = world();
    let hooks = Webhooks::start(&mut world, 2, |sent| {
        if sent.url.contains("slow") { Answer::After(700, Outcome::Delivered) } else { TAKEN }
    });
    let id =
        member(&world.ask(&send_to("say 1; wait 100; say 2; wait 100; say 3; end 4", "https://quick.example/")), "id");
    world.ask(&set(&id, "slow", "https://slow.example/"));
    world.advance(10_000);
    let of = |host: &str| -> Vec<String> {
        hooks.sent().iter().filter(|sent| sent.url.contains(host)).filter_map(|sent| sent.body.clone()).collect()
    };
    assert_eq!(of("quick").len(), 5);
    assert_eq!(of("slow"), of("quick")[2..]);
}

#[test]
fn chunks_are_joined_while_a_webhook_is_behind_and_statuses_never() {
    let mut world = world();
    let hooks = Webhooks::start(&mut world, 2, |_| Answer::After(5000, Outcome::Delivered));
    world.ask(&send_to(
        "work; wait 10; chunk a; wait 1; chunk b; wait 1; say x; say z; chunk c; wait 1; last d; wait 1; put e; add e f; add out g; done",
        "https://example.com/",
    ));
    world.advance(100_000);
    let told: Vec<(Vec<String>, bool, bool)> = hooks
        .bodies()
        .iter()
        .map(|event| (texts(event), event.contains(r#""append":true"#), event.contains(r#""lastChunk":true"#)))
        .collect();
    let told: Vec<(String, bool, bool)> = told.into_iter().map(|(texts, a, b)| (texts.join(","), a, b)).collect();
    let expected = [
        ("", false, false),
        ("", false, false),
        ("a,b", false, false),
        ("x", false, false),
        ("z", false, false),
        ("c,d", true, true),
        ("e", false, true),
        ("f", true, false),
        ("g", true, false),
        ("", false, false),
    ];
    assert_eq!(told, expected.map(|(texts, append, last)| (texts.to_owned(), append, last)));
}

#[test]
fn chunks_that_were_dropped_before_they_were_sent_are_told_as_a_stream_tells_it() {
    let mut world = World::pushing::<_, 4, 60, 4, 2>(Script, Challenge::Never, None);
    let hooks = Webhooks::start(&mut world, 2, |_| Answer::After(500, Outcome::Delivered));
    let text = "work; wait 10; chunks 100; wait 10; add out end; done";
    let answer = world.ask(&send_to(text, "https://example.com/"));
    let body = about("SubscribeToTask", &member(&answer, "id"));
    let stream =
        world.request(&protocol_core::Inbound { body: body.as_bytes(), ..protocol_core::Inbound::GUEST }, 4096);
    stream.stall();
    world.advance(100);
    stream.resume();
    world.advance(100_000);
    let chunks: Vec<String> = hooks.bodies().into_iter().filter(|body| body.contains("artifactUpdate")).collect();
    let first = &chunks[0];
    let streamed: Vec<String> = stream.events().into_iter().filter(|body| body.contains("droppedChunks")).collect();
    assert_eq!(dropped(first), dropped(streamed.last().unwrap()));
    assert!(dropped(first) > 50 && !first.contains(r#""append":true"#), "{first}");
    let told: Vec<String> = chunks.iter().flat_map(|chunk| texts(chunk)).collect();
    let left: Vec<String> = (dropped(first)..100).map(|n| format!("[{n}]")).chain(["end".to_owned()]).collect();
    assert_eq!(told, left);
    assert_eq!(world.node.push_counts().unwrap().lost, 0);
}

/// How many chunks are gone.
fn dropped(json: &str) -> usize {
    json.split("\"droppedChunks\":").nth(1).unwrap_or("0}").split('}').next().unwrap().parse().unwrap()
}

#[test]
fn what_was_tried_and_is_gone_from_the_log_holds_up_nothing() {
    let mut world = World::pushing::<_, 4, 60, 4, 2>(Script, Challenge::Never, None);
    // The first chunk fails; when it is tried again it is gone.
    let mut failures = 2;
    let hooks = Webhooks::start(&mut world, 2, move |sent| {
        let fails = failures > 0 && sent.body.as_ref().is_some_and(|body| body.contains("artifactUpdate"));
        failures -= i32::from(fails);
        if fails { FAILED } else { TAKEN }
    });
    world.ask(&send_to("work; chunk first; wait 10; chunks 100; wait 10; done", "https://example.com/"));
    world.advance(100_000);
    let bodies = hooks.bodies();
    assert_eq!(state_of(bodies.last().unwrap()), "TASK_STATE_COMPLETED");
    assert_eq!(texts(bodies.iter().rfind(|body| body.contains("artifactUpdate")).unwrap()).last().unwrap(), "[99]");
    // The same with a status that is gone.
    let mut world = World::pushing::<_, 4, 60, 4, 2>(Script, Challenge::Never, None);
    let mut failures = 2;
    let hooks = Webhooks::start(&mut world, 2, move |_| {
        failures -= 1;
        if failures > 0 { FAILED } else { TAKEN }
    });
    world.ask(&send_to("says 100; done", "https://example.com/"));
    world.advance(100_000);
    let bodies = hooks.bodies();
    assert_eq!(state_of(bodies.last().unwrap()), "TASK_STATE_COMPLETED");
    assert!(bodies.iter().any(|body| body.contains("[99]")));
}

#[test]
fn one_that_is_deleted_while_it_is_out_is_forgotten() {
    let mut world = world();
    let hooks = Webhooks::start(&mut world, 2, |_| Answer::After(1000, Outcome::Delivered));
    let id = member(&world.ask(&send("SendMessage", "ask who", "")), "id");
    world.ask(&set(&id, "a", "https://a.example/"));
    world.ask(&send("SendMessage", "say b; ask c", &format!(r#","taskId":"{id}""#)));
    assert_eq!(hooks.sent().len(), 1);
    assert_eq!(world.ask(&delete(&id, "a")), r#"{"jsonrpc":"2.0","id":3,"result":null}"#);
    // Its place is taken by another one before it comes back.
    world.ask(&set(&id, "b", "https://b.example/"));
    world.advance(10_000);
    assert_eq!(hooks.take().len(), 1, "nothing has happened since");
    world.ask(&send("SendMessage", "done", &format!(r#","taskId":"{id}""#)));
    world.advance(10_000);
    let sent = hooks.take();
    assert_eq!(sent.iter().map(|sent| sent.url.as_str()).collect::<Vec<_>>(), ["https://b.example/"; 2]);
    assert_eq!(world.node.push_counts().unwrap().delivered, 2);
    assert_eq!(code_of(&world.ask(&set(&id, "a", "").replace("Create", "Get"))), -32001);
}

#[test]
fn one_that_is_replaced_while_it_is_out_goes_on_where_it_was_under_the_same_ids() {
    let mut world = world();
    let hooks = Webhooks::start(&mut world, 2, |_| Answer::After(1000, Outcome::Delivered));
    let id = member(&world.ask(&send("SendMessage", "ask who", "")), "id");
    world.ask(&set(&id, "a", "https://old.example/"));
    world.ask(&send("SendMessage", "say b; ask c", &format!(r#","taskId":"{id}""#)));
    world.advance(1500);
    let old = hooks.take();
    assert_eq!(old.len(), 2);
    world.ask(&set(&id, "a", "https://new.example/"));
    world.advance(10_000);
    let new = hooks.take();
    assert!(new.iter().all(|sent| sent.url == "https://new.example/"));
    // The second one was out: it may or may not have been taken, so it comes again and can be known again.
    assert_eq!((&new[0].id, &new[0].body), (&old[1].id, &old[1].body));
    assert_eq!(new.len(), 2);
    assert_eq!(texts(new[1].body.as_ref().unwrap()), ["c"]);
    let listed =
        world.ask(&set(&id, "a", "").replace("CreateTaskPushNotificationConfig", "ListTaskPushNotificationConfigs"));
    assert_eq!(listed.matches("example").count(), 1, "{listed}");
}

#[test]
fn secrets_are_in_no_document() {
    let mut world = world();
    let hooks = Webhooks::start(&mut world, 2, |_| TAKEN);
    let answer = world.ask(&send_to("work; ask x", "https://example.com/"));
    let id = member(&answer, "id");
    let mut documents = vec![answer];
    for method in [
        "GetTask",
        "ListTasks",
        "SubscribeToTask",
        "tasks/get",
        "tasks/resubscribe",
        "tasks/pushNotificationConfig/get",
        "tasks/pushNotificationConfig/list",
        "tasks/pushNotification/get",
    ] {
        documents.push(world.post(&about(method, &id)).text());
    }
    documents.push(world.ask(&set(&id, &id, "").replace("Create", "Get")));
    documents.push(
        world.ask(&set(&id, &id, "").replace("CreateTaskPushNotificationConfig", "ListTaskPushNotificationConfigs")),
    );
    documents.extend(hooks.bodies());
    assert_eq!(documents.iter().filter(|document| document.contains("********")).count(), 5);
    for document in documents {
        assert!(!document.contains("t0k") && !document.contains("c0c"), "{document}");
    }
}
