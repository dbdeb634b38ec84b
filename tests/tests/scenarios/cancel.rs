//! Cancel at any moment.

use core::cell::Cell;
use std::rc::Rc;

use mote_tests::world::World;
use protocol_core::{Agent, Done, Stopped, TaskCx, time::Millis};

use crate::support::{Script, about, code_of, member, send, state_of};

/// A relay that must be off when nobody holds it.
struct Relay(Rc<Cell<bool>>);

impl Relay {
    fn on(switch: &Rc<Cell<bool>>) -> Self {
        switch.set(true);
        Self(switch.clone())
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.0.set(false);
    }
}

/// Waits at every kind of await point with the relay on.
struct Switching(Rc<Cell<bool>>);

impl Agent for Switching {
    async fn run(&self, task: &mut TaskCx<'_, '_>) -> Result<Done, Stopped> {
        let _relay = Relay::on(&self.0);
        task.working().await?;
        task.progress(format_args!("step")).await?;
        task.artifact("a").more_to_come().text(format_args!("1")).await?;
        task.sleep(Millis(1000)).await?;
        task.artifact("a").append().text(format_args!("2")).await?;
        task.sleep(Millis(0)).await?;
        task.progress(format_args!("last")).await?;
        Ok(Done::Completed)
    }
}

#[test]
fn canceled_at_every_await_point_the_hardware_is_let_go_and_the_task_stays_canceled() {
    let mut canceled = 0;
    for steps in 0..40 {
        let switch = Rc::new(Cell::new(false));
        let mut world = World::new(Switching(switch.clone()));
        let inbound = send("SendStreamingMessage", "x", "");
        let client = world.start(&inbound);
        let mut left = steps;
        while left > 0 {
            left -= 1;
            if !world.step() {
                world.advance_to_next_alarm();
            }
        }
        let id = {
            // Without a step nothing was sent yet; the first id is known all the same.
            "00000000-0000-4000-8000-000000000001"
        };
        let answer = world.call_now(&about("CancelTask", id));
        if answer.contains("error") {
            assert_eq!(code_of(&answer), -32002, "{answer}");
            assert!(!switch.get());
            continue;
        }
        canceled += 1;
        assert_eq!(state_of(&answer), "TASK_STATE_CANCELED");
        world.advance(10_000);
        assert!(!switch.get(), "canceled after {steps} steps, the relay is still on");
        assert!(client.has_ended());
        assert_eq!(state_of(client.events().last().unwrap()), "TASK_STATE_CANCELED");
        assert_eq!(state_of(&world.ask(&about("GetTask", id))), "TASK_STATE_CANCELED");
        // The worker is free again.
        let next = world.post(&send("SendMessage", "x", ""));
        world.advance(2000);
        assert_eq!(state_of(&next.text()), "TASK_STATE_COMPLETED");
    }
    assert!(canceled > 10, "only {canceled} moments were tried");
}

#[test]
fn whatever_waits_can_be_canceled_once() {
    let mut world = World::new(Script);
    let asked = member(&world.ask(&send("SendMessage", "ask x", "")), "id");
    assert_eq!(state_of(&world.ask(&about("CancelTask", &asked))), "TASK_STATE_CANCELED");
    assert_eq!(code_of(&world.ask(&about("CancelTask", &asked))), -32002);
    assert_eq!(code_of(&world.ask(&about("CancelTask", "nobody"))), -32001);

    let ended = member(&world.ask(&send("SendMessage", "done", "")), "id");
    assert_eq!(code_of(&world.ask(&about("CancelTask", &ended))), -32002);
    assert_eq!(code_of(&world.ask(&about("tasks/cancel", &ended))), -32002);
}

#[test]
fn a_task_that_waits_for_a_worker_can_be_canceled_before_it_runs() {
    let mut world = World::new(Script);
    for _ in 0..3 {
        world.post(&send("SendStreamingMessage", "work; wait 1000; done", ""));
    }
    let queued = world.post(&send("SendStreamingMessage", "put never; done", ""));
    let id = member(&queued.text(), "id");
    assert_eq!(state_of(&world.ask(&about("CancelTask", &id))), "TASK_STATE_CANCELED");
    world.advance(2000);
    assert!(queued.has_ended());
    assert!(!world.ask(&about("GetTask", &id)).contains("artifacts"));
}

#[test]
fn a_blocking_send_hears_of_a_cancel_by_somebody_else() {
    let mut world = World::new(Script);
    let waiting = world.post(&send("SendMessage", "work; wait 60000; done", r#","contextId":"c""#));
    let list = world.ask(r#"{"jsonrpc":"2.0","id":1,"method":"ListTasks","params":{"contextId":"c"}}"#);
    world.ask(&about("CancelTask", &member(&list, "id")));
    world.settle();
    assert!(waiting.has_ended());
    assert_eq!(state_of(&waiting.text()), "TASK_STATE_CANCELED");
}
