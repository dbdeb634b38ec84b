use super::{Op, Ops, encoder::DEPTH};
use crate::{
    dialect::{CARD, DIALECTS},
    rpc,
};

/// How many frames a template needs.
fn depth(ops: Ops, body: Ops) -> usize {
    let inner = |op: &Op| match *op {
        Op::Lit(_) | Op::Put(_) | Op::Bare(_) => 0,
        Op::If(_, ops) | Op::Unless(_, ops) | Op::Each(_, ops) | Op::Status(ops) | Op::Nest(ops) => depth(ops, body),
        Op::ByPart(kinds) => kinds.iter().map(|ops| depth(ops, body)).max().unwrap_or(0),
        Op::Body => depth(body, &[]),
    };
    1 + ops.iter().map(inner).max().unwrap_or(0)
}

#[test]
fn no_template_nests_deeper_than_the_encoder_can() {
    assert!(depth(CARD, &[]) <= DEPTH);
    for dialect in DIALECTS {
        let shapes = &dialect.shapes;
        let events =
            [shapes.status_event, shapes.artifact_event, shapes.reply_event, shapes.snapshot.unwrap_or(shapes.task)];
        for shape in events {
            assert!(depth(rpc::RESULT_EVENT, shape) <= DEPTH, "{}", dialect.name());
        }
        for shape in [shapes.sent, shapes.replied, shapes.task, shapes.list] {
            assert!(depth(rpc::RESULT, shape) <= DEPTH, "{}", dialect.name());
        }
        assert!(depth(rpc::ERROR_EVENT, shapes.error_data) <= DEPTH, "{}", dialect.name());
    }
}
