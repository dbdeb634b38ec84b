//! The engine under any order of calls, steps, cancels, pauses, clients that go, principals that come and go and webhooks that
//! fail: everything is in its place after each.
//!
//! An input is a size and then operations of three bytes each: what, with whom, and how much.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mote_fuzz::{
    judge,
    world::{Answer, World, with_world},
};
use mote_tests::script::{about, send, send_01, send_03};
use protocol_core::Inbound;
use serde_json::Value;

const MOST: usize = 80;

fuzz_target!(|bytes: &[u8]| {
    let Some((size, operations)) = bytes.split_first() else { return };
    match size % 4 {
        0 => with_world::<2, 20, 1, 2>(|world| play(world, operations)),
        1 => with_world::<4, 40, 2, 3>(|world| play(world, operations)),
        2 => with_world::<5, 48, 4, 6>(|world| play(world, operations)),
        _ => with_world::<3, 300, 1, 4>(|world| play(world, operations)),
    }
});

type Open<'n, 's> = Vec<(Answer<'n, 's>, Value)>;

fn play(world: &mut World<'_, '_>, operations: &[u8]) {
    let mut marks = vec![false; world.node.limits().blocks.all as usize];
    let mut open = Vec::new();
    let (operations, _) = operations.as_chunks();
    for [what, whom, how] in operations.iter().take(MOST) {
        operate(world, &mut open, *what, *whom, *how);
        world.node.check(&mut marks);
    }
    world.settle();
    world.node.check(&mut marks);
    for (mut answer, id) in open {
        answer.read(512);
        judge::answer(&answer, &id);
    }
    world.node.check(&mut marks);
    assert_eq!(world.node.limits().readers.used, 0, "a reader's place is lost");
}

fn operate<'n, 's>(world: &mut World<'n, 's>, open: &mut Open<'n, 's>, what: u8, whom: u8, how: u8) {
    let (id, text) = (task(whom), script(how));
    let (first, second) = (what & 0x10 == 0, what & 0x20 == 0);
    let mut last_event_id = None;
    let body = match what & 0xf {
        0 | 1 => {
            let method = if first { "SendMessage" } else { "SendStreamingMessage" };
            let more = if second { String::new() } else { format!(r#","taskId":"{id}""#) };
            with_webhook(send(method, &text, &more), how, r#""configuration":{"taskPushNotificationConfig":CONFIG},"#)
        }
        2 => {
            let method = if first { "message/send" } else { "message/stream" };
            let more = if second { String::new() } else { format!(r#","taskId":"{id}""#) };
            with_webhook(send_03(method, &text, &more), how, r#""configuration":{"pushNotificationConfig":CONFIG},"#)
        }
        3 => {
            let sent = send_01(if first { "tasks/send" } else { "tasks/sendSubscribe" }, &id, &text);
            with_webhook(sent, how, r#""pushNotification":CONFIG,"#)
        }
        // A credential, for a task that may have asked for one.
        4 if !second => send("SendMessage", world.token(how), &format!(r#","taskId":"{id}""#)),
        4 => send("SendMessage", &text, "")
            .replace(r#""params":{"#, r#""params":{"configuration":{"returnImmediately":true},"#),
        5 => about(if first { "CancelTask" } else { "tasks/cancel" }, &id),
        6 => about(if first { "GetTask" } else { "tasks/get" }, &id),
        7 if !second => push(first, &id, how),
        7 => format!(
            r#"{{"jsonrpc":"2.0","id":3,"method":"ListTasks","params":{{"pageSize":{},"includeArtifacts":{first}}}}}"#,
            1 + how % 4
        ),
        8 => {
            last_event_id = (!second).then(|| how.to_string());
            about(if first { "SubscribeToTask" } else { "tasks/resubscribe" }, &id)
        }
        9 | 10 => {
            for _ in 0..1 + how % 8 {
                world.step();
            }
            return;
        }
        11 => return world.advance(u64::from(how) * if first { 1 } else { 100 }),
        12 if !first && !second => return world.webhooks.set(how),
        12 if !first => {
            world.change_door(how);
            return;
        }
        12 if !second => return world.node.retry_deliveries(),
        12 => {
            world.advance_to_next_alarm();
            return;
        }
        13 => {
            if let Some((answer, _)) = pick(open, whom) {
                answer.read_once(usize::from(how) + 1);
            }
            return;
        }
        14 => {
            if let Some((answer, _)) = pick(open, whom) {
                answer.read(usize::from(how) + 1);
            }
            return;
        }
        _ => {
            if !open.is_empty() {
                let (answer, id) = open.swap_remove(usize::from(whom) % open.len());
                judge::answer(&answer, &id);
            }
            return;
        }
    };
    let caller = world.caller(what >> 6);
    let inbound = Inbound { caller, last_event_id: last_event_id.as_deref(), body: body.as_bytes(), ..Inbound::GUEST };
    open.push((world.call(&inbound), judge::id_of(body.as_bytes())));
}

fn pick<'a, 'n, 's>(open: &'a mut Open<'n, 's>, whom: u8) -> Option<&'a mut (Answer<'n, 's>, Value)> {
    let count = open.len();
    open.get_mut(usize::from(whom).checked_rem(count)?)
}

/// Whom to notify, long or short.
fn config(how: u8) -> String {
    let token = "x".repeat(usize::from(how >> 4 & 3) * 120);
    format!(r#"{{"id":"c{}","url":"https://example.com/","token":"{token}"}}"#, how & 3)
}

/// A send that wants somebody to be notified, one in four times.
fn with_webhook(sent: String, how: u8, member: &str) -> String {
    if how & 0x60 != 0x60 {
        return sent;
    }
    sent.replacen(r#""params":{"#, &format!(r#""params":{{{}"#, member.replace("CONFIG", &config(how))), 1)
}

/// A call about who is notified of a task.
fn push(is_newest: bool, task: &str, how: u8) -> String {
    let (config, id) = (config(how), how & 3);
    let (method, params) = match (is_newest, how >> 2 & 3) {
        (true, 0) => ("GetTaskPushNotificationConfig", format!(r#"{{"taskId":"{task}","id":"c{id}"}}"#)),
        (true, 1) => ("ListTaskPushNotificationConfigs", format!(r#"{{"taskId":"{task}"}}"#)),
        (true, 2) => ("DeleteTaskPushNotificationConfig", format!(r#"{{"taskId":"{task}","id":"c{id}"}}"#)),
        (true, _) => ("CreateTaskPushNotificationConfig", config.replacen('{', &format!(r#"{{"taskId":"{task}","#), 1)),
        (_, 0) => ("tasks/pushNotification/set", format!(r#"{{"id":"{task}","pushNotificationConfig":{config}}}"#)),
        (_, 1) => ("tasks/pushNotification/get", format!(r#"{{"id":"{task}"}}"#)),
        (_, 2) => ("tasks/pushNotificationConfig/list", format!(r#"{{"id":"{task}"}}"#)),
        (_, _) => {
            let params = format!(r#"{{"taskId":"{task}","pushNotificationConfig":{config}}}"#);
            ("tasks/pushNotificationConfig/set", params)
        }
    };
    format!(r#"{{"jsonrpc":"2.0","id":4,"method":"{method}","params":{params}}}"#)
}

/// An id of a task: one that a client gave, or one that the node may have made.
fn task(whom: u8) -> String {
    match whom & 3 {
        0 => format!("t{}", whom >> 2 & 3),
        _ => format!("00000000-0000-4000-8000-{:012x}", whom >> 2 & 31),
    }
}

/// What the agent is told to do, and some text that takes room.
fn script(how: u8) -> String {
    const SCRIPTS: &[&str] = &[
        "done",
        "end fine",
        "fail x",
        "ask which",
        "auth who",
        "reject no",
        "reply hi",
        "act now",
        "work; wait 10; done",
        "wait 50; chunk a; wait 50; last b",
        "chunks 4; says 2",
        "chunks 60; ask more",
        "slow; wait 5000; done",
        "says 40; end fine",
        "put a; put b; add a c; wait 1; put a; done",
        "data [1,2,{}]; file hi; link http://x; done",
    ];
    let filling = if how & 0x80 == 0 { 0 } else { usize::from(how & 0x70) * 12 };
    format!("{}; {}", SCRIPTS[usize::from(how & 0xf)], "x".repeat(filling))
}
