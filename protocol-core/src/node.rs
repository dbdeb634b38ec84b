//! A device's one engine, shared by the connections, the workers and the clock of one executor.

use core::{
    cell::{Ref, RefCell, RefMut},
    future::poll_fn,
    task::Poll,
};

use crate::{
    dialect::{self, Choice, Dialect, Method, Served},
    door::{Address, Caller, Classes, Credential, Door, Turned},
    encode::{Encoder, Op, Ops},
    engine::{self, Cursor, Engine, Page, Sender, Shown, TaskKey},
    journal::{Level, Line, Note},
    json::{Json, Text},
    model::{Access, Call, Fault, FaultKind, History, Profile, Respond, SendCall},
    push::{Delivery, PushCounts},
    reply::{Opening, Place, Reply, Until},
    rpc::{self, Envelope},
    tally::Tally,
    time::{Clock, HttpDate, Millis, UnixMillis},
    trace::Trace,
};

/// A request as it came in over HTTP.
#[derive(Clone, Copy, Debug)]
pub struct Inbound<'b> {
    /// Who calls, as [`Node::admit`] has it. A stranger is told in its dialect that it must say who it is.
    pub caller: Option<Caller>,
    /// The `Host` it asked for.
    pub host: Option<&'b str>,
    /// `A2A-Version`.
    pub version: Option<&'b str>,
    /// `A2A-Extensions`. None is implemented yet, and none is required, so all of them are passed over.
    pub extensions: Option<&'b str>,
    /// `Last-Event-ID`.
    pub last_event_id: Option<&'b str>,
    /// `traceparent`, if there is exactly one.
    pub traceparent: Option<&'b str>,
    /// The body.
    pub body: &'b [u8],
}

impl Inbound<'_> {
    /// A guest's, with nothing in it yet.
    pub const GUEST: Self = Self {
        caller: Some(Caller::GUEST),
        host: None,
        version: None,
        extensions: None,
        last_event_id: None,
        traceparent: None,
        body: b"",
    };
}

/// What a device says about itself, and whom it speaks to.
#[derive(Clone, Copy, Debug)]
pub struct Identity<'s> {
    /// What the agent says about itself.
    pub profile: Profile<'s>,
    /// Where clients reach it. Without it the card tells them the host they asked.
    pub url: Option<&'s str>,
    /// The dialects it speaks.
    pub served: Served,
}

/// The engine and what everybody around it shares. No borrow of the engine outlives a call.
pub struct Node<'s> {
    engine: RefCell<Engine<'s>>,
    door: RefCell<Door<'s>>,
    clock: &'s dyn Clock,
    pub(crate) identity: Identity<'s>,
}

impl<'s> Node<'s> {
    /// Puts a node together.
    pub fn new(mut engine: Engine<'s>, door: Door<'s>, clock: &'s dyn Clock, identity: Identity<'s>) -> Self {
        engine.set_allowance(*door.allowance());
        Self { engine: RefCell::new(engine), door: RefCell::new(door), clock, identity }
    }

    /// Milliseconds since boot.
    pub fn now(&self) -> Millis {
        self.clock.now()
    }

    /// Tells the node what time it is.
    pub fn handle_wall_time(&self, wall: UnixMillis) {
        if self.wall_time().is_none() {
            self.note(Note::new(Level::Info, "the time is known"));
        }
        self.engine().handle_wall_time(self.now(), wall);
    }

    /// The wall time, if it is known.
    pub fn wall_time(&self) -> Option<UnixMillis> {
        self.engine().wall_time(self.now())
    }

    /// What there is room for, and how much of it is in use.
    pub fn limits(&self) -> engine::Limits {
        self.engine().limits()
    }

    /// Looks at what was counted.
    pub fn tally<R>(&self, look: impl FnOnce(&Tally) -> R) -> R {
        look(&self.engine().tally)
    }

    /// How many records were written for tasks.
    pub fn records(&self) -> u64 {
        self.engine().records()
    }

    /// How many tasks are in the state of that number in [`Tally::STATES`].
    pub fn tasks_in(&self, state: usize) -> u32 {
        self.engine().tasks_in(state)
    }

    /// Notes something that is about nobody's task, for whoever reads the log.
    pub fn note(&self, note: Note) {
        self.engine().note_call(self.now(), note, None, Trace::NONE);
    }

    /// The first line of the log of that number or a later one which a reader may see, and its number.
    pub fn line(&self, from: u64, reader: Caller) -> Option<(u64, Line)> {
        self.engine().journal.line(from, reader)
    }

    /// The number of the next line of the log.
    pub fn next_line(&self) -> u64 {
        self.engine().journal.next()
    }

    /// Fills `bytes` with the randomness that ids are made of: tokens are, too.
    pub fn fill_random(&self, bytes: &mut [u8]) {
        self.engine().fill_random(bytes);
    }

    /// Asserts that the engine is in order, see [`Engine::check`], and that every task is somebody's.
    #[cfg(any(test, fuzzing))]
    pub fn check(&self, marks: &mut [bool]) {
        self.engine().check(marks);
        self.engine().check_owners(&self.door());
    }

    /// A short borrow of the engine. Nobody holds one across an `await`, so it is always free.
    // One way to panic instead of forty.
    #[inline(never)]
    pub(crate) fn engine(&self) -> RefMut<'_, Engine<'s>> {
        self.engine.borrow_mut()
    }

    /// A short look at the door. Nobody holds one across an `await`.
    #[inline(never)]
    pub fn door(&self) -> Ref<'_, Door<'s>> {
        self.door.borrow()
    }

    #[inline(never)]
    fn door_mut(&self) -> RefMut<'_, Door<'s>> {
        self.door.borrow_mut()
    }

    /// Changes who is known. What those have asked for who no longer are is canceled and gone, streams included: nobody
    /// could end it any more.
    pub fn change_door<R>(&self, change: impl FnOnce(&mut Door<'s>) -> R) -> R {
        let was_open = self.door().is_open();
        let changed = change(&mut self.door_mut());
        let what = match (was_open, self.door().is_open()) {
            (true, false) => "the door was shut",
            (false, true) => "the door was opened: everybody gets in",
            _ => "it was changed who gets in",
        };
        self.note(Note::new(Level::Info, what));
        self.engine().handle_forgotten(self.now(), &self.door());
        changed
    }

    /// Counts something that is no call, of somebody who was let in.
    ///
    /// # Errors
    /// If it asks too often.
    pub fn count(&self, caller: Caller) -> Result<(), Turned> {
        self.door_mut().count_call(self.now(), caller)
    }

    /// Somebody comes to the door.
    ///
    /// # Errors
    /// If it is not let in.
    pub fn admit(&self, address: Address, credential: Option<Credential<'_>>) -> Result<Caller, Turned> {
        self.door_mut().admit(self.now(), address, credential)
    }

    /// Wakes whoever waits for the clock. `sleep` returns at the given time, or later.
    ///
    /// # Cancellation
    /// Nothing is lost; call it again.
    pub async fn run_clock<F: Future<Output = ()>>(&self, mut sleep_until: impl FnMut(Millis) -> F) -> ! {
        loop {
            let due = poll_fn(|cx| match self.engine().poll_timeout(cx.waker()) {
                Some(due) => Poll::Ready(due),
                None => Poll::Pending,
            })
            .await;
            if due > self.now() {
                let mut sleep = core::pin::pin!(sleep_until(due));
                poll_fn(|cx| {
                    if sleep.as_mut().poll(cx).is_ready() {
                        return Poll::Ready(());
                    }
                    // Somebody has set an earlier alarm.
                    match self.engine().poll_timeout(cx.waker()) {
                        Some(earlier) if earlier >= due => Poll::Pending,
                        _ => Poll::Ready(()),
                    }
                })
                .await;
            }
            self.engine().handle_timeout(self.now());
        }
    }

    /// Waits for a push notification that is due. Senders have numbers from 0 on.
    ///
    /// # Cancellation
    /// Nothing is lost; call it again.
    pub async fn next_delivery(&self, sender: usize) -> Delivery<'_, 's> {
        let next = poll_fn(|cx| match self.engine().poll_delivery(self.now(), sender, cx.waker()) {
            Some(errand) => Poll::Ready(errand),
            None => Poll::Pending,
        });
        let (place, stamp, errand) = next.await;
        Delivery::new(self, sender, place, stamp, errand)
    }

    /// The network is back: webhooks that could not be reached are tried again at once.
    pub fn retry_deliveries(&self) {
        self.engine().retry_deliveries(self.now());
    }

    /// What became of push notifications; nothing where there are none.
    pub fn push_counts(&self) -> Option<PushCounts> {
        let engine = self.engine();
        engine.has_push().then(|| engine.push_counts())
    }

    /// Answers a JSON-RPC request.
    pub fn call(&self, inbound: &Inbound<'_>) -> Reply<'_, 's> {
        let Understood { id, dialect, request } = self.understand(inbound);
        let method = request.as_ref().ok().map(|(method, _)| *method);
        let trace = inbound.traceparent.and_then(Trace::parse);
        // Who is not let through learns nothing else, and gets a plain answer: its HTTP status is what counts.
        let count = |caller: Option<Caller>, fault: &Fault| {
            let mut engine = self.engine();
            engine.tally.count_request(dialect, method, Some(fault.kind));
            let owner = caller.map(|caller| caller.owner);
            engine.note_call(self.now(), Note::refused(fault), owner, trace.unwrap_or(Trace::NONE));
        };
        let caller = match self.let_through(inbound.caller) {
            Ok(caller) => caller,
            Err((fault, retry_after)) => {
                count(inbound.caller, &fault);
                let mut refused = Reply::fault(self, id, dialect, fault, false);
                refused.retry_after = retry_after;
                return refused;
            }
        };
        let (method, envelope) = match request {
            Ok(request) => request,
            Err(fault) => {
                count(Some(caller), &fault);
                return Reply::fault(self, id, dialect, fault, false);
            }
        };
        crate::fmt::debug!("{} in {}", envelope.method.escaped(), dialect.name());
        match self.answer(caller, dialect, method, &envelope, inbound, trace) {
            Ok(opening) => {
                self.engine().tally.count_request(dialect, Some(method), None);
                Reply::new(self, id, dialect, opening)
            }
            Err(fault) => {
                count(Some(caller), &fault);
                let as_event = method.is_stream() && dialect.manners.errors_as_events;
                Reply::fault(self, id, dialect, fault, as_event)
            }
        }
    }

    /// Finds out what is asked, and who answers.
    fn understand<'b>(&self, inbound: &Inbound<'b>) -> Understood<'b> {
        let served = self.identity.served;
        let envelope = match rpc::parse(inbound.body) {
            Ok(envelope) => envelope,
            Err((id, fault)) => {
                return Understood { id, dialect: dialect::fallback(served, inbound.version), request: Err(fault) };
            }
        };
        let id = envelope.id;
        let method = envelope.method.decode::<64>().unwrap_or_default();
        let (dialect, method) = match dialect::select(served, &method, inbound.version) {
            Ok(Choice::One(dialect, method)) => (dialect, method),
            Ok(Choice::ByTask(otherwise, method)) => {
                let chosen = match self.birth(inbound.caller, &envelope) {
                    Some(birth) => dialect::of_task(served, birth, otherwise, method),
                    None if !envelope.has_version => dialect::of_bare(served, otherwise, method),
                    None => otherwise,
                };
                (chosen, method)
            }
            Err((dialect, fault)) => return Understood { id, dialect, request: Err(fault) },
        };
        Understood { id, dialect, request: Ok((method, envelope)) }
    }

    /// The dialect that made the task which a request is about.
    fn birth(&self, caller: Option<Caller>, envelope: &Envelope<'_>) -> Option<u8> {
        let id = envelope.params.member("id")?.text()?;
        let engine = self.engine();
        let key = engine.find(caller?.owner, id)?;
        engine.slot(key).map(|slot| slot.birth)
    }

    /// Whether somebody may call at all, and now. If not, why, and when again.
    fn let_through(&self, caller: Option<Caller>) -> Result<Caller, (Fault, Option<u16>)> {
        // It was let in when its head came; since then it may have been revoked.
        let caller = caller.and_then(|caller| {
            let classes = self.door().classes_of(caller.owner)?;
            Some(Caller { classes, ..caller })
        });
        let caller = caller.ok_or((STRANGER, None))?;
        if !caller.classes.has(Access::Read) {
            return Err((MAY_NOT_READ, None));
        }
        match self.count(caller) {
            Ok(()) => Ok(caller),
            Err(Turned::TooOften { retry_after_secs }) => {
                Err((Fault::new(FaultKind::TooOften), Some(retry_after_secs)))
            }
            Err(Turned::Unknown) => Err((STRANGER, None)),
        }
    }

    fn answer(
        &self,
        caller: Caller,
        dialect: &'static Dialect,
        method: Method,
        envelope: &Envelope<'_>,
        inbound: &Inbound<'_>,
        trace: Option<Trace>,
    ) -> Result<Opening<'_, 's>, Fault> {
        if dialect.manners.insists_on_jsonrpc && !envelope.has_version {
            return Err(rpc::invalid("jsonrpc", "is missing"));
        }
        match (dialect.decode)(method, envelope.params)? {
            Call::Send(call) => self.send(caller, dialect, &call, trace),
            Call::Get { id, history } => {
                let engine = self.engine();
                let key = engine.find(caller.owner, id).ok_or(NO_TASK)?;
                let encoder = Encoder::task(rpc::RESULT, dialect.shapes.task, engine.snapshot(key), history);
                Ok(Opening::document(encoder))
            }
            Call::List(filter) => {
                let page = Page::new(&self.engine(), caller.owner, &filter);
                Ok(Opening::document(Encoder::page(rpc::RESULT, dialect.shapes.list, page)))
            }
            Call::Cancel { id } => {
                let mut engine = self.engine();
                let key = engine.find(caller.owner, id).ok_or(NO_TASK)?;
                engine.handle_cancel(self.now(), key)?;
                let snapshot = engine.snapshot(key);
                let encoder = Encoder::task(rpc::RESULT, dialect.shapes.task, snapshot, dialect.manners.history);
                Ok(Opening::document(encoder))
            }
            Call::Subscribe { id, history } => {
                let key = self.engine().find(caller.owner, id).ok_or(NO_TASK)?;
                let seen = inbound.last_event_id.and_then(|seen| seen.trim_ascii().parse().ok());
                self.subscribe(dialect, key, seen, history)
            }
            Call::SetPush { task, config } => {
                let mut engine = self.engine();
                let key = push_task(&engine, caller, task)?;
                let manners = dialect.task_manners();
                let config = engine.handle_set_push(self.now(), caller.owner, key, manners, &config)?;
                let snapshot = engine.snapshot(key);
                Ok(Opening::document(Encoder::webhook(rpc::RESULT, dialect.shapes.push, snapshot, config)))
            }
            Call::GetPush { task, id } => {
                let engine = self.engine();
                let key = push_task(&engine, caller, task)?;
                let config = engine.shown_push(key, id)?;
                let snapshot = engine.snapshot(key);
                Ok(Opening::document(Encoder::webhook(rpc::RESULT, dialect.shapes.push, snapshot, config)))
            }
            Call::ListPush { task } => {
                let engine = self.engine();
                let key = push_task(&engine, caller, task)?;
                let snapshot = engine.snapshot(key);
                Ok(Opening::document(Encoder::webhook(rpc::RESULT, dialect.shapes.pushes, snapshot, Cursor::START)))
            }
            Call::DeletePush { task, id } => {
                let mut engine = self.engine();
                let key = push_task(&engine, caller, task)?;
                // One that is not there is as good as deleted.
                if let Some(config) = engine.find_push(key, Some(id)) {
                    engine.delete_push(key, config);
                }
                Ok(Opening::document(Encoder::plain(rpc::RESULT, NULL)))
            }
            Call::ExtendedCard if self.door().is_open() => Err(Fault::new(FaultKind::ExtendedCardNotConfigured)),
            Call::ExtendedCard => {
                let host = inbound.host.unwrap_or("localhost");
                Ok(Opening::document(Encoder::card(rpc::RESULT, dialect::CARD, host, caller.classes)))
            }
        }
    }

    fn send(
        &self,
        caller: Caller,
        dialect: &Dialect,
        call: &SendCall<'_>,
        trace: Option<Trace>,
    ) -> Result<Opening<'_, 's>, Fault> {
        let mut engine = self.engine();
        engine.check_reader(caller.owner)?;
        let shown = Shown::in_message(call, engine.asks_for_credential(caller.owner, call.task));
        if shown.is_any() && self.door_mut().count_credential(self.now(), caller).is_err() {
            return Err(Fault::because(FaultKind::TooOften, "too many credentials"));
        }
        let sender = Sender { caller, profile: &self.identity.profile, door: &self.door(), shown: &shown, trace };
        let sent = engine.handle_send(self.now(), &sender, call, dialect.task_manners())?;
        let reader = Place::new(self, engine.handle_reader(sent.key)?);
        let patience_ends = self.now().after(engine.allowance().blocking);
        drop(engine);
        let until = match call.respond {
            Respond::Stream => {
                let is_shown = dialect.shapes.snapshot.is_some();
                let begin = Cursor::behind(if is_shown { sent.upto } else { sent.message });
                return Ok(Opening::stream(reader, sent.key, begin, sent.upto, call.history, is_shown));
            }
            Respond::Settled => Until::Settled,
            Respond::SettledOrSlow => Until::SettledOrSlow,
            Respond::Now => Until::Known,
        };
        Ok(Opening::waiting(reader, sent, until, call.history, patience_ends))
    }

    fn subscribe(
        &self,
        dialect: &Dialect,
        key: TaskKey,
        seen: Option<u64>,
        history: History,
    ) -> Result<Opening<'_, 's>, Fault> {
        let mut engine = self.engine();
        let now = engine.snapshot(key);
        let slot = engine.slot(key).ok_or(NO_TASK)?;
        let (ended, newest) = (slot.state.is_terminal(), slot.status_stamp);
        // A reader that knows where it was goes on there, unless what it has not seen is gone.
        let seen = seen.filter(|seen| *seen <= now.upto && !engine.missed_chunks(key, *seen));
        let has_unseen = seen.is_some_and(|seen| seen < newest);
        // Behind the end of a task nothing will ever come: who has seen it all is shown it again, or refused.
        let seen = seen.filter(|_| !ended || has_unseen);
        if ended && !has_unseen && !dialect.manners.shows_ended {
            return Err(Fault::because(FaultKind::TaskEnded, "there is nothing to subscribe to"));
        }
        let reader = Place::new(self, engine.handle_reader(key)?);
        drop(engine);
        let (cursor, is_shown) = match seen {
            Some(seen) => (Cursor::behind(seen), false),
            None if dialect.shapes.snapshot.is_none() => (Cursor::START, false),
            None => (Cursor::behind(now.upto), true),
        };
        Ok(Opening::stream(reader, key, cursor, now.upto, history, is_shown))
    }

    /// A JSON-RPC error for a request that never became one: too large, of the wrong type, one too many.
    pub fn refuse(&self, version: Option<&str>, kind: FaultKind, why: &'static str) -> Reply<'_, 's> {
        let dialect = dialect::fallback(self.identity.served, version);
        let fault = Fault::because(kind, why);
        let mut engine = self.engine();
        engine.tally.count_request(dialect, None, Some(kind));
        engine.note_call(self.now(), Note::refused(&fault), None, Trace::NONE);
        drop(engine);
        Reply::fault(self, None, dialect, fault, false)
    }

    /// The card, for a client that reached us as `host`.
    pub fn card(&self, host: &str) -> Reply<'_, 's> {
        Reply::card(self, host, Classes::NONE)
    }

    /// The card with all that somebody who is known may use. An open door has no other card than the public one.
    ///
    /// Whoever shows it counts the call: [`Node::count`].
    pub fn extended_card(&self, host: &str, caller: Caller) -> Option<Reply<'_, 's>> {
        let is_open = self.door().is_open();
        (!is_open).then(|| Reply::card(self, host, caller.classes))
    }

    /// A number that changes when the card does.
    pub fn card_tag(&self, host: &str) -> u64 {
        let mut hash = 0xcbf2_9ce4_8422_2325_u64;
        let mut buffer = [0; 64];
        let mut card = self.card(host);
        while let Some(bytes) = card.fill_now(&mut buffer) {
            for byte in bytes {
                hash = (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3);
            }
        }
        hash
    }

    /// When the card was last changed: it is made when the device starts.
    pub fn card_date(&self) -> Option<HttpDate> {
        self.engine().wall_time(Millis(0)).map(HttpDate)
    }
}

/// A request, as far as it could be read.
struct Understood<'b> {
    id: Option<Json<'b>>,
    dialect: &'static Dialect,
    request: Result<(Method, Envelope<'b>), Fault>,
}

/// The task that somebody is to be notified of.
fn push_task(engine: &Engine<'_>, caller: Caller, id: Text<'_>) -> Result<TaskKey, Fault> {
    if !engine.has_push() {
        return Err(Fault::new(FaultKind::PushNotSupported));
    }
    engine.find(caller.owner, id).ok_or(NO_TASK)
}

const NULL: Ops = &[Op::Lit("null")];
const NO_TASK: Fault = Fault::new(FaultKind::TaskNotFound);
const STRANGER: Fault = Fault::because(FaultKind::Unauthenticated, "send a token, the card says how");
const MAY_NOT_READ: Fault = Fault::because(FaultKind::Forbidden, "this needs the access class read");
