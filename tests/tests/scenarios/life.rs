//! One task from beginning to end, in every way it can go.

use mote_tests::world::World;

use crate::support::{Script, about, member, send};

#[test]
fn a_blocking_send_answers_when_the_task_has_ended() {
    let mut world = World::new(Script);
    let client = world.post(&send("SendMessage", "work; wait 2000; chunk hi; end bye", ""));
    assert!(!client.has_ended());
    world.advance(2000);
    assert!(client.has_ended());
    println!("{}", client.text());
    let text = client.text();
    assert_eq!(member(&text, "state"), "TASK_STATE_COMPLETED");
    let id = member(&text, "id");
    println!("{}", world.ask(&about("GetTask", &id)));
    println!("{}", world.ask(&about("tasks/get", &id)));
}

#[test]
fn stream() {
    let mut world = World::new(Script);
    let client = world.post(&send("SendStreamingMessage", "work; chunk a; wait 5000; chunk b; say x; end bye", ""));
    world.advance(6000);
    println!("{}", client.text());
    assert!(client.has_ended());
}
