//! Streams: order, resuming, several readers, slow and dead ones.

use mote_tests::world::{Client, World};
use protocol_core::Inbound;

use crate::support::{Script, about, code_of, member, send, send_01, send_03, state_of};

fn resume(world: &mut World, method: &str, id: &str, last: &str) -> Client {
    let body = about(method, id);
    world.request(&Inbound { body: body.as_bytes(), last_event_id: Some(last), ..Inbound::GUEST }, 100)
}

#[test]
fn the_snapshot_comes_first_and_once_then_every_event_in_order() {
    let mut world = World::new(Script);
    let client = world.post(&send("SendStreamingMessage", "work; chunk a; chunk b; say x; end y", ""));
    assert!(client.is_stream && client.has_ended());
    let events = client.events();
    let kinds: Vec<String> = events.iter().map(|event| member_after_result(event)).collect();
    assert_eq!(kinds, ["task", "statusUpdate", "artifactUpdate", "artifactUpdate", "statusUpdate", "statusUpdate"]);
    assert_eq!(state_of(&events[0]), "TASK_STATE_SUBMITTED");
    assert!(client.ids().is_sorted());
    assert!(!events[2].contains("append") && events[3].contains(r#""append":true"#));
}

fn member_after_result(event: &str) -> String {
    event.split("\"result\":{\"").nth(1).unwrap().split('"').next().unwrap().to_owned()
}

#[test]
fn a_quiet_stream_says_that_it_is_there_at_least_every_four_seconds() {
    let mut world = World::new(Script);
    let client = world.post(&send("SendStreamingMessage", "work; wait 60000; done", ""));
    for _ in 0..14 {
        let before = client.text().len();
        world.advance(4000);
        assert!(client.text()[before..].contains(": \n"));
    }
    world.advance(4000);
    assert!(client.has_ended());
}

#[test]
fn older_dialects_mark_the_last_event_and_the_oldest_never_sends_a_task() {
    let mut world = World::new(Script);
    let client = world.post(&send_03("message/stream", "work; chunk a; done", ""));
    let events = client.events();
    assert!(events[0].contains(r#""kind":"task""#));
    assert_eq!(events.iter().filter(|event| event.contains(r#""final":true"#)).count(), 1);
    assert!(events.last().unwrap().contains(r#""final":true"#));

    let client = world.post(&send_01("tasks/sendSubscribe", "t", "work; chunk a; ask b"));
    let events = client.events();
    assert!(events.iter().all(|event| !event.contains("sessionId") && event.contains(r#""result":{"id":"t""#)));
    assert_eq!(events.len(), 4, "{events:?}");
    assert!(events.last().unwrap().contains(r#""state":"input-required""#));
    assert!(events.last().unwrap().contains(r#""final":true"#) && client.has_ended());
}

#[test]
fn a_stream_ends_at_a_question_and_the_next_turn_has_a_stream_of_its_own() {
    let mut world = World::new(Script);
    let first = world.post(&send("SendStreamingMessage", "ask who", ""));
    assert!(first.has_ended());
    let id = member(&first.text(), "id");
    let second = world.post(&send("SendStreamingMessage", "chunk me; done", &format!(r#","taskId":"{id}""#)));
    assert!(second.has_ended());
    let events = second.events();
    assert_eq!(state_of(&events[0]), "TASK_STATE_SUBMITTED");
    assert_eq!(state_of(events.last().unwrap()), "TASK_STATE_COMPLETED");
}

#[test]
fn subscribing_to_a_question_stays_open_until_it_is_answered() {
    let mut world = World::new(Script);
    let id = member(&world.ask(&send("SendMessage", "ask who", "")), "id");
    let client = world.post(&about("SubscribeToTask", &id));
    world.advance(10_000);
    assert!(!client.has_ended());
    assert_eq!(client.events().len(), 1);
    world.ask(&send("SendMessage", "done", &format!(r#","taskId":"{id}""#)));
    world.settle();
    assert!(client.has_ended());
    assert_eq!(state_of(client.events().last().unwrap()), "TASK_STATE_COMPLETED");
}

#[test]
fn two_streams_of_one_task_see_the_same_and_closing_one_changes_nothing() {
    let mut world = World::new(Script);
    let first = world.post(&send("SendStreamingMessage", "work; wait 1000; chunk a; wait 1000; chunk b; done", ""));
    let id = member(&first.text(), "id");
    let second = world.post(&about("SubscribeToTask", &id));
    let third = world.post(&about("SubscribeToTask", &id));
    world.advance(1000);
    first.hang_up();
    world.advance(1000);
    let strip = |event: &String| event.replace(r#""id":2"#, "");
    assert_eq!(
        second.events().iter().map(strip).collect::<Vec<_>>(),
        third.events().iter().map(strip).collect::<Vec<_>>()
    );
    assert!(second.has_ended() && third.has_ended());
    assert!(!first.has_ended());
    assert_eq!(world.node.limits().readers.used, 0);
}

#[test]
fn resuming_behind_the_last_event_loses_nothing_and_repeats_nothing() {
    let script = "work; chunk a; wait 1000; chunk b; wait 1000; chunk c; done";
    for seen_of in 0..6 {
        let mut world = World::new(Script);
        let whole = world.post(&send("SendStreamingMessage", script, ""));
        let id = member(&whole.text(), "id");
        world.advance(1000);
        let seen = whole.ids()[seen_of.min(whole.ids().len() - 1)];
        let resumed = resume(&mut world, "SubscribeToTask", &id, &seen.to_string());
        world.advance(1000);
        assert!(whole.has_ended() && resumed.has_ended());
        let expected: Vec<u64> = whole.ids().into_iter().filter(|stamp| *stamp > seen).collect();
        assert_eq!(resumed.ids(), expected);
    }
}

#[test]
fn resuming_a_task_that_ended_meanwhile_gives_the_rest() {
    let mut world = World::new(Script);
    let whole = world.post(&send("SendStreamingMessage", "work; chunk a; chunk b; done", ""));
    let id = member(&whole.text(), "id");
    let resumed = resume(&mut world, "SubscribeToTask", &id, &whole.ids()[2].to_string());
    assert_eq!(resumed.ids(), whole.ids()[3..]);
    assert!(resumed.has_ended());
    // Without anything left to tell, an ended task can't be subscribed to.
    let last = whole.ids().last().unwrap().to_string();
    assert_eq!(code_of(&resume(&mut world, "SubscribeToTask", &id, &last).text()), -32004);
    assert_eq!(code_of(&world.ask(&about("SubscribeToTask", &id))), -32004);
    // Nonsense is no place to resume from.
    assert_eq!(code_of(&resume(&mut world, "SubscribeToTask", &id, "99999").text()), -32004);
    assert_eq!(code_of(&resume(&mut world, "SubscribeToTask", &id, "x").text()), -32004);
}

#[test]
fn resubscribing_in_older_dialects_shows_an_ended_task_once_more() {
    let mut world = World::new(Script);
    let id = member(&world.ask(&send_03("message/send", "chunk a; done", "")), "id");
    let client = world.post(&about("tasks/resubscribe", &id));
    assert!(client.is_stream && client.has_ended());
    let events = client.events();
    assert_eq!(events.len(), 2, "{events:?}");
    assert!(events[1].contains(r#""final":true"#));
    world.ask(&send_01("tasks/send", "old", "chunk a; done"));
    let client = world.post(&about("tasks/resubscribe", "old"));
    let events = client.events();
    assert_eq!(events.len(), 3, "{events:?}");
    assert!(events[2].contains(r#""final":true"#) && client.has_ended());
}

#[test]
fn an_error_before_the_first_event_takes_the_form_its_clients_can_read() {
    let mut world = World::new(Script);
    let client = world.post(&about("SubscribeToTask", "nobody"));
    assert!(!client.is_stream);
    assert_eq!(code_of(&client.text()), -32001);
    let client = world.post(&about("tasks/resubscribe", "nobody"));
    assert!(client.is_stream && client.has_ended());
    assert_eq!(code_of(&client.events()[0]), -32001);
}

#[test]
fn a_reader_that_stands_still_gets_everything_later_and_holds_nobody_up() {
    let mut world = World::new(Script);
    let slow = world.post(&send("SendStreamingMessage", "work; wait 100; chunks 20; wait 100; done", ""));
    slow.stall();
    world.advance(50);
    let fast = world.ask(&send("SendMessage", "done", ""));
    assert_eq!(state_of(&fast), "TASK_STATE_COMPLETED");
    world.advance(1000);
    assert!(!slow.has_ended());
    slow.resume();
    world.settle();
    assert!(slow.has_ended());
    assert_eq!(slow.text().matches("artifactUpdate").count(), 20);
}

#[test]
fn a_message_reply_is_a_stream_of_exactly_one_message() {
    let mut world = World::new(Script);
    for (client, kind) in [
        (world.post(&send("SendStreamingMessage", "reply hi", "")), r#""result":{"message":{"#),
        (world.post(&send_03("message/stream", "reply hi", "")), r#""result":{"kind":"message""#),
    ] {
        assert!(client.has_ended());
        assert_eq!(client.events().len(), 1);
        assert!(client.events()[0].contains(kind), "{}", client.text());
    }
    let client = world.post(&send_01("tasks/sendSubscribe", "t", "reply hi"));
    assert!(client.events().last().unwrap().contains(r#""state":"completed""#));
}
