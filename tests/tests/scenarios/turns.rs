//! Conversations: questions and answers, contexts, references, opening again.

use mote_tests::world::World;

use crate::support::{Script, about, code_of, member, send, send_01, send_03, state_of};

#[test]
fn a_question_is_answered_in_the_same_task_and_history_keeps_every_message_in_order() {
    let mut world = World::new(Script);
    let asked = world.ask(&send("SendMessage", "say thinking; ask which", ""));
    assert_eq!(state_of(&asked), "TASK_STATE_INPUT_REQUIRED");
    let (id, context) = (member(&asked, "id"), member(&asked, "contextId"));

    let answered = world.ask(&send("SendMessage", "end that", &format!(r#","taskId":"{id}","contextId":"{context}""#)));
    assert_eq!(member(&answered, "id"), id);
    assert_eq!(state_of(&answered), "TASK_STATE_COMPLETED");
    let history = answered.split("\"history\":").nth(1).unwrap();
    let order: Vec<usize> = ["say thinking; ask which", "\"thinking\"", "\"which\"", "end that"]
        .map(|text| history.find(text).unwrap())
        .into();
    assert!(order.is_sorted(), "{history}");
    // What is the status now is not history yet.
    assert!(!history.contains("\"that\""), "{history}");
}

#[test]
fn history_is_cut_from_the_old_end_as_each_dialect_means_it() {
    let mut world = World::new(Script);
    let id = member(&world.ask(&send("SendMessage", "ask one", "")), "id");
    world.ask(&send("SendMessage", "ask two", &format!(r#","taskId":"{id}""#)));
    let count =
        |text: &str| text.split("\"history\":").nth(1).map_or(0, |history| history.matches("messageId").count());
    let get = |length: &str| {
        format!(r#"{{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{{"id":"{id}","historyLength":{length}}}}}"#)
    };
    assert_eq!(count(&world.ask(&about("GetTask", &id))), 3);
    assert_eq!(count(&world.ask(&get("2"))), 2);
    assert!(world.ask(&get("1")).split("\"history\":").nth(1).unwrap().contains("ask two"));
    assert_eq!(count(&world.ask(&get("99"))), 3);
    assert!(!world.ask(&get("0")).contains("history"));
    assert_eq!(code_of(&world.ask(&get("-1"))), -32602);

    // The oldest dialect shows none unless asked.
    let born = world.ask(&send_01("tasks/send", "mine", "ask one"));
    assert!(!born.contains("history"), "{born}");
    let two = world.ask(r#"{"jsonrpc":"2.0","id":1,"method":"tasks/get","params":{"id":"mine","historyLength":2}}"#);
    assert!(two.contains(r#""history":[{"role":"user""#), "{two}");
}

#[test]
fn a_task_that_has_ended_takes_no_more_messages_but_where_the_dialect_opens_it_again() {
    let mut world = World::new(Script);
    let id = member(&world.ask(&send("SendMessage", "done", "")), "id");
    assert_eq!(code_of(&world.ask(&send("SendMessage", "done", &format!(r#","taskId":"{id}""#)))), -32004);
    assert_eq!(code_of(&world.ask(&send_03("message/send", "done", &format!(r#","taskId":"{id}""#)))), -32004);

    let first = world.ask(&send_01("tasks/send", "t1", "put first; done"));
    assert_eq!(state_of(&first), "completed");
    let again = world.ask(&send_01("tasks/send", "t1", "put second; fail on purpose"));
    assert_eq!(state_of(&again), "failed");
    assert_eq!(member(&again, "sessionId"), member(&first, "sessionId"));
    assert!(again.contains("\"first\"") && again.contains("\"second\""), "{again}");
}

#[test]
fn contexts_are_kept_inferred_and_never_mixed() {
    let mut world = World::new(Script);
    let first = world.ask(&send("SendMessage", "ask one", r#","contextId":"mine""#));
    assert_eq!(member(&first, "contextId"), "mine");
    let second = world.ask(&send("SendMessage", "ask two", r#","contextId":"mine""#));
    assert_ne!(member(&first, "id"), member(&second, "id"));
    let id = member(&first, "id");
    let inferred = world.ask(&send("SendMessage", "ask three", &format!(r#","taskId":"{id}""#)));
    assert_eq!(member(&inferred, "contextId"), "mine");
    let foreign = world.ask(&send("SendMessage", "done", &format!(r#","taskId":"{id}","contextId":"other""#)));
    assert_eq!(code_of(&foreign), -32602);
    assert_eq!(code_of(&world.ask(&send("SendMessage", "done", r#","taskId":"nobody""#))), -32001);
    assert_eq!(state_of(&world.ask(&about("GetTask", &id))), "TASK_STATE_INPUT_REQUIRED");
}

#[test]
fn a_message_to_a_working_task_is_kept_and_answered_when_the_agent_asks() {
    let mut world = World::new(Script);
    let first = world.post(&send("SendStreamingMessage", "work; wait 1000; ask more", ""));
    let id = member(&first.text(), "id");
    let second = world.post(&send("SendMessage", "end thanks", &format!(r#","taskId":"{id}""#)));
    assert!(!second.has_ended());
    world.advance(1000);
    // The question was answered before it was asked: the task goes straight on to its end.
    assert_eq!(state_of(&world.ask(&about("GetTask", &id))), "TASK_STATE_COMPLETED");
    assert!(second.has_ended());

    // A stream of such a message ends with its own answer, not with the question that it answers.
    let first = world.post(&send("SendStreamingMessage", "work; wait 1000; ask more", ""));
    let id = member(&first.text(), "id");
    let second = world.post(&send("SendStreamingMessage", "end thanks", &format!(r#","taskId":"{id}""#)));
    world.advance(1000);
    assert!(second.has_ended());
    assert_eq!(state_of(second.events().last().unwrap()), "TASK_STATE_COMPLETED");
}

#[test]
fn a_message_to_a_working_task_is_answered_in_the_same_task() {
    let mut world = World::new(Script);
    let first = world.post(&send("SendStreamingMessage", "put one; wait 1000", ""));
    let id = member(&first.text(), "id");
    let second = world.post(&send("SendMessage", "put two", &format!(r#","taskId":"{id}""#)));
    assert!(!second.has_ended());
    world.advance(1000);
    assert!(first.has_ended() && second.has_ended());
    assert_eq!(state_of(&second.text()), "TASK_STATE_COMPLETED");
    assert!(second.text().contains(r#""artifactId":"one""#) && second.text().contains(r#""artifactId":"two""#));
}

#[test]
fn a_task_made_in_one_dialect_can_be_read_in_the_others() {
    let mut world = World::new(Script);
    let id = member(&world.ask(&send("SendMessage", "put file; done", "")), "id");
    assert!(world.ask(&about("tasks/get", &id)).contains(r#""kind":"task""#));
    let born_03 = member(&world.ask(&send_03("message/send", "done", "")), "id");
    assert_eq!(state_of(&world.ask(&about("GetTask", &born_03))), "TASK_STATE_COMPLETED");
    world.ask(&send_01("tasks/send", "old", "put file; done"));
    assert_eq!(state_of(&world.ask(&about("GetTask", "old"))), "TASK_STATE_COMPLETED");
    let old = world.ask(&about("tasks/get", "old"));
    assert!(old.contains("sessionId") && old.contains(r#""index":0"#), "{old}");
    assert!(world.ask_as("0.3", &about("tasks/get", "old")).contains(r#""kind":"task""#));
}
