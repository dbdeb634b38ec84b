//! Things that went wrong once. Each test is named after what must hold, and failed before it did.

use mote_tests::{
    script::{Script, about, member, send, send_01, send_03},
    world::{Client, PROFILE, World},
};
use protocol_core::{Agent, Done, Inbound, Served, Stopped, TaskCx, time::Millis};
use serde_json::Value;

fn small<const TASKS: usize, const BLOCKS: usize, const WORKERS: usize, const READERS: usize>() -> World {
    World::with::<_, TASKS, BLOCKS, WORKERS, READERS>(Script, Served::ALL, PROFILE)
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

fn post_as_reader(world: &mut World, body: &str, window: usize) -> Client {
    world.start_with(&Inbound { body: body.as_bytes(), ..Inbound::GUEST }, window)
}

#[test]
fn a_record_reads_back_wherever_its_items_meet_the_end_of_a_block() {
    // A tag on the very last byte of a block once lost its item's length.
    let mut world = World::new(Script);
    for length in 1..130 {
        let id = "i".repeat(length);
        let body = send("SendMessage", "done", "").replace(r#""messageId":"m""#, &format!(r#""messageId":"{id}""#));
        let message = &json(&world.ask(&body))["result"]["task"]["history"][0];
        assert_eq!(message["messageId"], id.as_str());
        assert_eq!(message["parts"][0]["text"], "done", "a message id of {length} bytes");
    }
}

#[test]
fn a_message_of_any_size_is_stored_with_its_status_or_refused() {
    // One that filled its task's share to the last block once left no room for the status: a task without a state.
    for length in 0..2000 {
        let mut world = small::<4, 32, 1, 2>();
        let answer = world.post(&send_01("tasks/sendSubscribe", "t", &"x".repeat(length)));
        if answer.is_stream {
            let events: Vec<Value> = answer.events().iter().map(|event| json(event)).collect();
            assert_eq!(events[0]["result"]["status"]["state"], "submitted", "{length}: {}", answer.text());
            assert!(answer.has_ended());
        } else {
            assert_eq!(json(&answer.text())["error"]["code"], -32602);
            assert_eq!(world.node.limits().tasks.used, 0);
            assert_eq!(world.node.limits().blocks.used, 0);
        }
    }
}

#[test]
fn a_message_that_is_refused_costs_nobody_a_task() {
    let mut world = small::<8, 64, 1, 4>();
    let ended: Vec<String> = (0..4).map(|_| member(&world.ask(&send("SendMessage", "done", "")), "id")).collect();
    // Too large for any task.
    assert_eq!(json(&world.ask(&send("SendMessage", &"x".repeat(5000), "")))["error"]["code"], -32602);
    for id in &ended {
        assert!(json(&world.ask(&about("GetTask", id))).get("result").is_some(), "{id} is gone");
    }
    // Not too large, but live tasks hold what it would need.
    let mut world = small::<8, 64, 1, 4>();
    let ended = member(&world.ask(&send("SendMessage", "done", "")), "id");
    for _ in 0..3 {
        world.ask(&send("SendMessage", &format!("ask {}", "y".repeat(200)), ""));
    }
    let asked = member(&world.ask(&send("SendMessage", "chunks 9; ask", "")), "id");
    let before = world.ask(&about("GetTask", &asked));
    let large = "z".repeat(1400);
    assert_eq!(json(&world.ask(&send("SendMessage", &large, "")))["error"]["code"], -32000);
    let follow_up = send("SendMessage", &large, &format!(r#","taskId":"{asked}""#));
    assert_eq!(json(&world.ask(&follow_up))["error"]["code"], -32000);
    assert!(json(&world.ask(&about("GetTask", &ended))).get("result").is_some(), "the finished task is gone");
    assert_eq!(world.ask(&about("GetTask", &asked)), before);
}

#[test]
fn opening_the_oldest_task_again_makes_room_by_the_next_oldest() {
    let mut world = small::<32, 64, 1, 4>();
    world.ask(&send_01("tasks/send", "first", "done"));
    let mut next = 0;
    while world.node.limits().blocks.all - world.node.limits().blocks.used > 10 {
        world.ask(&send_01("tasks/send", &format!("t{next}"), "done"));
        next += 1;
    }
    let again = json(&world.ask(&send_01("tasks/send", "first", &format!("end {}", "v".repeat(240)))));
    assert_eq!(again["result"]["status"]["state"], "completed", "{again}");
    assert_eq!(json(&world.ask(&about("tasks/get", "t0")))["error"]["code"], -32001);
    assert!(json(&world.ask(&about("tasks/get", &format!("t{}", next - 1)))).get("result").is_some());
}

#[test]
fn an_old_artifact_survives_many_words_after_it() {
    // Statuses behind the newest chunk were dropped, and the chunk was taken for dropped as well.
    let mut world = small::<4, 60, 1, 4>();
    let sent = world.ask(&send("SendMessage", "put first; says 100; done", ""));
    let task = &json(&sent)["result"]["task"];
    assert_eq!(task["artifacts"][0]["parts"][0]["text"], "first", "{sent}");
    let id = task["id"].as_str().unwrap();
    assert_eq!(json(&world.ask(&about("GetTask", id)))["result"]["artifacts"], task["artifacts"]);
    // And when it is no longer the newest.
    let sent = world.ask(&send("SendMessage", "put first; says 100; put second; done", ""));
    assert_eq!(json(&sent)["result"]["task"]["artifacts"][0]["parts"][0]["text"], "second", "{sent}");
}

#[test]
fn a_list_is_whole_though_one_of_its_tasks_has_dropped_chunks() {
    let mut world = small::<4, 120, 2, 4>();
    let long = world.post(&send("SendStreamingMessage", "work; wait 100; chunks 200; wait 10000; done", ""));
    world.ask(&send("SendMessage", "say thinking; ask which", ""));
    world.advance(200);
    let list = world.post(r#"{"jsonrpc":"2.0","id":1,"method":"ListTasks","params":{"includeArtifacts":true}}"#);
    assert!(!list.is_broken(), "cut off behind {}", list.text());
    assert_eq!(json(&list.text())["result"]["tasks"].as_array().unwrap().len(), 2);
    drop(long);
}

#[test]
fn a_reader_that_starts_late_gets_a_whole_snapshot() {
    // The status at the beginning is gone by the time the reader looks: it sees the task as it is then.
    let mut world = small::<4, 60, 1, 4>();
    let reader = post_as_reader(&mut world, &send("SendStreamingMessage", "work; chunks 100; done", ""), 64);
    reader.stall();
    world.settle();
    reader.resume();
    world.settle();
    assert!(reader.has_ended() && !reader.is_broken(), "{}", reader.text());
    let events: Vec<Value> = reader.events().iter().map(|event| json(event)).collect();
    assert_eq!(events[0]["result"]["task"]["status"]["state"], "TASK_STATE_COMPLETED", "{}", reader.text());
    // Then its end, which closes the stream.
    assert_eq!(events[1]["result"]["statusUpdate"]["status"]["state"], "TASK_STATE_COMPLETED");
    assert_eq!(events.len(), 2);

    // A document that can no longer be told is cut off, never malformed.
    let mut world = small::<4, 60, 1, 4>();
    let working = world.post(&send("SendStreamingMessage", "work; wait 10; says 100; chunks 100; wait 10; done", ""));
    let id = member(&working.text(), "id");
    let reader = post_as_reader(&mut world, &about("GetTask", &id), 20);
    reader.stall();
    world.advance(100);
    reader.resume();
    world.settle();
    assert!(reader.is_broken() || serde_json::from_str::<Value>(&reader.text()).is_ok(), "{}", reader.text());
}

#[test]
fn a_reader_that_missed_chunks_is_told_even_if_something_else_comes_first() {
    for chunks in 1..80 {
        let mut world = small::<4, 60, 1, 4>();
        let script = format!("work; wait 10; chunks {chunks}; say more; add out a; add out b; wait 10; done");
        // A window that takes whole events: one that is cut off in the middle of a dropped event is another matter.
        let client = post_as_reader(&mut world, &send("SendStreamingMessage", &script, ""), 4096);
        world.settle();
        client.stall();
        world.advance(100);
        client.resume();
        world.settle();
        let events: Vec<Value> = client.events().iter().map(|event| json(event)).collect();
        assert!(client.has_ended() && !client.is_broken(), "{chunks}: {}", client.text());
        let mut updates =
            events.iter().map(|event| &event["result"]["artifactUpdate"]).filter(|update| update.is_object());
        let first = updates.next().unwrap_or_else(|| panic!("{chunks}: {}", client.text()));
        assert!(first.get("append").is_none(), "{chunks}: adds to what was never sent: {first}");
    }
}

#[test]
fn resuming_an_ended_task_behind_its_last_event_ends_at_once() {
    let mut world = World::new(Script);
    let stream = world.post(&send_03("message/stream", "work; done", ""));
    let id = member(&stream.text(), "id");
    world.post(&send_01("tasks/sendSubscribe", "old", "work; done"));
    for id in [id.as_str(), "old"] {
        let body = about("tasks/resubscribe", id);
        let inbound = Inbound { body: body.as_bytes(), last_event_id: Some("99"), ..Inbound::GUEST };
        assert!(world.request(&inbound, 64).has_ended(), "{id}: an id that was never given out");
        for seen in 0..12 {
            let seen = seen.to_string();
            let inbound = Inbound { last_event_id: Some(&seen), ..inbound };
            let again = world.request(&inbound, 64);
            assert!(again.has_ended(), "{id} behind {seen}: {}", again.text());
            assert!(!again.events().is_empty());
        }
    }
}

#[test]
fn an_artifact_whose_name_needs_escaping_is_still_one_artifact() {
    struct Quoting;
    impl Agent for Quoting {
        async fn run(&self, task: &mut TaskCx<'_, '_>) -> Result<Done, Stopped> {
            for n in 0..3 {
                task.artifact("a \"b\" \\ \n é").append().more_to_come().text(format_args!("{n}")).await?;
            }
            Ok(Done::Completed)
        }
    }
    let mut world = World::new(Quoting);
    let answer = world.ask(&send("SendMessage", "go", ""));
    let artifacts = &json(&answer)["result"]["task"]["artifacts"];
    assert_eq!(artifacts.as_array().unwrap().len(), 1, "{answer}");
    assert_eq!(artifacts[0]["parts"].as_array().unwrap().len(), 3);
    assert_eq!(artifacts[0]["artifactId"], "a \"b\" \\ \n é");
}

#[test]
fn a_run_that_was_slow_does_not_make_the_next_one_slow() {
    let mut world = World::new(Script);
    let id = member(&world.ask(&send_03("message/send", "slow; ask more", "")), "id");
    world.settle();
    let second = world.post(&send_03("message/send", "wait 500; end fine", &format!(r#","taskId":"{id}""#)));
    assert!(!second.has_ended(), "{}", second.text());
    world.advance(500);
    assert_eq!(json(&second.text())["result"]["status"]["state"], "completed");
}

#[test]
fn a_task_canceled_and_opened_again_is_worked_on_once() {
    /// Tells twice; the second time would be told twice over if an old run went on.
    struct Slow;
    impl Agent for Slow {
        async fn run(&self, task: &mut TaskCx<'_, '_>) -> Result<Done, Stopped> {
            let text = task.text().unwrap_or("").to_owned();
            task.sleep(Millis(100)).await?;
            task.artifact("out").append().text(format_args!("{text}")).await?;
            task.sleep(Millis(100)).await?;
            Ok(Done::Completed)
        }
    }
    for busy in 0..2 {
        let mut world = World::with::<_, 8, 256, 2, 8>(Slow, Served::ALL, PROFILE);
        // Which of the workers has the task, and which one is free.
        let other = (0..busy).map(|_| world.post(&send_01("tasks/send", "other", "other"))).collect::<Vec<_>>();
        let _first = world.post(&send_01("tasks/send", "t", "first"));
        if !other.is_empty() {
            world.ask(&about("tasks/cancel", "other"));
        }
        world.advance(50);
        world.call_now(&about("tasks/cancel", "t"));
        let again = world.start(&send_01("tasks/send", "t", "second"));
        world.advance(1000);
        let answer = json(&again.text());
        assert_eq!(answer["result"]["status"]["state"], "completed");
        let parts = answer["result"]["artifacts"][0]["parts"].as_array().unwrap();
        assert_eq!(parts.len(), 1, "with {busy} busy: {answer}");
        assert_eq!(parts[0]["text"], "second");
    }
}

#[test]
fn a_null_beside_a_content_is_a_member_that_is_missing() {
    let mut world = World::new(Script);
    let part = r#"{"text":"done","raw":null,"url":null,"data":null,"mediaType":null,"filename":null,"metadata":null}"#;
    let body = send("SendMessage", "done", "").replace(r#"{"text":"done"}"#, part);
    assert_eq!(json(&world.ask(&body))["result"]["task"]["history"][0]["parts"][0], json(r#"{"text":"done"}"#));
    let body = send("SendMessage", "done", "").replace(r#"{"text":"done"}"#, r#"{"data":null}"#);
    assert_eq!(json(&world.ask(&body))["result"]["task"]["history"][0]["parts"][0], json(r#"{"data":null}"#));
}

#[test]
fn a_version_that_is_known_but_not_served_is_refused_by_that_name() {
    let mut world = World::with::<_, 4, 64, 1, 2>(Script, Served::parse("0.3").unwrap(), PROFILE);
    let answer = json(&world.ask_as("1.0", &send("SendMessage", "done", "")));
    assert!(answer["error"]["message"].as_str().unwrap().contains("version not supported"), "{answer}");
    assert_eq!(json(&world.ask(&send("SendMessage", "done", "")))["error"]["code"], -32601);
    // What it does serve it serves, whatever the header says.
    let answer = json(&world.ask_as("1.0", &send_03("message/send", "done", "")));
    assert_eq!(answer["result"]["status"]["state"], "completed");
}

#[test]
fn a_task_that_has_used_up_the_numbers_of_artifacts_fails_and_nobody_else_does() {
    struct Numerous;
    impl Agent for Numerous {
        async fn run(&self, task: &mut TaskCx<'_, '_>) -> Result<Done, Stopped> {
            for n in 0..70_000 {
                let name = format!("a{n}");
                task.artifact(&name).text(format_args!("x")).await?;
            }
            Ok(Done::Completed)
        }
    }
    let mut world = World::with::<_, 4, 24, 1, 4>(Numerous, Served::ALL, PROFILE);
    let answer = json(&world.ask(&send("SendMessage", "go", "")));
    assert_eq!(answer["result"]["task"]["status"]["state"], "TASK_STATE_FAILED", "{answer}");
    assert!(json(&world.ask(&send("SendMessage", "go", ""))).get("result").is_some());
}
