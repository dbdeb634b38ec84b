//! Full is an answer: tables, the pool, workers, readers; and who goes first.

use mote_tests::world::{PROFILE, World};
use protocol_core::{Inbound, Served};

use crate::support::{Script, about, code_of, member, send, send_01, send_03, state_of};

fn small<const TASKS: usize, const BLOCKS: usize, const WORKERS: usize, const READERS: usize>() -> World {
    World::with::<_, TASKS, BLOCKS, WORKERS, READERS>(Script, Served::ALL, PROFILE)
}

#[test]
fn finished_tasks_make_room_the_oldest_first_and_live_ones_never() {
    let mut world = small::<4, 256, 2, 4>();
    let live = member(&world.ask(&send("SendMessage", "ask x", "")), "id");
    let ended: Vec<String> = (0..3).map(|_| member(&world.ask(&send("SendMessage", "done", "")), "id")).collect();
    world.ask(&send("SendMessage", "done", ""));
    assert_eq!(code_of(&world.ask(&about("GetTask", &ended[0]))), -32001);
    for id in [&live, &ended[1], &ended[2]] {
        assert!(!world.ask(&about("GetTask", id)).contains("error"));
    }
    for _ in 0..3 {
        world.ask(&send("SendMessage", "ask y", ""));
    }
    // Nothing but live tasks now: the next caller hears busy, and nothing is lost.
    let full = world.ask(&send("SendMessage", "done", ""));
    assert_eq!(code_of(&full), -32000);
    assert!(full.contains("the task table is full"), "{full}");
    assert_eq!(code_of(&world.ask(&send_01("tasks/send", "t", "done"))), -32011);
    assert_eq!(state_of(&world.ask(&about("GetTask", &live))), "TASK_STATE_INPUT_REQUIRED");
    // One that ends makes room.
    world.ask(&about("CancelTask", &live));
    assert_eq!(state_of(&world.ask(&send("SendMessage", "done", ""))), "TASK_STATE_COMPLETED");
}

#[test]
fn what_was_answered_is_not_evicted_before_it_was_sent() {
    // A reply goes before any task does, but not before its only reader has it.
    for text in ["reply hello", "done"] {
        let mut world = small::<4, 256, 2, 4>();
        for _ in 0..4 {
            world.ask(&send("SendMessage", "done", ""));
        }
        let client = world.start(&send("SendMessage", text, ""));
        client.stall();
        world.settle();
        for _ in 0..10 {
            world.ask(&send("SendMessage", "done", ""));
        }
        client.resume();
        world.settle();
        assert!(client.has_ended() && !client.text().contains("error"), "{text}: {}", client.text());
        assert_eq!(world.node.limits().tasks.used, 4);
    }
    // If there is nothing else it has to go.
    let mut world = small::<1, 256, 2, 4>();
    let client = world.start(&send("SendMessage", "done", ""));
    client.stall();
    world.settle();
    assert_eq!(state_of(&world.ask(&send("SendMessage", "done", ""))), "TASK_STATE_COMPLETED");
    client.resume();
    world.settle();
    assert!(client.is_broken() || client.text().contains("-32001"), "{}", client.text());
}

#[test]
fn a_full_pool_answers_busy_and_takes_nothing_from_live_tasks() {
    let mut world = small::<16, 40, 2, 4>();
    let mut live = Vec::new();
    let refused = loop {
        let text = world.ask(&send("SendMessage", "ask something longer than one block of the log can hold", ""));
        if text.contains("\"error\"") {
            break text;
        }
        live.push(member(&text, "id"));
        assert!(live.len() < 16);
    };
    assert_eq!(code_of(&refused), -32000);
    assert!(refused.contains("the task log is full"), "{refused}");
    for id in &live {
        let text = world.ask(&about("GetTask", id));
        assert!(text.contains("ask something longer than one block of the log can hold"), "{text}");
    }
    for id in &live {
        assert_eq!(state_of(&world.ask(&about("CancelTask", id))), "TASK_STATE_CANCELED");
    }
    assert_eq!(state_of(&world.ask(&send("SendMessage", "done", ""))), "TASK_STATE_COMPLETED");
}

#[test]
fn a_message_larger_than_a_task_may_be_is_refused_by_name() {
    let mut world = small::<4, 32, 1, 2>();
    let text = world.ask(&send("SendMessage", &"x".repeat(2000), ""));
    assert_eq!(code_of(&text), -32602);
    assert!(text.contains("larger than a task may be"), "{text}");
    assert_eq!(world.node.limits().tasks.used, 0);
    assert_eq!(world.node.limits().blocks.used, 0);
}

#[test]
fn a_task_that_outgrows_its_share_drops_its_oldest_chunks_and_says_how_many() {
    let mut world = small::<4, 60, 1, 4>();
    let text = world.ask(&send("SendMessage", "chunks 100; done", ""));
    assert_eq!(state_of(&text), "TASK_STATE_COMPLETED");
    let dropped: usize = text.split("\"droppedChunks\":").nth(1).unwrap().split('}').next().unwrap().parse().unwrap();
    assert!(dropped > 50, "{text}");
    for n in 0..100 {
        assert_eq!(text.contains(&format!("\"[{n}]\"")), n >= dropped, "{n} of {dropped}: {text}");
    }
}

#[test]
fn a_reader_that_missed_dropped_chunks_is_told_by_a_replacing_one() {
    let mut world = small::<4, 60, 1, 4>();
    let body = send("SendStreamingMessage", "work; wait 10; chunks 100; wait 10; done", "");
    let client = world.request(&Inbound { body: body.as_bytes(), ..Inbound::GUEST }, 4096);
    client.stall();
    world.advance(100);
    client.resume();
    world.settle();
    assert!(client.has_ended(), "{}", client.text());
    let chunks: Vec<String> = client.events().into_iter().filter(|event| event.contains("artifactUpdate")).collect();
    // Reading on, it has every chunk that is left, the first as a replacement that says what is gone.
    let first = chunks.iter().position(|event| event.contains("droppedChunks")).unwrap();
    assert!(!chunks[first].contains("append"), "{}", chunks[first]);
    assert!(chunks[first + 1..].iter().all(|event| event.contains(r#""append":true"#)));
    assert!(chunks.last().unwrap().contains("[99]"));
}

#[test]
fn a_reader_in_the_middle_of_a_dropped_chunk_is_cut_off_rather_than_misled() {
    let mut world = small::<4, 60, 1, 4>();
    let client = world.post(&send("SendStreamingMessage", "work; wait 10; chunks 100; wait 10; done", ""));
    client.stall();
    world.advance(100);
    client.resume();
    world.settle();
    assert!(client.is_broken() && !client.has_ended());
    // It comes back, finds that what it has not seen is gone, and is shown the task as it is.
    let id = member(&client.text(), "id");
    let whole = world.ask(&about("GetTask", &id));
    assert!(whole.contains("droppedChunks"), "{whole}");
}

#[test]
fn tasks_that_may_wait_for_ever_leave_a_worker_for_quick_ones() {
    let mut world = small::<16, 512, 4, 8>();
    for _ in 0..3 {
        assert_eq!(state_of(&world.ask(&send_03("message/send", "slow; wait 99999999", ""))), "working");
    }
    assert_eq!(state_of(&world.ask(&send("SendMessage", "slow; wait 99999999", ""))), "TASK_STATE_REJECTED");
    assert_eq!(state_of(&world.ask(&send("SendMessage", "done", ""))), "TASK_STATE_COMPLETED");
}

#[test]
fn more_tasks_than_workers_wait_and_are_all_served_in_order() {
    let mut world = small::<8, 256, 2, 8>();
    let clients: Vec<_> =
        (0..6).map(|n| world.post(&send("SendMessage", &format!("wait 1000; end {n}"), ""))).collect();
    for done in [0, 2, 4, 6] {
        assert_eq!(clients.iter().filter(|client| client.has_ended()).count(), done);
        world.advance(1000);
    }
}

#[test]
fn more_answers_than_readers_are_refused_and_the_task_is_not_made() {
    let mut world = small::<8, 256, 2, 2>();
    let waiting: Vec<_> =
        (0..2).map(|_| world.post(&send("SendStreamingMessage", "work; wait 5000; done", ""))).collect();
    let text = world.ask(&send("SendMessage", "done", ""));
    assert_eq!(code_of(&text), -32000);
    assert_eq!(world.node.limits().tasks.used, 2);
    // What needs no place is still answered.
    assert!(world.ask(&about("GetTask", &member(&waiting[0].text(), "id"))).contains("result"));
    world.advance(5000);
    assert_eq!(state_of(&world.ask(&send("SendMessage", "done", ""))), "TASK_STATE_COMPLETED");
}

#[test]
fn a_task_evicted_under_a_reader_ends_its_answer_and_not_another_ones() {
    let mut world = small::<3, 256, 1, 4>();
    let id = member(&world.ask(&send("SendMessage", "put one; put two; put three; done", "")), "id");
    let body = about("GetTask", &id);
    let reader = world.start_with(&Inbound { body: body.as_bytes(), ..Inbound::GUEST }, 40);
    reader.stall();
    world.step();
    for _ in 0..3 {
        world.ask(&send("SendMessage", "done", ""));
    }
    assert_eq!(code_of(&world.ask(&about("GetTask", &id))), -32001);
    reader.resume();
    world.settle();
    // Not a byte of another task; and if some had been sent, the connection is cut.
    assert!(reader.is_broken() || !reader.text().contains("result"), "{}", reader.text());

    // A stream that is between two events is told in words.
    let body = send("SendStreamingMessage", "work; wait 10; say x; done", "");
    let stream = world.request(&Inbound { body: body.as_bytes(), ..Inbound::GUEST }, 4096);
    stream.stall();
    world.advance(20);
    // Nobody else may go: the others are live.
    for text in ["ask x", "ask y", "done"] {
        world.ask(&send("SendMessage", text, ""));
    }
    stream.resume();
    world.settle();
    assert!(stream.has_ended());
    assert_eq!(code_of(stream.events().last().unwrap()), -32001);
}

#[test]
fn an_agent_that_fills_the_log_fails_with_a_reason_and_the_rest_goes_on() {
    let mut world = small::<8, 24, 1, 4>();
    let text = world.ask(&send("SendMessage", "put aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa; put b; put c; put d; put e; put f; put g; put h; put i; done", ""));
    assert!(["TASK_STATE_FAILED", "TASK_STATE_COMPLETED"].contains(&state_of(&text).as_str()), "{text}");
    assert_eq!(state_of(&world.ask(&send("SendMessage", "done", ""))), "TASK_STATE_COMPLETED");
}
