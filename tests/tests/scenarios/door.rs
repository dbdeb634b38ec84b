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
    assert_eq!(world.node.limits().tasks.used, 2);
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
    assert_eq!(world.node.limits().tasks.used, 2);
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
    assert_eq!(world.node.limits().tasks.used, 1);
    world.node.change_door(|door| door.forget("ben"));
    world.settle();
    assert!(his.has_ended());
    let limits = world.node.limits();
    assert_eq!(
        (limits.tasks.used, limits.blocks.used, limits.readers.used),
        (empty.tasks.used, empty.blocks.used, empty.readers.used)
    );
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
        let is_first = !data.contains("no-token");
        assert_eq!(state_of(&told) == "TASK_STATE_COMPLETED", is_first, "{told}");
        assert!(!told.contains(ANNA), "{told}");
    }
}

#[test]
fn a_text_that_is_a_token_is_withheld_right_or_wrong_from_the_question_to_the_end() {
    let wrong = &ANNA[1..];
    for texts in [
        vec![ANNA.to_owned(), wrong.to_owned()],
        vec![format!("{ANNA}\\n"), ANNA.to_owned()],
        vec![format!("Bearer {ANNA}")],
        vec![wrong.to_owned()],
    ] {
        let mut world = guarded(Allowance::UNLIMITED);
        let asked = world.ask_with(BEN, &send("SendMessage", "act now", ""));
        assert_eq!(state_of(&asked), "TASK_STATE_AUTH_REQUIRED");
        let more = format!(r#","taskId":"{}""#, member(&asked, "id"));
        // Everybody is busy, and nobody has read the first one when the second one comes.
        let busy: Vec<_> = (0..3)
            .map(|_| world.request(&world.inbound(ANNA, &send("SendMessage", "work; wait 50; done", "")), 64))
            .collect();
        let parts: Vec<String> = texts.iter().map(|text| format!(r#"{{"text":"{text}"}}"#)).collect();
        let body = send("SendMessage", "x", &more).replace(r#"{"text":"x"}"#, &parts.join(","));
        let answers: Vec<_> = (0..2).map(|_| world.request(&world.inbound(BEN, &body), 64)).collect();
        world.advance(100);
        assert!(busy.iter().chain(&answers).all(|client| client.has_ended()));
        for answer in answers {
            assert!(!answer.text().contains(wrong), "{texts:?}: {}", answer.text());
        }
    }
}

#[test]
fn credentials_cannot_be_guessed_faster_in_a_task_than_at_the_door() {
    let rate = Rate { per_second: 1, burst: 100 };
    let mut world = guarded(Allowance { principal: rate, failure_cost: 25, ..Allowance::UNLIMITED });
    let guess = |n: u32| {
        let data = format!(r#"{{"data":{{"credential":"a-guess-at-a-token-{n}"}}}},{{"text":"act now"}}"#);
        send("SendMessage", "x", "").replace(r#"{"text":"x"}"#, &data)
    };
    for n in 0..3 {
        assert_eq!(state_of(&world.ask_with(BEN, &guess(n))), "TASK_STATE_AUTH_REQUIRED");
    }
    let refused = world.request(&world.inbound(BEN, &guess(3)), 64);
    assert!(refused.text().contains("too many credentials"), "{}", refused.text());
    assert_eq!(refused.retry_after, Some(1));
    // He can still do other things.
    assert_eq!(state_of(&world.ask_with(BEN, &send("SendMessage", "done", ""))), "TASK_STATE_COMPLETED");
}

#[test]
fn who_is_revoked_while_its_body_comes_is_a_stranger() {
    let mut world = guarded(Allowance::UNLIMITED);
    let body = send("SendMessage", "done", "");
    let begun = world.inbound(ANNA, &body);
    world.node.change_door(|door| door.forget("anna"));
    let answer = world.request(&begun, 64);
    assert_eq!(answer.status, 401);
    assert_eq!(world.node.limits().tasks.used, 0);
}

#[test]
fn what_was_lent_is_only_to_act_and_ends_with_the_lender() {
    let mut world = guarded(Allowance::UNLIMITED);
    let asked = world.ask_with(BEN, &send("SendMessage", "act now", ""));
    let more = format!(r#","taskId":"{}""#, member(&asked, "id"));
    let lent = send("SendMessage", "x", &more)
        .replace(r#"{"text":"x"}"#, &format!(r#"{{"data":{{"credential":"{ANNA}"}}}},{{"text":"operate; ask more"}}"#));
    let told = world.ask_with(BEN, &lent);
    assert!(told.contains("may not operate"), "{told}");
    world.node.change_door(|door| door.forget("anna"));
    let told = world.ask_with(BEN, &send("SendMessage", "act now", &more));
    assert_eq!(state_of(&told), "TASK_STATE_AUTH_REQUIRED", "{told}");
}

#[test]
fn nobody_takes_all_of_the_log() {
    let mut world = guarded(Allowance::UNLIMITED);
    let data = format!(r#"{{"text":"ask more"}},{{"data":"{}"}}"#, "x".repeat(2000));
    let large = send("SendMessage", "x", "").replace(r#"{"text":"x"}"#, &data);
    let mut answers = (0..6).map(|_| world.ask_with(BEN, &large));
    let refused = answers.find(|text| text.contains("\"error\"")).expect("the log has an end");
    assert!(refused.contains("your tasks have too much of the log"), "{refused}");
    // Nor with what its tasks say.
    world.ask_with(BEN, &send("SendMessage", "chunks 500; done", ""));
    assert_eq!(state_of(&world.ask_with(ANNA, &large)), "TASK_STATE_INPUT_REQUIRED");
    assert_eq!(state_of(&world.ask_with(ANNA, &send("SendMessage", "chunks 5; done", ""))), "TASK_STATE_COMPLETED");
}

#[test]
fn workers_and_places_to_wait_are_taken_in_turn() {
    let mut world = World::guarded::<_, 16, 512, 3, 4>(Script, Served::ALL, Allowance::UNLIMITED);
    let long = send("SendMessage", "work; wait 1000; done", "")
        .replace(r#""params":{"#, r#""params":{"configuration":{"returnImmediately":true},"#);
    for _ in 0..8 {
        world.ask_with(BEN, &long);
    }
    let quick = world.request(&world.inbound(ANNA, &send("SendMessage", "done", "")), 64);
    world.advance(1_000);
    assert!(quick.has_ended(), "he has five more in the queue, and she has waited for one");
    // The last place to wait is for somebody who has none.
    let mut world = World::guarded::<_, 8, 256, 3, 4>(Script, Served::ALL, Allowance::UNLIMITED);
    let stream = send("SendStreamingMessage", "work; wait 1000; done", "");
    let open: Vec<_> = (0..4).map(|_| world.request(&world.inbound(BEN, &stream), 64)).collect();
    assert_eq!(open.iter().filter(|client| client.is_stream).count(), 3);
    assert!(world.request(&world.inbound(ANNA, &stream), 64).is_stream);
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
