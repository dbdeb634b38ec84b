use super::{Encoder, Op, Ops, Scene, encoder::DEPTH};
use crate::{
    dialect::{CARD, DIALECTS, Served, Shapes},
    door::{Caller, Door},
    engine::{Chunk, Engine, Manners, Piece, Sender, Shown, Storage},
    json::Json,
    model::{Content, History, Message, Part, Parts, Profile, Respond, SendCall, TaskName},
    rpc,
    time::{Entropy, Millis},
};

/// How many frames a template needs. Its last step needs none of its own, unless it is a loop.
fn depth(ops: Ops, body: Ops, shapes: &Shapes) -> usize {
    let inner = |op: &Op| match *op {
        Op::Lit(_) | Op::Put(_) | Op::Member(..) | Op::Bare(_) => 0,
        Op::If(_, ops) | Op::Unless(_, ops) | Op::Each(_, ops) | Op::Status(ops) | Op::Nest(ops) => {
            depth(ops, body, shapes)
        }
        Op::Own(pick) => depth(pick(shapes), body, shapes),
        Op::ByPart(kinds) => kinds.iter().map(|ops| depth(ops, body, shapes)).max().unwrap_or(0),
        Op::Body => depth(body, &[], shapes),
    };
    let needs = |(at, op): (usize, &Op)| {
        let is_last = at + 1 == ops.len() && !matches!(op, Op::Each(..));
        inner(op) + usize::from(!is_last)
    };
    ops.iter().enumerate().map(needs).max().unwrap_or(0).max(1)
}

#[test]
fn no_template_nests_deeper_than_the_encoder_can() {
    for dialect in DIALECTS {
        let shapes = &dialect.shapes;
        assert!(depth(CARD, &[], shapes) <= DEPTH);
        let events =
            [shapes.status_event, shapes.artifact_event, shapes.reply_event, shapes.snapshot.unwrap_or(shapes.task)];
        for shape in events {
            assert!(depth(rpc::RESULT_EVENT, shape, shapes) <= DEPTH, "{}", dialect.name());
        }
        for shape in [shapes.sent, shapes.replied, shapes.task, shapes.list, shapes.push, shapes.pushes] {
            assert!(depth(rpc::RESULT, shape, shapes) <= DEPTH, "{}", dialect.name());
        }
        for shape in [shapes.status_event, shapes.artifact_event, shapes.task] {
            assert!(depth(rpc::BARE, shape, shapes) <= DEPTH, "{}", dialect.name());
        }
        assert!(depth(rpc::ERROR_EVENT, shapes.error_data, shapes) <= DEPTH, "{}", dialect.name());
    }
}

struct Zero;

impl Entropy for Zero {
    fn fill(&mut self, bytes: &mut [u8]) {
        bytes.fill(0);
    }
}

const PROFILE: Profile<'static> = Profile {
    name: "",
    description: "",
    version: "",
    provider: None,
    documentation_url: None,
    input_modes: &[],
    output_modes: &[],
    skills: &[],
};

/// The length of a task's document, and the places in the log looked at to send it through a buffer of 64 bytes.
fn work(message_bytes: usize, chunks: usize) -> (usize, u64) {
    extern crate std;
    let mut storage = std::boxed::Box::new(Storage::<1, 40_000, 1, 1>::new());
    let mut zero = Zero;
    let mut engine = Engine::new(&mut storage, &mut zero);
    let text = std::format!("[\"{}\"]", "x".repeat(message_bytes));
    let parts = Json::parse(text.as_bytes()).unwrap();
    let message = Message {
        id: None,
        from_agent: false,
        parts: Parts::new(parts, |text| {
            Ok(Part { content: Content::Text(text.text().unwrap()), media_type: None, filename: None, metadata: None })
        })
        .unwrap(),
        metadata: None,
        extensions: None,
        references: None,
    };
    let call = SendCall {
        message,
        task: TaskName::New,
        context: None,
        context_member: "",
        respond: Respond::Now,
        history: History::All,
        output_modes: None,
        push: None,
    };
    let manners = Manners { dialect: 0, reopens: false, knows_replies: false, challenges: false };
    let door = Door::open_to_all();
    let shown = Shown::in_message(&call, false);
    let sender = Sender { caller: Caller::GUEST, profile: &PROFILE, door: &door, shown: &shown, trace: None };
    let key = engine.handle_send(Millis(0), &sender, &call, manners).unwrap().key;
    for n in 0..chunks {
        let parts = [Piece::Text(format_args!("reading {n}"))];
        let chunk = Chunk { artifact: "out", description: None, append: true, last: false, parts: &parts };
        engine.record_chunk(Millis(0), key, &chunk).unwrap();
    }
    let dialect = DIALECTS[1];
    let scene = Scene {
        engine: &engine,
        dialect,
        profile: &PROFILE,
        rpc_id: "1",
        fault: None,
        url: None,
        serves: Served::ALL,
        is_guarded: false,
    };
    let mut encoder = Encoder::task(rpc::RESULT, dialect.shapes.task, engine.snapshot(key), History::All);
    engine.pool().looks.set(0);
    let mut total = 0;
    let mut buffer = [0; 64];
    while let n @ 1.. = encoder.fill(&scene, &mut buffer).unwrap() {
        total += n;
    }
    (total, engine.pool().looks.get())
}

#[test]
fn a_document_four_times_as_long_takes_four_times_the_work() {
    extern crate std;
    // The storage passes over the stack on its way into its box.
    let run = std::thread::Builder::new().stack_size(64 << 20).spawn(compare_work);
    run.unwrap().join().unwrap();
}

fn compare_work() {
    for (small, large) in [((0, 500), (0, 2000)), ((50_000, 0), (200_000, 0)), ((10_000, 200), (40_000, 800))] {
        let (small_bytes, small_looks) = work(small.0, small.1);
        let (large_bytes, large_looks) = work(large.0, large.1);
        assert!(large_bytes > small_bytes * 3, "{small_bytes} and {large_bytes} bytes");
        // Four times the length; anything that starts again per buffer would be sixteen times the work.
        let (ratio, bound) = (large_looks * 10 / small_looks, large_bytes as u64 * 11 / small_bytes as u64);
        assert!(ratio <= bound, "{small_looks} looks for {small_bytes} bytes, {large_looks} for {large_bytes}");
    }
}
