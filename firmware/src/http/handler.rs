//! One request, from its head to the last byte of its answer.

use core::{cell::Cell, future::poll_fn, marker::PhantomData, pin::pin, task::Poll};

use picoserve::{
    ResponseSent, Timer,
    io::{BaseWrite, Read},
    request::{HeaderValue, Path, Request, RequestBodyConnection, RequestParts},
    response::{IntoResponse, Response, ResponseWriter, StatusCode},
    routing::PathRouterService,
};

use super::{
    Site,
    answer::{self, Begun, Client, Extent, Fields, Matter, Reply},
    body::Body,
    conditional,
    flow::{Flow, Writes},
    gate::Verdict,
    routes::{self, Action, MediaType, Missed, Problem},
    service::{BaseUrl, Broken, Call, Kind, Refusal, Service, Source},
    socket::Wire,
};

/// What picoserve calls for each request of one connection.
pub(super) struct Handler<'e, 'b, 's, Runtime, T, S, W> {
    pub(super) site: &'e Site<'e, 's, S>,
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
    async fn call_path_router_service<R: Read, W: ResponseWriter<Error = R::Error>>(
        &self,
        _: &(),
        (): (),
        _: Path<'_>,
        mut request: Request<'_, R>,
        writer: W,
    ) -> Result<ResponseSent, W::Error> {
        let verdict = self.flow.begin();
        let written = if self.flow.is_last() {
            // picoserve had this one in its buffer when the one before was answered with `Connection: close`.
            Ok(())
        } else {
            let mut reply = match verdict {
                Some(verdict) => self.refused_at_the_gate(verdict),
                None => self.reply(request.parts, &mut request.body_connection).await,
            };
            if self.flow.handled() >= self.site.limits.requests || asks_to_close(request.parts) {
                self.flow.close();
            }
            self.answer(request.parts, &mut reply).await
        };
        // picoserve's own answer goes nowhere, or it fails and takes the connection with it.
        self.flow.set_writes(match written {
            Ok(()) => Writes::Drop,
            Err(Broken) => {
                self.flow.close();
                Writes::Fail
            }
        });
        let connection = request.body_connection.finalize().await?;
        let sent = Response::empty(StatusCode::OK).write_to(connection, writer).await;
        self.flow.set_writes(Writes::Pass);
        sent
    }
}

impl<'e, Runtime, T, S, L> Handler<'e, '_, '_, Runtime, T, S, L>
where
    T: Timer<Runtime>,
    S: Service,
    L: BaseWrite,
{
    /// Makes up an answer, and knows what becomes of the body.
    async fn reply<R: Read>(
        &self,
        parts: RequestParts<'_>,
        body: &mut RequestBodyConnection<'_, R>,
    ) -> Reply<'e, S::Answer<'e>> {
        let reply = match self.plan(parts) {
            Ok((Action::Rpc, _)) => match MediaType::of(parts.headers()) {
                MediaType::Other => self.refuse(Refusal::MediaType),
                media_type => return self.call(parts, media_type, body).await,
            },
            Ok((Action::Card, base)) => self.card(parts, base),
            Ok((Action::Status, _)) => Reply::new(200, Matter::Answer(self.site.service.status())),
            Ok((Action::Home, _)) => Reply::new(200, Matter::Text("text/plain", routes::HOME_TEXT)),
            Ok((Action::Options(allow), _)) => {
                Reply { fields: Fields { allow: Some(allow), ..Fields::default() }, ..Reply::new(204, Matter::Nothing) }
            }
            Err((problem, fields)) => Reply { fields, ..Self::problem(problem) },
        };
        // Nobody has read the body. A small one is dropped to keep the connection; for others, and for one that the client
        // holds back until it hears from us, there is no waiting.
        if parts.headers().get("expect").is_some() || body.content_length() > self.site.limits.drain_bytes {
            self.flow.close();
        }
        reply
    }

    /// Finds out what a request is for.
    fn plan<'r>(&self, parts: RequestParts<'r>) -> Result<(Action, Option<BaseUrl<'r>>), (Problem, Fields<'static>)> {
        let base = match parts.headers().get("host") {
            None => None,
            Some(host) => match host.as_str().ok().and_then(BaseUrl::from_host) {
                None => return Err((Problem::BAD_HOST, Fields::default())),
                base => base,
            },
        };
        if parts.headers().get("expect").is_some() && parts.http_version() == "HTTP/1.1" && !expects_continue(parts) {
            return Err((Problem::EXPECTATION, Fields::default()));
        }
        match routes::find(parts.method(), parts.path().encoded()) {
            Ok(action) => Ok((action, base)),
            Err(Missed::Path) => Err((Problem::NO_PATH, Fields::default())),
            Err(Missed::Method(allow)) => Err((Problem::NO_METHOD, Fields { allow: Some(allow), ..Fields::default() })),
        }
    }

    /// Reads the body and hands the call over.
    async fn call<R: Read>(
        &self,
        parts: RequestParts<'_>,
        media_type: MediaType,
        body: &mut RequestBodyConnection<'_, R>,
    ) -> Reply<'e, S::Answer<'e>> {
        let Site { service, bodies, limits } = self.site;
        let proceed = async || {
            if expects_continue(parts) {
                let mut link = self.wire.lock().await;
                // If this does not get through, neither does the body.
                let _ = link.write_all(routes::CONTINUE).await;
                let _ = link.send().await;
            }
        };
        let body = match Body::receive(body.body(), bodies, limits, self.timer, proceed).await {
            Ok(body) => body,
            Err(refusal) => {
                self.flow.close();
                return self.refuse(refusal);
            }
        };
        if !media_type.is_json(&body) {
            return self.refuse(Refusal::MediaType);
        }
        let headers = parts.headers();
        let (head, answer) = service.call(Call {
            version: routes::header(headers, "a2a-version")
                .or_else(|| routes::parameter(parts.query()?.0, "A2A-Version")),
            extensions: routes::header(headers, "a2a-extensions")
                .or_else(|| routes::header(headers, "x-a2a-extensions")),
            last_event_id: routes::header(headers, "last-event-id"),
            body: &body,
        });
        Reply {
            status: head.status,
            kind: head.kind,
            fields: Fields { retry_after_secs: head.retry_after_secs, ..Fields::default() },
            matter: Matter::Answer(answer),
        }
    }

    fn card(&self, parts: RequestParts<'_>, base: Option<BaseUrl<'_>>) -> Reply<'e, S::Answer<'e>> {
        let Site { service, limits, .. } = self.site;
        let version = service.card_version();
        let fields = Fields { card: Some((version, limits.card_max_age_secs)), ..Fields::default() };
        if conditional::is_current(parts.headers(), &version) {
            return Reply { fields, ..Reply::new(304, Matter::Nothing) };
        }
        Reply { fields, ..Reply::new(200, Matter::Answer(service.card(base))) }
    }

    fn refused_at_the_gate(&self, verdict: Verdict) -> Reply<'e, S::Answer<'e>> {
        self.flow.close();
        match verdict {
            Verdict::BodyTooLarge => self.refuse(Refusal::BodyTooLarge { limit_bytes: self.body_limit_bytes }),
            verdict => Self::problem(Problem::of(verdict)),
        }
    }

    fn refuse(&self, refusal: Refusal) -> Reply<'e, S::Answer<'e>> {
        let Site { service, limits, .. } = self.site;
        let retry_after_secs = (refusal == Refusal::Busy).then_some(limits.retry_after_secs);
        Reply {
            fields: Fields { retry_after_secs, ..Fields::default() },
            ..Reply::new(refusal.status(), Matter::Answer(service.refuse(refusal)))
        }
    }

    fn problem(problem: Problem) -> Reply<'e, S::Answer<'e>> {
        Reply::new(problem.status, Matter::Text("application/json", problem.text))
    }

    /// Sends it. Borrowed, here and below: an argument of an `async fn` is kept twice, and a reply has most of a kilobyte.
    async fn answer(&self, parts: RequestParts<'_>, reply: &mut Reply<'e, S::Answer<'e>>) -> Result<(), Broken> {
        let client = match (parts.method(), parts.http_version()) {
            ("HEAD", _) => Client::Head,
            (_, "HTTP/1.1") => Client::Http11,
            _ => Client::Http10,
        };
        let buffer = self.fill.take();
        let begun = self.begin(reply, buffer).await;
        self.flow.set_answering(true);
        let sent = answer::send(&mut *self.wire.lock().await, self.flow, reply, begun, client).await;
        self.flow.set_answering(false);
        self.fill.set(buffer);
        sent
    }

    /// Makes the first bytes of a document, as far as they come without a pause; a stream begins with its head.
    async fn begin<'f>(&self, reply: &mut Reply<'e, S::Answer<'e>>, buffer: &'f mut [u8]) -> Begun<'f> {
        let mut used = 0;
        let extent = loop {
            if reply.kind == Kind::EventStream || used == buffer.len() {
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
                Some(Ok(filled)) => used += filled,
                Some(Err(Broken)) => {
                    *reply = Self::problem(Problem::GONE);
                    used = 0;
                }
                None => {
                    self.flow.close();
                    *reply = Self::problem(Problem::STOPPING);
                    used = 0;
                }
            }
        };
        Begun { buffer, used, extent }
    }
}

/// Does the client wait for a word before it sends the body?
fn expects_continue(parts: RequestParts<'_>) -> bool {
    parts.http_version() == "HTTP/1.1" && parts.headers().get("expect").is_some_and(|value| value == "100-continue")
}

/// Is the connection to end with this request? picoserve looks for the same words.
fn asks_to_close(parts: RequestParts<'_>) -> bool {
    let named = |value: HeaderValue<'_>| value.split(b',').any(|token| token == "close" || token == "upgrade");
    parts.http_version() != "HTTP/1.1" || parts.headers().get("connection").is_some_and(named)
}
