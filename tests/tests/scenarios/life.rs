//! One task from beginning to end, in every way it can go.

use mote_tests::world::World;
use protocol_core::{Agent, Data, Done, Inbound, Stopped, TaskCx};

use crate::support::{Script, about, member, send, send_03, state_of};

#[test]
fn a_blocking_send_answers_when_the_task_has_ended() {
    let mut world = World::new(Script);
    let client = world.post(&send("SendMessage", "work; wait 2000; chunk hi; end bye", ""));
    assert!(!client.has_ended());
    world.advance(1999);
    assert!(!client.has_ended());
    world.advance(1);
    assert!(client.has_ended());
    assert_eq!(state_of(&client.text()), "TASK_STATE_COMPLETED");
    assert!(client.text().contains(r#""artifacts":[{"artifactId":"out","name":"out","parts":[{"text":"hi"}]}]"#));
}

#[test]
fn a_blocking_send_that_takes_long_keeps_its_client_waiting_with_white_space() {
    let mut world = World::new(Script);
    let client = world.post(&send("SendMessage", "wait 20000; end bye", ""));
    for _ in 0..4 {
        let before = client.text().len();
        world.advance(4000);
        assert!(client.text().len() > before, "nothing for four seconds");
    }
    world.advance(4000);
    assert!(client.has_ended());
    let text = client.text();
    assert!(text.starts_with("  ") && text.trim_start().starts_with('{'), "{text}");
}

#[test]
fn an_immediate_send_answers_with_the_task_in_progress() {
    let mut world = World::new(Script);
    let body = send("SendMessage", "work; wait 1000; done", "")
        .replace("}]}}", r#"}]},"configuration":{"returnImmediately":true}}"#);
    let text = world.ask(&body);
    assert!(["TASK_STATE_SUBMITTED", "TASK_STATE_WORKING"].contains(&state_of(&text).as_str()), "{text}");
    world.advance(1000);
    assert_eq!(state_of(&world.ask(&about("GetTask", &member(&text, "id")))), "TASK_STATE_COMPLETED");
}

#[test]
fn a_send_that_leaves_it_to_the_agent_is_not_kept_by_slow_work() {
    let mut world = World::new(Script);
    let text = world.ask(&send_03("message/send", "slow; wait 60000; done", ""));
    assert_eq!(state_of(&text), "working");
}

#[test]
fn every_end_has_its_state_and_its_words() {
    for (script, state) in [
        ("done", "TASK_STATE_COMPLETED"),
        ("end fine", "TASK_STATE_COMPLETED"),
        ("fail broken", "TASK_STATE_FAILED"),
        ("reject never", "TASK_STATE_REJECTED"),
        ("ask what", "TASK_STATE_INPUT_REQUIRED"),
    ] {
        let mut world = World::new(Script);
        let text = world.ask(&send("SendMessage", script, ""));
        assert_eq!(state_of(&text), state);
        if let Some((_, words)) = script.split_once(' ') {
            assert!(text.contains(&format!(r#""role":"ROLE_AGENT","parts":[{{"text":"{words}"}}]"#)), "{text}");
        }
    }
}

#[test]
fn a_direct_message_leaves_no_task_behind() {
    let mut world = World::new(Script);
    let text = world.ask(&send("SendMessage", "reply hello", ""));
    assert!(text.contains(r#""result":{"message":{"#), "{text}");
    assert!(!text.contains("taskId"), "{text}");
    let list = world.ask(r#"{"jsonrpc":"2.0","id":1,"method":"ListTasks","params":{}}"#);
    assert!(list.contains(r#""totalSize":0"#), "{list}");
}

#[test]
fn a_direct_message_after_work_was_seen_completes_the_task_instead() {
    let mut world = World::new(Script);
    let text = world.ask(&send("SendMessage", "work; reply hello", ""));
    assert_eq!(state_of(&text), "TASK_STATE_COMPLETED");
    assert!(text.contains("hello"));
}

#[test]
fn without_a_wall_clock_there_is_no_timestamp() {
    let mut world = World::without_wall_time(Script);
    let text = world.ask(&send("SendMessage", "done", ""));
    assert_eq!(state_of(&text), "TASK_STATE_COMPLETED");
    assert!(!text.contains("timestamp") && !text.contains("1970"), "{text}");
}

#[test]
fn a_data_part_is_read_as_a_type_of_the_skills_own() {
    #[derive(serde::Deserialize, serde::Serialize)]
    #[serde(rename_all = "camelCase")]
    struct Plan {
        times: u32,
        every_ms: u32,
    }
    struct Doubling;
    impl Agent for Doubling {
        async fn run(&self, task: &mut TaskCx<'_, '_>) -> Result<Done, Stopped> {
            let Some(Plan { times, every_ms }) = task.args() else { return task.reject(format_args!("no plan")) };
            let data = Data::<64>::of(&Plan { times: times * 2, every_ms }).unwrap();
            task.artifact("plan").parts(&[data.piece()]).await?;
            Ok(Done::Completed)
        }
    }
    let mut world = World::new(Doubling);
    let mut ask = |part: &str| world.ask(&send("SendMessage", "x", "").replace(r#"{"text":"x"}"#, part));
    // Some clients send every number as a float, and names may be escaped.
    for part in [
        r#"{"data":{"times":2,"everyMs":5}}"#,
        r#"{"data":{"everyMs":5.0,"times":2.0,"other":[{}]}}"#,
        r#"{"text":"like this:"},{"data":{"\u0074imes":2,"everyMs":5}}"#,
    ] {
        let answer = ask(part);
        assert!(answer.contains(r#""data":{"times":4,"everyMs":5}"#), "{answer}");
    }
    assert_eq!(state_of(&ask(r#"{"data":{"times":-2}}"#)), "TASK_STATE_REJECTED");
}

#[test]
fn the_answer_is_the_same_through_any_buffer() {
    let mut world = World::new(Script);
    let id = member(&world.ask(&send("SendMessage", "say a; chunk b; chunk c; put d; end e", "")), "id");
    let whole = world.ask(&about("GetTask", &id));
    for window in 1..80 {
        let body = about("GetTask", &id);
        let client = world.request(&Inbound { body: body.as_bytes(), ..Inbound::GUEST }, window);
        assert_eq!(client.text(), whole, "through {window} bytes");
    }
}
