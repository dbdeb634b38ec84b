//! Push notifications when it gets full: places, blocks, owners, tasks that have to go.

use mote_tests::{
    webhook::{Answer, FAILED, TAKEN, Webhooks},
    world::{ANNA, BEN, World},
};
use protocol_core::{
    door::Allowance,
    push::{Challenge, Outcome},
};

use crate::{
    push::{delete, send_to, set},
    support::{Script, about, code_of, member, send, send_01, state_of},
};

const HOOK: &str = "https://example.com/";

fn guarded() -> World {
    World::pushing::<_, 8, 512, 3, 2>(Script, Challenge::Never, Some(Allowance::UNLIMITED))
}

#[test]
fn a_full_table_is_an_answer_that_names_it() {
    let mut world = World::pushing::<_, 8, 512, 2, 2>(Script, Challenge::Never, None);
    let id = member(&world.ask(&send("SendMessage", "ask x", "")), "id");
    for n in ["a", "b"] {
        assert!(world.ask(&set(&id, n, HOOK)).contains("result"));
    }
    let before = world.node.limits();
    for refused in [world.ask(&set(&id, "c", HOOK)), world.ask(&send_to("done", HOOK))] {
        assert_eq!(code_of(&refused), -32000);
        assert!(refused.contains("table of push notification configurations is full"), "{refused}");
    }
    assert_eq!(world.node.limits(), before, "who is refused has cost nobody anything");
    // One that is known is replaced all the same.
    assert!(world.ask(&set(&id, "b", "https://b.example/")).contains("https://b.example/"));
    assert!(world.ask(&delete(&id, "a")).contains("null"));
    assert!(world.ask(&set(&id, "c", HOOK)).contains("result"));
}

#[test]
fn those_who_were_told_all_make_room_and_their_blocks_are_free() {
    let mut world = World::pushing::<_, 8, 512, 2, 2>(Script, Challenge::Never, None);
    let hooks = Webhooks::start(&mut world, 2, |_| TAKEN);
    for n in 0..20 {
        let answer = world.ask(&send_to("done", HOOK));
        assert!(answer.contains("result"), "{n}: {answer}");
    }
    assert_eq!(hooks.bodies().len(), 40);
    let counts = world.node.push_counts().unwrap();
    assert_eq!((counts.used, counts.lost), (2, 0));
    // One that was given up has to go when there is no other, and that is counted.
    hooks.answer(|_| FAILED);
    for _ in 0..2 {
        world.ask(&send_to("done", HOOK));
    }
    assert_eq!(code_of(&world.ask(&send_to("done", HOOK))), -32000);
    world.advance(600_000);
    assert!(world.ask(&send_to("done", HOOK)).contains("result"));
    assert_eq!(world.node.push_counts().unwrap().lost, 1);
}

#[test]
fn the_last_place_is_for_somebody_who_has_none() {
    let mut world = guarded();
    let annas = member(&world.ask_with(ANNA, &send("SendMessage", "ask x", "")), "id");
    let bens = member(&world.ask_with(BEN, &send("SendMessage", "ask x", "")), "id");
    assert!(world.ask_with(ANNA, &set(&annas, "a", HOOK)).contains("result"));
    assert!(world.ask_with(ANNA, &set(&annas, "b", HOOK)).contains("result"));
    let refused = world.ask_with(ANNA, &set(&annas, "c", HOOK));
    assert_eq!(code_of(&refused), -32000);
    assert!(refused.contains("you have as many push notification configurations as you may"), "{refused}");
    assert!(world.ask_with(ANNA, &set(&annas, "b", HOOK)).contains("result"));
    assert!(world.ask_with(BEN, &set(&bens, "a", HOOK)).contains("result"));
}

#[test]
fn another_owners_task_is_not_there() {
    let mut world = guarded();
    let id = member(&world.ask_with(ANNA, &send("SendMessage", "ask x", "")), "id");
    assert!(world.ask_with(ANNA, &set(&id, "a", HOOK)).contains("result"));
    let missing = world.ask_with(BEN, &set("no-such-task", "a", HOOK));
    for method in ["Create", "Get", "Delete"] {
        let call = |id: &str| set(id, "a", HOOK).replace("Create", method);
        assert_eq!(world.ask_with(BEN, &call(&id)), world.ask_with(BEN, &call("no-such-task")), "{method}");
    }
    assert_eq!(code_of(&missing), -32001);
    let list = set(&id, "", "").replace("CreateTaskPushNotificationConfig", "ListTaskPushNotificationConfigs");
    assert_eq!(code_of(&world.ask_with(BEN, &list)), -32001);
    assert!(world.ask_with(ANNA, &list).contains(HOOK));
}

#[test]
fn who_is_no_longer_known_notifies_nobody() {
    let mut world = guarded();
    let hooks = Webhooks::start(&mut world, 2, |_| Answer::After(1000, Outcome::Delivered));
    world.ask_with(ANNA, &send_to("work; wait 10000; done", HOOK));
    world.ask_with(BEN, &send_to("work; wait 10000; done", "https://ben.example/"));
    assert_eq!(world.node.push_counts().unwrap().used, 2);
    assert!(world.node.change_door(|door| door.forget("anna")));
    hooks.take();
    world.advance(60_000);
    assert!(hooks.sent().iter().all(|sent| sent.url == "https://ben.example/") && hooks.sent().len() == 2);
    let counts = world.node.push_counts().unwrap();
    assert_eq!((counts.used, counts.lost), (1, 0));
}

#[test]
fn who_has_many_slow_webhooks_delays_its_own() {
    let mut world = World::pushing::<_, 16, 1024, 16, 8>(Script, Challenge::Never, Some(Allowance::UNLIMITED));
    let hooks = Webhooks::start(&mut world, 2, |sent| {
        if sent.url.contains("ben") { Answer::After(20_000, Outcome::Failed { retry_after: None }) } else { TAKEN }
    });
    for n in 0..5 {
        world.ask_with(BEN, &send_to("says 3; done", &format!("https://ben{n}.example/")));
    }
    world.advance(10_000);
    // Both senders call webhooks of ben's; as soon as one comes back, anna is told everything.
    world.ask_with(ANNA, &send_to("says 3; done", HOOK));
    world.advance(10_100);
    assert_eq!(hooks.sent().iter().filter(|sent| sent.url == HOOK).count(), 5);
}

#[test]
fn finished_tasks_that_somebody_is_still_to_be_told_of_go_last_and_are_counted() {
    let mut world = World::pushing::<_, 3, 512, 4, 2>(Script, Challenge::Never, None);
    let hooks = Webhooks::start(&mut world, 2, |_| FAILED);
    let owed = member(&world.ask(&send_to("done", HOOK)), "id");
    for _ in 0..5 {
        world.ask(&send("SendMessage", "done", ""));
    }
    assert_eq!(state_of(&world.ask(&about("GetTask", &owed))), "TASK_STATE_COMPLETED");
    assert_eq!(world.node.push_counts().unwrap().lost, 0);
    // All others are live: it has to go.
    for _ in 0..3 {
        world.ask(&send("SendMessage", "ask x", ""));
    }
    assert_eq!(code_of(&world.ask(&about("GetTask", &owed))), -32001);
    let counts = world.node.push_counts().unwrap();
    assert_eq!((counts.used, counts.lost), (0, 1));
    hooks.take();
    world.advance(100_000);
    assert!(hooks.sent().is_empty());
}

#[test]
fn one_that_was_given_up_is_counted_as_lost_when_its_task_goes() {
    let mut world = World::pushing::<_, 2, 512, 4, 2>(Script, Challenge::Never, None);
    Webhooks::start(&mut world, 2, |_| FAILED);
    world.ask(&send_to("done", HOOK));
    world.advance(600_000);
    assert_eq!(world.node.push_counts().unwrap().given_up, 1);
    for _ in 0..2 {
        world.ask(&send("SendMessage", "done", ""));
    }
    let counts = world.node.push_counts().unwrap();
    assert_eq!((counts.used, counts.lost), (0, 1));
}

#[test]
fn a_task_that_is_evicted_while_it_is_out_breaks_nothing() {
    let mut world = World::pushing::<_, 2, 512, 4, 2>(Script, Challenge::Never, None);
    let hooks = Webhooks::start(&mut world, 2, |_| Answer::After(1000, Outcome::Delivered));
    world.ask(&send_to("done", HOOK));
    for _ in 0..2 {
        world.ask(&send("SendMessage", "ask x", ""));
    }
    let counts = world.node.push_counts().unwrap();
    assert_eq!((counts.used, counts.lost, hooks.sent().len()), (0, 1, 1));
    world.advance(10_000);
    assert_eq!(world.node.push_counts().unwrap().delivered, 0);
    assert_eq!(hooks.sent().len(), 1);
}

#[test]
fn a_task_that_has_its_share_makes_room_for_a_configuration_as_it_does_for_a_message() {
    let mut world = World::pushing::<_, 4, 60, 4, 2>(Script, Challenge::Never, None);
    let hooks = Webhooks::start(&mut world, 2, |_| TAKEN);
    let id = member(&world.ask(&send("SendMessage", "chunks 100; ask x", "")), "id");
    let answer = world.ask(&set(&id, "a", HOOK));
    assert!(answer.contains("result"), "{answer}");
    world.ask(&send("SendMessage", "done", &format!(r#","taskId":"{id}""#)));
    assert_eq!(state_of(hooks.bodies().last().unwrap()), "TASK_STATE_COMPLETED");
    // One that has ended is kept as it is.
    let id = member(&world.ask(&send("SendMessage", "chunks 100; done", "")), "id");
    let before = world.ask(&about("GetTask", &id));
    let long = format!("https://example.com/{}", "x".repeat(200));
    let refused = world.ask(&set(&id, "a", &long));
    assert_eq!(code_of(&refused), -32000);
    assert!(refused.contains("the log of this task is full"), "{refused}");
    assert_eq!(world.ask(&about("GetTask", &id)), before);
}

#[test]
fn a_configuration_leaves_something_of_the_log_to_the_agents() {
    let mut world = World::pushing::<_, 4, 40, 8, 2>(Script, Challenge::Never, None);
    let ids = [(); 3].map(|()| member(&world.ask(&send("SendMessage", "ask x", "")), "id"));
    let long = format!("https://example.com/{}", "x".repeat(200));
    let refused = ids.iter().flat_map(|id| ["a", "b", "c"].map(|config| (id, config))).find_map(|(id, config)| {
        let answer = world.ask(&set(id, config, &long));
        answer.contains("error").then_some(answer)
    });
    assert_eq!(code_of(&refused.expect("there is no room for all")), -32000);
    // Each of them can still say how it ends.
    for id in &ids {
        let answer = world.ask(&send("SendMessage", "say a; end y", &format!(r#","taskId":"{id}""#)));
        assert!(answer.contains(r#""text":"y""#) || answer.contains("log"), "{answer}");
    }
    let limits = world.node.limits();
    assert!(limits.blocks.used <= limits.blocks.all);
}

#[test]
fn a_configuration_finds_its_room_whatever_its_task_is_called() {
    // Every character takes six bytes in the log: the configuration is named after the task.
    let id = "\\u0001".repeat(64);
    let mut world = World::pushing::<_, 4, 256, 4, 2>(Script, Challenge::Never, None);
    let hooks = Webhooks::start(&mut world, 2, |_| TAKEN);
    for url in (0..64).map(|n| format!("https://example.com/{}", "x".repeat(n))) {
        let body = send_01("tasks/send", &id, "done")
            .replace("}]}}}", &format!(r#"}}]}},"pushNotification":{{"url":"{url}"}}}}}}"#));
        assert!(world.ask(&body).contains("result"));
        assert_eq!(hooks.take().len(), 2, "{url}");
        let got = world.ask(&about("tasks/pushNotification/get", &id));
        assert!(got.contains(&format!("\"{url}\"")), "{got}");
    }
    assert_eq!(world.node.push_counts().unwrap().used, 1);
}
