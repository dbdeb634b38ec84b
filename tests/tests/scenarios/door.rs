//! Who may how much: rates, shares of the tables, how long one waits; and what one never learns of others.

use mote_tests::world::{ANNA, BEN, World};
use protocol_core::{
    Served,
    door::{Allowance, Principal, Rate},
    time::Millis,
};

use crate::support::{Script, about, code_of, member, send, send_01, send_03, state_of};

fn guarded(allowance: Allowance) -> World {
    World::guarded::<_, 8, 256, 3, 8>(Script, Served::ALL, allowance)
}

#[test]
fn a_principal_that_calls_too_often_is_told_in_its_dialect_and_when_to_come_again() {
    let mut world = guarded(Allowance { principal: Rate { per_second: 2, burst: 3 }, ..Allowance::UNLIMITED });
    let live = member(&world.ask_with(ANNA, &send("SendMessage", "ask x", "")), "id");
    for _ in 0..2 {
        assert_eq!(state_of(&world.ask_with(ANNA, &about("GetTask", &live))), "TASK_STATE_INPUT_REQUIRED");
    }
    for (body, code) in [
        (send_01("tasks/send", "t", "done"), -32010),
        (send_03("message/send", "done", ""), -32000),
        (send("SendMessage", "done", ""), -32000),
        (send("SendStreamingMessage", "done", ""), -32000),
    ] {
        let refused = world.request(&world.inbound(ANNA, &body), 64);
        assert_eq!((code_of(&refused.text()), refused.status, refused.retry_after), (code, 200, Some(1)));
    }
    // Others have permits of their own, and nothing was lost.
    assert_eq!(state_of(&world.ask_with(BEN, &send("SendMessage", "done", ""))), "TASK_STATE_COMPLETED");
    world.advance(1_000);
    assert_eq!(state_of(&world.ask_with(ANNA, &about("GetTask", &live))), "TASK_STATE_INPUT_REQUIRED");
    assert_eq!(world.node.limits().tasks_used, 2);
}

#[test]
fn nobody_gets_more_of_the_table_than_its_share() {
    let mut world = guarded(Allowance { tasks: 3, ..Allowance::UNLIMITED });
    let bens = member(&world.ask_with(BEN, &send("SendMessage", "done", "")), "id");
    let first = member(&world.ask_with(ANNA, &send("SendMessage", "done", "")), "id");
    let live: Vec<String> =
        (0..2).map(|_| member(&world.ask_with(ANNA, &send("SendMessage", "ask x", "")), "id")).collect();
    // The fourth takes the place of her own oldest that has ended, not of his, which is older.
    let fourth = member(&world.ask_with(ANNA, &send("SendMessage", "ask x", "")), "id");
    assert_eq!(code_of(&world.ask_with(ANNA, &about("GetTask", &first))), -32001);
    assert_eq!(state_of(&world.ask_with(BEN, &about("GetTask", &bens))), "TASK_STATE_COMPLETED");
    // All of hers are alive now.
    let refused = world.request(&world.inbound(ANNA, &send("SendMessage", "done", "")), 64);
    assert_eq!((code_of(&refused.text()), refused.retry_after), (-32000, Some(1)));
    assert!(refused.text().contains("you have too many tasks"), "{}", refused.text());
    assert_eq!(code_of(&world.ask_with(ANNA, &send_01("tasks/send", "t", "done"))), -32011);
    assert_eq!(state_of(&world.ask_with(BEN, &send("SendMessage", "done", ""))), "TASK_STATE_COMPLETED");
    for id in live.iter().chain([&fourth]) {
        assert_eq!(state_of(&world.ask_with(ANNA, &about("GetTask", id))), "TASK_STATE_INPUT_REQUIRED");
    }
}

#[test]
fn nobody_follows_more_tasks_at_a_time_than_it_may() {
    let mut world = guarded(Allowance { readers: 2, ..Allowance::UNLIMITED });
    let stream = send("SendStreamingMessage", "work; wait 1000; done", "");
    let open: Vec<_> = (0..2).map(|_| world.request(&world.inbound(ANNA, &stream), 64)).collect();
    let refused = world.request(&world.inbound(ANNA, &stream), 64);
    assert!(refused.text().contains("you are waiting for too many answers already"), "{}", refused.text());
    assert_eq!(refused.retry_after, Some(1));
    // A refused stream has made no task; and he can follow his.
    assert_eq!(world.node.limits().tasks_used, 2);
    let his = world.request(&world.inbound(BEN, &stream), 64);
    assert!(his.is_stream && !his.has_ended());
    world.advance(1_000);
    assert!(his.has_ended() && open.iter().all(|stream| stream.has_ended()));
    assert!(world.request(&world.inbound(ANNA, &stream), 64).is_stream);
}

#[test]
fn who_waits_too_long_gets_the_task_as_it_is() {
    let mut world = guarded(Allowance { blocking: Millis(5_000), ..Allowance::UNLIMITED });
    let body = send("SendMessage", "work; chunk a; wait 60000; done", "");
    let client = world.request(&world.inbound(ANNA, &body), 64);
    world.advance(4_999);
    assert!(!client.has_ended());
    world.advance(1);
    assert!(client.has_ended());
    let text = client.text();
    assert_eq!(state_of(&text), "TASK_STATE_WORKING");
    assert!(text.contains(r#""text":"a""#), "{text}");
    // The task has not noticed, and can be followed to its end.
    let id = member(&text, "id");
    world.advance(60_000);
    assert_eq!(state_of(&world.ask_with(ANNA, &about("GetTask", &id))), "TASK_STATE_COMPLETED");
}

#[test]
fn a_task_that_is_named_as_a_reference_must_be_ones_own() {
    let mut world = guarded(Allowance::UNLIMITED);
    let hers = member(&world.ask_with(ANNA, &send("SendMessage", r#"data [\"secret\"]; done"#, "")), "id");
    let context = member(&world.ask_with(ANNA, &about("GetTask", &hers)), "contextId");
    // His task in her context, naming hers: it finds nothing, and is alone there.
    let more = format!(r#","contextId":"{context}","referenceTaskIds":["{hers}"]"#);
    let found = |text: &str| text.split("found: ").nth(1).is_some_and(|found| found.contains("secret"));
    assert!(found(&world.ask_with(ANNA, &send("SendMessage", "refer", &format!(r#","contextId":"{context}""#)))));
    assert!(found(&world.ask_with(ANNA, &send("SendMessage", "refer", &more))));
    assert!(!found(&world.ask_with(BEN, &send("SendMessage", "refer", &more))));
    assert!(!found(&world.ask_with(BEN, &send("SendMessage", "refer", &format!(r#","contextId":"{context}""#)))));
    let list = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"ListTasks","params":{{"contextId":"{context}"}}}}"#);
    let shown = format!(r#""id":"{hers}""#);
    assert!(!world.ask_with(BEN, &list).contains(&shown));
    assert!(world.ask_with(ANNA, &list).contains(&shown));
}

#[test]
fn the_tasks_of_somebody_who_was_revoked_are_nobodys() {
    let mut world = guarded(Allowance::UNLIMITED);
    let hers = member(&world.ask_with(ANNA, &send("SendMessage", "ask x", "")), "id");
    assert!(world.node.change_door(|door| door.forget("anna")));
    assert_eq!(world.request(&world.inbound(ANNA, &about("GetTask", &hers)), 64).status, 401);
    // The same name and token again are somebody else.
    let again = Principal::new("anna", protocol_core::door::Classes::ALL, ANNA).unwrap();
    world.node.change_door(|door| door.know(again)).unwrap();
    assert_eq!(code_of(&world.ask_with(ANNA, &about("GetTask", &hers))), -32001);
}

#[test]
fn what_somebody_wants_who_was_revoked_is_given_up_at_once() {
    let mut world = guarded(Allowance::UNLIMITED);
    let empty = world.node.limits();
    let stream = world.request(&world.inbound(ANNA, &send("SendStreamingMessage", "work; wait 9999; done", "")), 64);
    let waiting = world.request(&world.inbound(ANNA, &send("SendMessage", "work; wait 9999; done", "")), 64);
    world.ask_with(ANNA, &send("SendMessage", "ask x", ""));
    world.ask_with(ANNA, &send("SendMessage", "done", ""));
    let his = world.request(&world.inbound(BEN, &send("SendStreamingMessage", "work; wait 9999; done", "")), 64);
    world.node.change_door(|door| door.forget("anna"));
    world.settle();
    assert!(stream.has_ended() && stream.text().contains("-32001"), "{}", stream.text());
    assert!(waiting.has_ended() && waiting.text().contains("-32001"), "{}", waiting.text());
    assert!(!his.has_ended());
    assert_eq!(world.node.limits().tasks_used, 1);
    world.node.change_door(|door| door.forget("ben"));
    world.settle();
    assert!(his.has_ended());
    assert_eq!(world.node.limits(), empty);
}

#[test]
fn a_token_is_withheld_wherever_a_credential_may_stand() {
    let mut world = guarded(Allowance::UNLIMITED);
    for data in [
        format!(r#"{{"credential":"{ANNA}"}}"#),
        format!(r#"{{"credential":"no-token-of-anybody","credential":"{ANNA}"}}"#),
        format!(r#"{{"\u0063redential":" {ANNA} "}}"#),
    ] {
        let part = format!(r#"{{"text":"act now"}},{{"data":{data}}}"#);
        let body = send("SendMessage", "x", "").replace(r#"{"text":"x"}"#, &part);
        let told = world.ask_with(BEN, &body);
        assert_eq!(state_of(&told), "TASK_STATE_COMPLETED", "{told}");
        assert!(!told.contains(ANNA), "{told}");
    }
}

#[test]
fn what_was_lent_ends_with_the_task() {
    let mut world = guarded(Allowance::UNLIMITED);
    assert_eq!(state_of(&world.ask_with(BEN, &send_01("tasks/send", "t", "act now"))), "input-required");
    assert_eq!(state_of(&world.ask_with(BEN, &send_01("tasks/send", "t", ANNA))), "completed");
    // Opened again, it has to ask again.
    let again = world.ask_with(BEN, &send_01("tasks/send", "t", "act again"));
    assert_eq!(state_of(&again), "input-required");
    assert!(!again.contains(ANNA), "{again}");
}
