//! An answer on its way: now, when the task settles, or as a stream.

use core::{
    future::poll_fn,
    task::{Context, Poll, Waker},
};

use crate::{
    config::KEEPALIVE,
    dialect::{CARD, Dialect},
    door::Classes,
    encode::{Encoder, Ops, Scene},
    engine::{Cursor, Engine, Event, Follower, ReaderKey, Sent, Snapshot, TaskKey, What},
    json::Json,
    log::{Kind, Stamp},
    model::{Fault, FaultKind, History},
    node::Node,
    rpc::{self, RpcId},
    time::Millis,
};

/// What was being sent is gone: the connection must be cut, so that the client does not take a piece for the whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Broken;

impl core::fmt::Display for Broken {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("what was being sent is no longer stored")
    }
}

impl core::error::Error for Broken {}

/// What a waiting answer waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Until {
    /// The task ends or asks for something.
    Settled,
    /// That, or its agent says that it takes long.
    SettledOrSlow,
    /// It is clear that there is a task.
    Known,
}

/// An answer to one request. It owns all it needs: the request may go.
pub struct Reply<'n, 's> {
    node: &'n Node<'s>,
    id: RpcId,
    dialect: &'static Dialect,
    fault: Option<Fault>,
    /// Seconds after which a client that asked too often may ask again.
    pub(crate) retry_after: Option<u16>,
    reader: Option<Place<'n, 's>>,
    /// When to say that we are still here.
    keepalive_at: Millis,
    is_stream: bool,
    stage: Stage,
}

enum Stage {
    /// A document, then the end.
    Document(Encoder),
    /// A document once the task is where it has to be.
    Waiting {
        sent: Sent,
        until: Until,
        history: History,
        /// Who waits longer than this gets what there is.
        patience_ends: Millis,
    },
    /// A stream between two events: behind `cursor`, begun when the newest stamp was `begun`.
    Between(Stream),
    /// An event of a stream.
    Event(Encoder, Option<Stream>),
    Ended,
}

#[derive(Clone, Copy)]
struct Stream {
    follower: Follower,
    begun: Stamp,
    history: History,
    snapshot_due: bool,
}

/// How an answer begins.
pub(crate) struct Opening<'n, 's> {
    stage: Stage,
    reader: Option<Place<'n, 's>>,
    is_stream: bool,
}

impl<'n, 's> Opening<'n, 's> {
    /// With a document that is ready.
    pub(crate) fn document(encoder: Encoder) -> Self {
        Self { stage: Stage::Document(encoder), reader: None, is_stream: false }
    }

    /// With a wait.
    pub(crate) fn waiting(
        reader: Place<'n, 's>,
        sent: Sent,
        until: Until,
        history: History,
        patience_ends: Millis,
    ) -> Self {
        Self { stage: Stage::Waiting { sent, until, history, patience_ends }, reader: Some(reader), is_stream: false }
    }

    /// With the first event of a stream: what the task looked like at `begun`, if the dialect shows that, then what
    /// comes behind `cursor`.
    pub(crate) fn stream(
        reader: Place<'n, 's>,
        key: TaskKey,
        cursor: Cursor,
        begun: Stamp,
        history: History,
        snapshot_due: bool,
    ) -> Self {
        let stream = Stream { follower: Follower::new(key, cursor), begun, history, snapshot_due };
        Self { stage: Stage::Between(stream), reader: Some(reader), is_stream: true }
    }
}

impl<'n, 's> Reply<'n, 's> {
    pub(crate) fn new(
        node: &'n Node<'s>,
        id: Option<Json<'_>>,
        dialect: &'static Dialect,
        opening: Opening<'n, 's>,
    ) -> Self {
        let Opening { stage, reader, is_stream } = opening;
        let keepalive_at = node.now().after(KEEPALIVE);
        Self {
            node,
            id: rpc::id_of(id),
            dialect,
            fault: None,
            retry_after: None,
            reader,
            keepalive_at,
            is_stream,
            stage,
        }
    }

    pub(crate) fn fault(
        node: &'n Node<'s>,
        id: Option<Json<'_>>,
        dialect: &'static Dialect,
        fault: Fault,
        as_event: bool,
    ) -> Self {
        node.engine().tally.count_fault(fault.kind);
        let outer = if as_event { rpc::ERROR_EVENT } else { rpc::ERROR };
        let opening = Opening::document(Encoder::plain(outer, dialect.shapes.error_data));
        Self { fault: Some(fault), is_stream: as_event, ..Self::new(node, id, dialect, opening) }
    }

    pub(crate) fn card(node: &'n Node<'s>, host: &str, classes: Classes) -> Self {
        let dialect = crate::dialect::fallback(node.identity.served, None);
        Self::new(node, None, dialect, Opening::document(Encoder::card(CARD, &[], host, classes)))
    }

    /// Whether this is a stream of events; if not, it is one JSON document.
    pub const fn is_stream(&self) -> bool {
        self.is_stream
    }

    /// Seconds after which a client that was refused for lack of room may try again.
    pub fn retry_after(&self) -> Option<u16> {
        let is_full = |fault: &Fault| matches!(fault.kind, FaultKind::Busy | FaultKind::TooOften);
        self.retry_after.or_else(|| self.fault.filter(is_full).map(|_| 1))
    }

    /// The HTTP status: 200 for nearly everything, errors included, because clients throw away the body of anything else.
    pub fn status(&self) -> u16 {
        match self.fault.map(|fault| fault.kind) {
            Some(FaultKind::Unauthenticated) => 401,
            Some(FaultKind::Forbidden) => 403,
            _ => 200,
        }
    }

    /// Writes the next bytes; 0 at the end. Waits if there are none yet.
    ///
    /// # Errors
    /// If what was being sent is gone.
    ///
    /// # Cancellation
    /// Nothing is lost; call it again.
    pub async fn fill(&mut self, out: &mut [u8]) -> Result<usize, Broken> {
        poll_fn(|cx| self.poll_fill(cx, out)).await
    }

    /// As [`Reply::fill`], for a document that waits for nothing. `None` at its end.
    pub(crate) fn fill_now<'o>(&mut self, out: &'o mut [u8]) -> Option<&'o [u8]> {
        match self.poll_fill(&mut Context::from_waker(Waker::noop()), out) {
            Poll::Ready(Ok(n)) if n > 0 => out.get(..n),
            _ => None,
        }
    }

    /// As [`Reply::fill`], one attempt.
    pub fn poll_fill(&mut self, cx: &mut Context<'_>, out: &mut [u8]) -> Poll<Result<usize, Broken>> {
        let node = self.node;
        loop {
            let mut engine = node.engine();
            let moved_on = match self.stage {
                Stage::Ended => return Poll::Ready(Ok(0)),
                Stage::Document(_) | Stage::Event(..) => {
                    let written = self.encode(&engine, out)?;
                    if written == 0 {
                        continue;
                    }
                    if self.is_stream {
                        self.keepalive_at = node.now().after(KEEPALIVE);
                    }
                    return Poll::Ready(Ok(written));
                }
                Stage::Waiting { sent, until, history, patience_ends } => {
                    let is_over = node.now() >= patience_ends;
                    if is_over {
                        engine.commit(sent.key);
                    }
                    let moved_on =
                        (is_over || self.is_due(&engine, sent, until)) && self.answer(&engine, sent, history);
                    engine.tally.count_late(self.fault.as_ref());
                    moved_on
                }
                Stage::Between(stream) => match self.next_event(&engine, stream) {
                    Some(next) => {
                        engine.tally.count_late(self.fault.as_ref());
                        if let Stage::Event(..) = next {
                            engine.tally.events = engine.tally.events.wrapping_add(1);
                        }
                        self.stage = next;
                        true
                    }
                    None => false,
                },
            };
            if moved_on {
                continue;
            }
            let now = node.now();
            if now < self.keepalive_at {
                if let Some(reader) = &self.reader {
                    let patience_ends = match self.stage {
                        Stage::Waiting { patience_ends, .. } => patience_ends,
                        _ => self.keepalive_at,
                    };
                    engine.wait_for_record(reader.key, self.keepalive_at.min(patience_ends), cx.waker());
                }
                return Poll::Pending;
            }
            self.keepalive_at = now.after(KEEPALIVE);
            if let Stage::Between(stream) = self.stage {
                self.stage = Stage::Event(Encoder::plain(rpc::KEEPALIVE_COMMENT, &[]), Some(stream));
            } else if let Some(first) = out.first_mut() {
                *first = rpc::KEEPALIVE_SPACE;
                return Poll::Ready(Ok(1));
            }
        }
    }

    /// Writes the next bytes of a document or an event, and moves on at its end.
    fn encode(&mut self, engine: &Engine<'s>, out: &mut [u8]) -> Result<usize, Broken> {
        let identity = &self.node.identity;
        let scene = Scene {
            engine,
            dialect: self.dialect,
            profile: &identity.profile,
            rpc_id: &self.id,
            fault: self.fault.as_ref(),
            url: identity.url,
            serves: identity.served,
            is_guarded: !self.node.door().is_open(),
        };
        let (encoder, then) = match &mut self.stage {
            Stage::Document(encoder) => (encoder, None),
            Stage::Event(encoder, then) => (encoder, *then),
            _ => return Ok(0),
        };
        let written = encoder.fill(&scene, out);
        if written.is_err() || encoder.is_done() {
            self.stage = then.filter(|_| written.is_ok()).map_or(Stage::Ended, Stage::Between);
        }
        written.map_err(|_| Broken)
    }

    fn is_due(&self, engine: &Engine<'_>, sent: Sent, until: Until) -> bool {
        match until {
            Until::Settled => engine.is_settled(sent.key, sent.message),
            Until::SettledOrSlow => engine.is_settled(sent.key, sent.message) || engine.is_slow(sent.key),
            Until::Known => !engine.is_tentative(sent.key),
        }
    }

    /// Goes on to the answer.
    fn answer(&mut self, engine: &Engine<'_>, sent: Sent, history: History) -> bool {
        let shapes = &self.dialect.shapes;
        self.stage = if engine.slot(sent.key).is_none() {
            self.gone(rpc::ERROR)
        } else if let Some(reply) = find_reply(engine, sent.key, sent.message) {
            Stage::Document(Encoder::event(rpc::RESULT, shapes.replied, sent.key, reply))
        } else {
            Stage::Document(Encoder::task(rpc::RESULT, shapes.sent, engine.snapshot(sent.key), history))
        };
        true
    }

    /// The next event of a stream, if there is one.
    fn next_event(&mut self, engine: &Engine<'_>, mut stream: Stream) -> Option<Stage> {
        let key = stream.follower.key;
        if engine.slot(key).is_none() {
            return Some(self.gone(rpc::ERROR_EVENT));
        }
        let shapes = &self.dialect.shapes;
        if engine.is_tentative(key) {
            return None;
        }
        if let Some(reply) = find_reply(engine, key, stream.begun) {
            return Some(Stage::Event(Encoder::event(rpc::RESULT_EVENT, shapes.reply_event, key, reply), None));
        }
        if stream.snapshot_due && engine.status(Snapshot { key, upto: stream.begun }).is_none() {
            // The beginning is gone before it could be shown: the stream begins now.
            stream.begun = engine.snapshot(key).upto;
            stream.follower.cursor = Cursor::behind(stream.begun);
        }
        let begun = Snapshot { key, upto: stream.begun };
        if stream.snapshot_due {
            stream.snapshot_due = false;
            // A task that has ended is shown with its end, which is what closes a stream.
            if let Some((end, ..)) = engine.status(begun).filter(|(_, state, _)| state.is_terminal()) {
                stream.follower.cursor = Cursor::behind(end.stamp.saturating_sub(1));
            }
            let encoder =
                Encoder::task(rpc::RESULT_EVENT, shapes.snapshot.unwrap_or(shapes.task), begun, stream.history);
            return Some(Stage::Event(encoder, Some(stream)));
        }
        let Event { record, what } = stream.follower.next(engine, engine.snapshot(key).upto)?;
        let (shape, is_final, replaces) = match what {
            What::Status { ends } => (shapes.status_event, ends, false),
            What::Chunk { replaces, .. } => (shapes.artifact_event, false, replaces),
        };
        let mut encoder = Encoder::event(rpc::RESULT_EVENT, shape, key, record);
        encoder.set_final(is_final);
        encoder.set_replaces(replaces);
        Some(Stage::Event(encoder, (!is_final).then_some(stream)))
    }

    /// The task was evicted under us.
    fn gone(&mut self, outer: Ops) -> Stage {
        const GONE: Fault = Fault::because(FaultKind::TaskNotFound, "it made room for others before it could be sent");
        self.fault = Some(GONE);
        Stage::Document(Encoder::plain(outer, self.dialect.shapes.error_data))
    }
}

/// A place among the readers, given back when it is dropped.
pub(crate) struct Place<'n, 's> {
    node: &'n Node<'s>,
    key: ReaderKey,
}

impl<'n, 's> Place<'n, 's> {
    pub(crate) const fn new(node: &'n Node<'s>, key: ReaderKey) -> Self {
        Self { node, key }
    }
}

impl Drop for Place<'_, '_> {
    fn drop(&mut self) {
        self.node.engine().handle_reader_gone(self.key);
    }
}

/// The agent's answer, if it was a message.
fn find_reply(engine: &Engine<'_>, key: TaskKey, behind: Stamp) -> Option<Cursor> {
    let mut cursor = Cursor::behind(behind);
    while engine.is_message(key) {
        let (next, header) = engine.after(engine.snapshot(key), cursor)?;
        if header.kind() == Kind::Reply {
            return Some(next);
        }
        cursor = next;
    }
    None
}
