//! One request, from its head to the last byte of its answer.

use core::{cell::Cell, future::poll_fn, marker::PhantomData, pin::pin, task::Poll};

use picoserve::{
    ResponseSent, Timer,
    io::{BaseWrite, Read},
    request::{HeaderValue, Path, Request, RequestBodyConnection, RequestParts},
    response::{IntoResponse, Response, ResponseWriter, StatusCode},
    routing::PathRouterService,
};

use protocol_core::{
    Access,
    door::{Caller, Turned},
};

use super::{
    Site,
    answer::{self, Begun, Challenge, Client, Cors, Extent, Fields, Matter, Reply},
    body::Body,
    conditional, credential,
    crowd::Place,
    flow::Flow,
    gate::Verdict,
    page,
    routes::{self, Action, Missed, Problem},
    service::{BaseUrl, Broken, Call, Kind, Refusal, Service, Source},
    socket::Wire,
};

/// What picoserve calls for each request of one connection.
pub(super) struct Handler<'e, 'b, 's, Runtime, T, S, W> {
    pub(super) site: &'e Site<'e, 's, S>,
    /// Where the client is.
    pub(super) place: &'e Place<'e>,
    pub(super) body_limit_bytes: usize,
    pub(super) timer: &'e T,
    pub(super) flow: &'e Flow,
    pub(super) wire: &'e Wire<'b, W>,
    /// Where answers are made; empty while one is being sent.
    pub(super) fill: Cell<&'e mut [u8]>,
    pub(super) runtime: PhantomData<fn(&Runtime)>,
}

impl<Runtime, T, S, L> PathRouterService for Handler<'_, '_, '_, Runtime, T, S, L>
where
    T: Timer<Runtime>,
    S: Service,
    L: BaseWrite,
{
    #[expect(clippy::manual_async_fn, reason = "an `async fn` keeps its arguments twice, and a request is large")]
    fn call_path_router_service<R: Read, W: ResponseWriter<Error = R::Error>>(
        &self,
        _: &(),
        (): (),
        _: Path<'_>,
        mut request: Request<'_, R>,
        writer: W,
    ) -> impl Future<Output = Result<ResponseSent, W::Error>> {
        async move {
            if self.handle(&request.parts, &mut request.body_connection).await.is_err() {
                self.flow.cut();
            }
            let connection = request.body_connection.finalize().await?;
            // This goes nowhere, or it fails and takes the connection with it.
            Response::empty(StatusCode::OK).write_to(connection, writer).await
        }
    }
}

impl<'e, 's, Runtime, T, S, L> Handler<'e, '_, 's, Runtime, T, S, L>
where
    T: Timer<Runtime>,
    S: Service,
    L: BaseWrite,
{
    /// Reads a request and answers it. One after the other: what is needed to read is not kept beside a reply.
    async fn handle<R: Read>(
        &self,
        parts: &RequestParts<'_>,
        body: &mut RequestBodyConnection<'_, R>,
    ) -> Result<(), Broken> {
        let verdict = self.flow.begin();
        if self.flow.is_last() {
            // picoserve had this one in its buffer when the one before was answered with `Connection: close`.
            return Ok(());
        }
        let (errand, cors) = match verdict.map_or_else(|| Ok(self.site.names.check(parts)), Err) {
            Ok(Ok((base, cors))) => (self.plan(parts, base), cors),
            Ok(Err(problem)) => (Errand::None(problem, None), Cors::Silent),
            Err(verdict) => (Errand::Refused(verdict), Cors::Silent),
        };
        let mut reply = match errand {
            // A stranger is answered in its dialect, but not from a buffer that others need.
            Errand::Call(caller) if caller.is_some() || is_at_hand(parts, body) => {
                let body = self.receive(parts, body).await;
                self.call(parts, caller, body)
            }
            errand => {
                // Nobody reads the body. A small one is dropped to keep the connection; for others, and for one that
                // the client holds back until it hears from us, there is no waiting.
                if parts.headers().get("expect").is_some() || body.content_length() > self.site.limits.drain_bytes {
                    self.flow.close();
                }
                self.reply(parts, errand)
            }
        };
        reply.fields.cors = match cors {
            Cors::Origin(origin) if is_preflight(parts) => Cors::Preflight(origin),
            cors => cors,
        };
        if reply.status == 401 {
            reply.fields.challenge = Some(Challenge::of(parts));
        }
        if self.flow.handled() >= self.site.limits.requests || asks_to_close(parts) {
            self.flow.close();
        }
        self.answer(Client::of(parts), &mut reply).await
    }

    /// Finds out what a request is for, and whether whoever sent it may have that.
    fn plan<'r>(&self, parts: &RequestParts<'r>, base: Option<BaseUrl<'r>>) -> Errand<'r> {
        let caller = match self.admit(parts) {
            Ok(caller) => Some(caller),
            Err(Turned::Unknown) => None,
            Err(Turned::TooOften { retry_after_secs }) => return Errand::TooOften { retry_after_secs },
        };
        if parts.headers().get("expect").is_some() && parts.http_version() == "HTTP/1.1" && !expects_continue(parts) {
            return Errand::None(Problem::EXPECTATION, None);
        }
        let action = routes::find(parts.method(), parts.path().encoded());
        if action == Ok(Action::Rpc) && (caller.is_none() || routes::is_json(parts.headers())) {
            return Errand::Call(caller);
        }
        if let Some(Err(Turned::TooOften { retry_after_secs })) = caller.map(|caller| self.site.service.count(caller)) {
            return Errand::TooOften { retry_after_secs };
        }
        match action {
            Ok(Action::Rpc) => Errand::WrongType,
            Ok(Action::Card) => Errand::Card(base),
            Ok(Action::Keys) => Errand::Keys,
            Ok(Action::Home) => Errand::Home,
            Ok(Action::Options(allow)) => Errand::Options(allow),
            Err(Missed::Path) => Errand::None(Problem::NO_PATH, None),
            Err(Missed::Method(allow)) => Errand::None(Problem::NO_METHOD, Some(allow)),
            Ok(action @ (Action::Status | Action::Log | Action::Metrics | Action::ExtendedCard)) => match caller {
                None => Errand::None(Problem::STRANGER, None),
                Some(caller) if !caller.classes().has(Access::Read) => Errand::None(Problem::MAY_NOT_READ, None),
                Some(caller) => Self::look(parts, action, base, caller),
            },
        }
    }

    /// What is for those who may read.
    fn look<'r>(parts: &RequestParts<'r>, action: Action, base: Option<BaseUrl<'r>>, caller: Caller) -> Errand<'r> {
        match action {
            Action::ExtendedCard => Errand::ExtendedCard(base, caller),
            Action::Metrics => Errand::Metrics,
            Action::Log => {
                let after = parts.query().and_then(|query| routes::parameter(query.0, "after"));
                match after.map_or(Ok(0), str::parse) {
                    Ok(after) => Errand::Log(caller, after),
                    Err(_) => Errand::None(Problem::BAD_AFTER, None),
                }
            }
            _ => Errand::Status,
        }
    }

    /// Who sent it. What is for everybody is counted, too, and a right token gets through where a stranger would not.
    fn admit(&self, parts: &RequestParts<'_>) -> Result<Caller, Turned> {
        let mut room = [0; credential::ROOM];
        let fields = parts.headers().iter().map(|(name, value)| (name.as_raw(), value.as_raw()));
        self.site.service.admit(self.place.address(), credential::find(fields, &mut room))
    }

    /// Makes up an answer to what has no body.
    fn reply(&self, parts: &RequestParts<'_>, errand: Errand<'_>) -> Reply<'e, S::Answer<'e>> {
        match errand {
            Errand::Call(_) => self.refuse(Refusal::Stranger),
            Errand::WrongType => self.refuse(Refusal::MediaType),
            Errand::Card(base) => self.card(parts, base),
            Errand::ExtendedCard(base, caller) => match self.site.service.extended_card(base, caller) {
                Some(card) => Reply::new(200, Matter::Answer(card)),
                None => self.problem(Problem::NO_EXTENDED_CARD),
            },
            Errand::Keys => match self.site.service.keys() {
                Some(keys) => Reply { fields: self.cached(), ..Reply::new(200, Matter::Answer(keys)) },
                None => self.problem(Problem::NO_KEYS),
            },
            Errand::Status => Reply::new(200, Matter::Answer(self.site.service.status())),
            Errand::Log(caller, after) => Reply::new(200, Matter::Answer(self.site.service.log(caller, after))),
            Errand::Metrics => {
                Reply { kind: Kind::Metrics, ..Reply::new(200, Matter::Answer(self.site.service.metrics())) }
            }
            Errand::Home => Self::home(parts),
            Errand::Options(allow) => {
                Reply { fields: Fields { allow: Some(allow), ..Fields::default() }, ..Reply::new(204, Matter::Nothing) }
            }
            Errand::TooOften { retry_after_secs } => Reply {
                fields: Fields { retry_after_secs: Some(retry_after_secs), ..Fields::default() },
                ..self.problem(Problem::TOO_OFTEN)
            },
            Errand::None(problem, allow) => {
                Reply { fields: Fields { allow, ..Fields::default() }, ..self.problem(problem) }
            }
            Errand::Refused(verdict) => self.refused_at_the_gate(verdict),
        }
    }

    /// Reads the body.
    async fn receive<'r, R: Read>(
        &self,
        parts: &RequestParts<'_>,
        body: &'r mut RequestBodyConnection<'_, R>,
    ) -> Result<Body<'r, 's>, Refusal>
    where
        'e: 'r,
    {
        let Site { service, bodies, limits, .. } = self.site;
        let proceed = async || {
            if expects_continue(parts) {
                // If this does not get through, neither does the body.
                let Ok(mut link) = self.wire.try_lock() else { return };
                let _ = link.write_all(routes::CONTINUE).await;
                let _ = link.send().await;
            }
        };
        Body::receive(body.body(), bodies, &service.traffic().bodies, limits, self.timer, proceed).await
    }

    /// Hands a call over.
    fn call(
        &self,
        parts: &RequestParts<'_>,
        caller: Option<Caller>,
        body: Result<Body<'_, '_>, Refusal>,
    ) -> Reply<'e, S::Answer<'e>> {
        let body = match body {
            Ok(body) => body,
            Err(refusal) => {
                self.flow.close();
                return self.refuse(refusal);
            }
        };
        const NAMES: [&str; 6] =
            ["host", "a2a-version", "a2a-extensions", "x-a2a-extensions", "last-event-id", "traceparent"];
        let [host, version, extensions, others, last_event_id, traceparent] = routes::values(parts.headers(), NAMES);
        let (head, answer) = self.site.service.call(Call {
            caller,
            host,
            version: version.or_else(|| routes::parameter(parts.query()?.0, "A2A-Version")),
            extensions: extensions.or(others),
            last_event_id,
            traceparent,
            body: &body,
        });
        Reply {
            status: head.status,
            kind: head.kind,
            fields: Fields { retry_after_secs: head.retry_after_secs, ..Fields::default() },
            matter: Matter::Answer(answer),
        }
    }

    fn card(&self, parts: &RequestParts<'_>, base: Option<BaseUrl<'_>>) -> Reply<'e, S::Answer<'e>> {
        let Site { service, .. } = self.site;
        let version = service.card_version();
        let fields = Fields { card: Some(version), ..self.cached() };
        if conditional::is_current(parts.headers(), &version) {
            return Reply { fields, ..Reply::new(304, Matter::Nothing) };
        }
        Reply { fields, ..Reply::new(200, Matter::Answer(service.card(base))) }
    }

    /// The page for a browser, a few words for others.
    fn home(parts: &RequestParts<'_>) -> Reply<'e, S::Answer<'e>> {
        let headers = parts.headers();
        let (lines, status, matter) = match page::is_for(headers) {
            true if conditional::names(headers, page::TAG) == Some(true) => (page::CURRENT_LINES, 304, Matter::Nothing),
            true => (page::LINES, 200, Matter::Text("text/html; charset=utf-8", page::BYTES)),
            false => (page::WORDS_LINES, 200, Matter::Text("text/plain", routes::HOME_TEXT.as_bytes())),
        };
        Reply { fields: Fields { lines: Some(lines), ..Fields::default() }, ..Reply::new(status, matter) }
    }

    /// What everybody may keep for a while.
    fn cached(&self) -> Fields<'e> {
        Fields { max_age_secs: Some(self.site.limits.card_max_age_secs), ..Fields::default() }
    }

    fn refused_at_the_gate(&self, verdict: Verdict) -> Reply<'e, S::Answer<'e>> {
        self.flow.close();
        match verdict {
            Verdict::BodyTooLarge => self.refuse(Refusal::BodyTooLarge { limit_bytes: self.body_limit_bytes }),
            verdict => self.problem(Problem::of(verdict)),
        }
    }

    fn refuse(&self, refusal: Refusal) -> Reply<'e, S::Answer<'e>> {
        let Site { service, limits, .. } = self.site;
        service.traffic().refused(refusal.into());
        let retry_after_secs = (refusal == Refusal::Busy).then_some(limits.retry_after_secs);
        Reply {
            fields: Fields { retry_after_secs, ..Fields::default() },
            ..Reply::new(refusal.status(), Matter::Answer(service.refuse(refusal)))
        }
    }

    fn problem(&self, problem: Problem) -> Reply<'e, S::Answer<'e>> {
        self.site.service.traffic().refused(problem.why);
        Reply::new(problem.status, Matter::Problem(problem))
    }

    /// Says what went wrong instead of an answer that was not begun. Who may read it stays the same.
    fn replace(&self, reply: &mut Reply<'e, S::Answer<'e>>, problem: Problem) {
        let fields = Fields { cors: reply.fields.cors, ..Fields::default() };
        *reply = Reply { fields, ..self.problem(problem) };
    }

    /// Sends it. Borrowed, here and below: an argument of an `async fn` is kept twice, and a reply has most of a kilobyte.
    async fn answer(&self, client: Client, reply: &mut Reply<'e, S::Answer<'e>>) -> Result<(), Broken> {
        let buffer = self.fill.take();
        let mut begun = self.begin(reply, buffer).await;
        self.site.service.traffic().answered(reply.status);
        self.flow.set_answering(true);
        // Nobody else has anything to send while a request is answered.
        let mut link = self.wire.try_lock().map_err(|_| Broken)?;
        let sent = answer::send(&mut link, self.flow, reply, &mut begun, client).await;
        self.flow.set_answering(false);
        self.fill.set(buffer);
        sent
    }

    /// Makes the first bytes of a document, as far as they come without a pause; a stream begins with its head.
    async fn begin<'f>(&self, reply: &mut Reply<'e, S::Answer<'e>>, buffer: &'f mut [u8]) -> Begun<'f> {
        let mut used = 0;
        let extent = loop {
            // It is all there, and goes out from where it is.
            if let Matter::Text(..) | Matter::Problem(_) = reply.matter {
                break Extent::Whole;
            }
            if reply.kind == Kind::EventStream || used >= buffer.len() {
                break Extent::Open;
            }
            let filled = {
                let mut fill = pin!(reply.matter.fill(&mut buffer[used..]));
                match poll_fn(|cx| Poll::Ready(fill.as_mut().poll(cx))).await {
                    Poll::Ready(filled) => Some(filled),
                    // What is there may be all that a client needs to keep waiting: it must not be held back.
                    Poll::Pending if used > 0 => break Extent::Open,
                    Poll::Pending => self.flow.unless_stopped(fill).await,
                }
            };
            match filled {
                Some(Ok(0)) => break Extent::Whole,
                Some(Ok(filled)) => used = used.saturating_add(filled),
                Some(Err(Broken)) => {
                    self.replace(reply, Problem::GONE);
                    used = 0;
                }
                None => {
                    self.flow.close();
                    self.replace(reply, Problem::STOPPING);
                    used = 0;
                }
            }
        };
        Begun { buffer, used, extent }
    }
}

/// What a request is for, as far as its head tells.
enum Errand<'r> {
    /// A call in its body, of somebody or of a stranger.
    Call(Option<Caller>),
    /// A call in a body that nobody can read.
    WrongType,
    /// The card, as it is seen from here.
    Card(Option<BaseUrl<'r>>),
    /// The card, as it is for somebody who is known.
    ExtendedCard(Option<BaseUrl<'r>>, Caller),
    Keys,
    Status,
    /// The lines of the log from that number on which somebody may read.
    Log(Caller, u64),
    Metrics,
    Home,
    /// The methods that are allowed.
    Options(&'static str),
    /// Nothing now.
    TooOften {
        retry_after_secs: u16,
    },
    /// Nothing, and the methods that would do.
    None(Problem, Option<&'static str>),
    /// Nothing that should be looked at any further.
    Refused(Verdict),
}

/// Is the body a call that is small enough to be read behind its head, and comes without being asked for?
fn is_at_hand<R: Read>(parts: &RequestParts<'_>, body: &mut RequestBodyConnection<'_, R>) -> bool {
    routes::is_json(parts.headers())
        && parts.headers().get("expect").is_none()
        && body.body().entire_body_fits_into_buffer()
}

/// Does a browser ask on behalf of a page what it may send?
fn is_preflight(parts: &RequestParts<'_>) -> bool {
    parts.method() == "OPTIONS" && parts.headers().get("access-control-request-method").is_some()
}

/// Does the client wait for a word before it sends the body?
fn expects_continue(parts: &RequestParts<'_>) -> bool {
    parts.http_version() == "HTTP/1.1" && parts.headers().get("expect").is_some_and(|value| value == "100-continue")
}

/// Is the connection to end with this request? picoserve looks for the same words.
fn asks_to_close(parts: &RequestParts<'_>) -> bool {
    let named = |value: HeaderValue<'_>| value.split(b',').any(|token| token == "close" || token == "upgrade");
    parts.http_version() != "HTTP/1.1" || parts.headers().get("connection").is_some_and(named)
}
