//! An agent that is found by its card and asked over HTTP.

use core::{cell::Cell, net::IpAddr, time::Duration};

use protocol_core::{
    client::{Card, Request, Version},
    push::Url,
};

use super::{
    answer::{Reply, failure_of},
    http::{self, Answer},
    order::{Order, address},
    trouble::Trouble,
};

/// The longest document that is read, and the longest event.
pub(super) const DOCUMENT_MOST: usize = 4 * 1024 * 1024;

/// Where cards are, the present place first.
const CARDS: [&str; 2] = ["/.well-known/agent-card.json", "/.well-known/agent.json"];

/// An agent.
#[derive(Debug)]
pub(super) struct Agent {
    url: String,
    version: Cell<Version>,
    /// The card says which version is spoken.
    is_sure: bool,
    pub(super) is_streaming: bool,
    token: Option<String>,
    patience: Duration,
    requests: Cell<u32>,
}

/// Gets a card, wherever it is.
pub(super) async fn fetch_card(order: &Order) -> Result<Vec<u8>, Trouble> {
    let url = address(&order.url).map_err(Trouble::Usage)?;
    let path = url.target.split('?').next().unwrap_or_default();
    let places = if path.ends_with(".json") {
        vec![url.target.to_owned()]
    } else {
        let base = path.trim_end_matches('/');
        let below = CARDS.map(|card| format!("{base}{card}"));
        // Some are asked for by the address of their calls, and have the card at the top.
        let top = CARDS.iter().filter(|_| !base.is_empty()).map(|card| (*card).to_owned());
        below.into_iter().chain(top).collect()
    };
    let mut trouble = None;
    for target in places {
        let place = Url { target: &target, ..url };
        let answer = get(&place, order).await?;
        if answer.status == 404 {
            trouble.get_or_insert(Trouble::NoAgent(format!("there is no card at {place} (HTTP 404), so no A2A agent")));
            continue;
        }
        let (status, body) = open(answer, order.token.is_some()).await?;
        if matches!(status, 429 | 500..) {
            return Err(Trouble::busy(status));
        }
        if status >= 300 {
            return Err(Trouble::NoAgent(format!("there is no card at {place} (HTTP {status}), so no A2A agent")));
        }
        let is_card = Card::read(&body).map(|_| ());
        return match is_card {
            Ok(()) => Ok(body),
            Err(why) => Err(Trouble::NoAgent(format!("what is at {place} is no card of an A2A agent: {why}"))),
        };
    }
    Err(trouble.unwrap_or_else(|| Trouble::NoAgent("there is no card".to_owned())))
}

async fn get(url: &Url<'_>, order: &Order) -> Result<Answer, Trouble> {
    let bearer = order.token.as_ref().map(|token| format!("Bearer {token}"));
    let version = order.version.unwrap_or_else(Version::newest).name();
    let mut fields = vec![("Accept", "application/json"), ("A2A-Version", version)];
    fields.extend(bearer.as_deref().map(|bearer| ("Authorization", bearer)));
    http::ask(&http::Request { url, fields: &fields, body: None, patience: order.patience }).await
}

/// Reads the body, unless its status says that there is none for us.
async fn open(answer: Answer, has_token: bool) -> Result<(u16, Vec<u8>), Trouble> {
    let Answer { status, location, challenge, body, .. } = answer;
    match status {
        401 | 403 => Err(Trouble::Shut(status, has_token, challenge)),
        300..=399 => {
            let whereto = location.map_or(String::new(), |location| format!(", to {location}"));
            Err(Trouble::NoAgent(format!("it sends elsewhere (HTTP {status}){whereto}: nobody is followed, ask there")))
        }
        _ => Ok((status, body.whole(DOCUMENT_MOST).await?)),
    }
}

impl Agent {
    /// Finds the agent that the command line names.
    pub(super) async fn find(order: &Order) -> Result<Self, Trouble> {
        let body = fetch_card(order).await?;
        let card = Card::read(&body).map_err(Trouble::unreadable)?;
        let place = card.place(order.version).ok_or_else(|| {
            Trouble::NoAgent("the card has no interface with JSON-RPC in a version that is spoken here".to_owned())
        })?;
        let own = address(&order.url).map_err(Trouble::Usage)?;
        let named = place.url.to_string();
        let url = if order.is_here {
            let path = own.target.split('?').next().unwrap_or_default();
            let path = CARDS.iter().find_map(|card| path.strip_suffix(card)).unwrap_or(path);
            Url { target: path, ..own }.to_string()
        } else {
            named
        };
        let there = address(&url).map_err(|why| Trouble::NoAgent(format!("the card says where to ask, and {why}")))?;
        if order.token.is_some() && !order.is_elsewhere && !is_same_host(&own, &there) {
            return Err(Trouble::Usage(format!(
                "the card says to ask {}, which is another host: the token does not go there unless you say --elsewhere",
                http::authority(&there)
            )));
        }
        Ok(Self {
            version: Cell::new(place.version),
            is_sure: place.is_sure,
            is_streaming: card.is_streaming,
            token: order.token.clone(),
            patience: order.patience,
            requests: Cell::new(0),
            url,
        })
    }

    pub(super) fn version(&self) -> Version {
        self.version.get()
    }

    /// Asks, and gives the whole answer.
    pub(super) async fn call(&self, request: &Request<'_>) -> Result<Reply, Trouble> {
        loop {
            if let Some(reply) = self.try_call(request).await? {
                return Ok(reply);
            }
        }
    }

    /// Asks in the version that is known by now. Nothing if that was not the one, and another one is from now on.
    pub(super) async fn try_call(&self, request: &Request<'_>) -> Result<Option<Reply>, Trouble> {
        let (id, answer) = self.post(request, None).await?;
        let reply = self.whole(id, answer).await?;
        Ok(if self.may_be_older(&reply) { None } else { Some(reply) })
    }

    /// Asks for a stream: its number, and the stream if it is one, else the whole answer.
    pub(super) async fn follow(
        &self,
        request: &Request<'_>,
        last_id: Option<&str>,
    ) -> Result<Result<(u32, http::Body), Reply>, Trouble> {
        loop {
            let (id, answer) = self.post(request, last_id).await?;
            if answer.status == 200 && answer.is_stream {
                return Ok(Ok((id, answer.body)));
            }
            let reply = self.whole(id, answer).await?;
            if !self.may_be_older(&reply) {
                return Ok(Err(reply));
            }
        }
    }

    async fn post(&self, request: &Request<'_>, last_id: Option<&str>) -> Result<(u32, Answer), Trouble> {
        let id = self.requests.get() + 1;
        self.requests.set(id);
        let version = self.version.get();
        let mut body = String::new();
        let written = version.write(id, request, &mut |piece: &str| body.push_str(piece));
        written.map_err(|_| {
            let version = version.name();
            Trouble::Refused(-32601, format!("(not asked) the agent speaks A2A {version}, which has no such call"))
        })?;
        let url = Url::parse(&self.url).map_err(|why| Trouble::NoAgent(why.to_owned()))?;
        let accept = if request.is_stream() { "text/event-stream, application/json" } else { "application/json" };
        let bearer = self.token.as_ref().map(|token| format!("Bearer {token}"));
        let mut fields = vec![("Accept", accept)];
        // Whoever does not name a version knows nothing of the header either.
        fields.extend(self.is_sure.then(|| ("A2A-Version", version.name())));
        fields.extend(bearer.as_deref().map(|bearer| ("Authorization", bearer)));
        fields.extend(last_id.map(|last| ("Last-Event-ID", last)));
        let request = http::Request { url: &url, fields: &fields, body: Some(&body), patience: self.patience };
        Ok((id, http::ask(&request).await?))
    }

    async fn whole(&self, id: u32, answer: Answer) -> Result<Reply, Trouble> {
        let (status, bytes) = open(answer, self.token.is_some()).await?;
        let reply = Reply { bytes, id, version: self.version.get() };
        if status >= 300 && failure_of(&reply).is_none() {
            return Err(match status {
                429 | 500.. => Trouble::busy(status),
                _ => Trouble::NoAgent(format!("there is no A2A agent at {} (HTTP {status})", self.url)),
            });
        }
        Ok(reply)
    }

    /// The card did not say which version, and this one it was not: the one before is tried.
    fn may_be_older(&self, reply: &Reply) -> bool {
        let is_unknown = failure_of(reply) == Some(Some(protocol_core::FaultKind::MethodNotFound));
        let Some(before) = self.version.get().before().filter(|_| is_unknown && !self.is_sure) else { return false };
        self.version.set(before);
        true
    }
}

/// Whether two addresses are the same host, as far as can be told without asking.
fn is_same_host(one: &Url<'_>, other: &Url<'_>) -> bool {
    let is_loopback = |url: &Url<'_>| {
        url.host.eq_ignore_ascii_case("localhost") || url.address().is_some_and(|address: IpAddr| address.is_loopback())
    };
    one.host.eq_ignore_ascii_case(other.host) || (is_loopback(one) && is_loopback(other))
}
