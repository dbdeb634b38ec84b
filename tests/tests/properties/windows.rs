//! Any size of output buffer gives the same bytes.

use core::task::{Context, Poll, Waker};

use mote_tests::{
    random::{Random, with_seeds},
    script::{Script, about, send, send_01, send_03},
    world::World,
};
use protocol_core::{Inbound, Reply, push::Challenge};

/// Reads an answer that is all there, through windows of the sizes that `size` gives.
fn read(mut reply: Reply<'_, '_>, mut size: impl FnMut() -> usize) -> String {
    let mut bytes = Vec::new();
    let mut window = [0xff; 4096];
    loop {
        let window = &mut window[..size()];
        match reply.poll_fill(&mut Context::from_waker(Waker::noop()), window) {
            Poll::Ready(Ok(0)) => return String::from_utf8(bytes).expect("answers are UTF-8"),
            Poll::Ready(Ok(n)) => bytes.extend_from_slice(&window[..n]),
            other => panic!("no answer at once: {other:?}"),
        }
    }
}

/// A world with something of everything in it.
fn world() -> World {
    let mut world = World::pushing::<_, 8, 256, 4, 1>(Script, Challenge::Never, None);
    world.ask(concat!(
        r#"{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":{"messageId":"m é","role":"ROLE_USER","parts":["#,
        r#"{"text":"chunks 30; says 5; put described; data [1]; end \\ \"é\""},{"raw":"aGVsbG8=","filename":"f"},"#,
        r#"{"url":"https://example.com/","mediaType":"text/plain"},{"data":{"a":[1,null]},"metadata":{"b":"😀\u2028"}}],"#,
        r#""metadata":{"k":1},"extensions":["e"],"referenceTaskIds":["r"],"contextId":"c \"d\""}}}"#,
    ));
    world.ask(&send("SendMessage", "chunks 30; says 5; put described; data [1]; file hi; end fine", ""));
    world.ask(&send_03("message/send", "say one; ask two", ""));
    world.ask(&send_01("tasks/send", "old", "chunk a; chunk b; last c; ask d"));
    world.ask(&send_01("tasks/send", "old", "put e; fail \\\"f\\\""));
    for (id, more) in
        [("old", ""), ("b \\\"é\\\"", r#","token":"t","authentication":{"scheme":"s","credentials":"c"}"#)]
    {
        let params = format!(r#"{{"taskId":"old","id":"{id}","url":"https://example.com/"{more}}}"#);
        let set = about("CreateTaskPushNotificationConfig", "").replace(r#"{"id":""}"#, &params);
        assert!(world.ask(&set).contains("result"));
    }
    world
}

/// Requests whose answers are all there at once, with `Last-Event-ID`.
fn requests(world: &mut World) -> Vec<(String, Option<&'static str>)> {
    let list = world.ask(r#"{"jsonrpc":"2.0","id":1,"method":"ListTasks","params":{"historyLength":0}}"#);
    let ids = list.split("{\"id\":\"").skip(1).filter_map(|rest| rest.split('"').next()).map(str::to_owned);
    assert_eq!(list.matches("\"status\":").count(), 4, "{list}");
    let mut all = vec![
        (
            r#"{"jsonrpc":"2.0","id":"a \"long\" id é","method":"ListTasks","params":{"includeArtifacts":true}}"#
                .to_owned(),
            None,
        ),
        (r#"{"jsonrpc":"2.0","id":1,"method":"ListTasks","params":{"pageSize":2}}"#.to_owned(), None),
        (r#"{"jsonrpc":"2.0","id":1,"method":"ListTasks","params":{"pageSize":0}}"#.to_owned(), None),
        (about("GetTask", "nobody"), None),
        (about("SubscribeToTask", "nobody"), None),
        (about("tasks/resubscribe", "nobody"), None),
        (send("SendMessage", "x", r#","taskId":"nobody""#), None),
        ("{\"a\":".to_owned(), None),
        ("[]".to_owned(), None),
        (about("tasks/pushNotification/get", "old"), None),
        (about("tasks/pushNotificationConfig/get", "old"), None),
        (about("tasks/pushNotificationConfig/list", "old"), None),
        (about("ListTaskPushNotificationConfigs", "old").replace(r#"{"id":"#, r#"{"taskId":"#), None),
        (about("tasks/resubscribe", "old"), None),
        (about("tasks/resubscribe", "old"), Some("90")),
    ];
    for id in ids {
        all.push((about("GetTask", &id), None));
        all.push((about("tasks/get", &id), None));
        all.push((
            format!(r#"{{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{{"id":"{id}","historyLength":2}}}}"#),
            None,
        ));
    }
    all
}

fn call<'w>(world: &'w World, (body, seen): &(String, Option<&str>)) -> Reply<'w, 'static> {
    world.node.call(&Inbound { body: body.as_bytes(), last_event_id: *seen, ..Inbound::GUEST })
}

#[test]
fn every_window_from_one_byte_to_three_hundred_gives_the_same_bytes() {
    let mut world = world();
    let requests = requests(&mut world);
    assert!(requests.len() > 20);
    for request in &requests {
        let whole = read(call(&world, request), || 4096);
        assert!(whole.len() > 40, "{whole}");
        for window in 1..=300 {
            assert_eq!(read(call(&world, request), || window), whole, "{} through {window} bytes", request.0);
        }
    }
    let whole = read(world.node.card("host"), || 4096);
    for window in 1..=300 {
        assert_eq!(read(world.node.card("host"), || window), whole, "the card through {window} bytes");
    }
}

#[test]
fn windows_of_changing_size_give_the_same_bytes() {
    let mut world = world();
    let requests = requests(&mut world);
    let wholes: Vec<String> = requests.iter().map(|request| read(call(&world, request), || 4096)).collect();
    with_seeds(1500, |random: &mut Random| {
        let picked = random.below(requests.len());
        let most = *random.pick(&[2, 10, 70, 400]);
        let parts = read(call(&world, &requests[picked]), || 1 + random.below(most));
        assert_eq!(parts, wholes[picked]);
    });
}
