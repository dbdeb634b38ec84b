//! An agent that does what the body says, `{"do":"stream","n":3}`, behind a real door.

use core::{cell::RefCell, future::pending};

use firmware::http::{BaseUrl, Broken, Call, CardVersion, Head, Kind, Refusal, Service, Source, Traffic};
use protocol_core::{
    Access,
    door::{Address, Allowance, Caller, Classes, Credential, Door, DoorStorage, Principal, Turned},
    time::Millis,
};

pub(crate) const ETAG: &str = "toy-1";
pub(crate) const LAST_MODIFIED: &str = "Wed, 18 Nov 2026 06:00:00 GMT";

/// Somebody who may do everything.
pub(crate) const ANNA: &str = "anna-has-a-token";
/// Somebody who may only read.
pub(crate) const BEN: &str = "ben-has-one-as-well";
/// Somebody who may not even read.
pub(crate) const OTTO: &str = "otto-has-one-of-little-use";

pub(crate) const KID: &str = "toy-key-1";

pub(crate) struct Toy {
    door: RefCell<Door<'static>>,
    signs: bool,
    /// What the edge has counted.
    pub(crate) traffic: Traffic,
}

impl Toy {
    /// Everybody may come in, as often as they like.
    pub(crate) fn open() -> Self {
        Self { door: RefCell::new(Door::open_to_all()), signs: false, traffic: Traffic::default() }
    }

    /// Three are known.
    pub(crate) fn guarded(allowance: Allowance) -> Self {
        let mut door = Door::new(Box::leak(Box::new(DoorStorage::<3, 4>::new())), allowance);
        for (name, classes, token) in [
            ("anna", Classes::ALL, ANNA),
            ("ben", Classes::of(&[Access::Read]), BEN),
            ("otto", Classes::of(&[Access::Operator]), OTTO),
        ] {
            door.know(Principal::new(name, classes, token).expect("a principal")).expect("room");
        }
        Self { door: RefCell::new(door), signs: true, traffic: Traffic::default() }
    }
}

/// Time stands still for the door: permits that were taken do not come back.
const NOW: Millis = Millis(0);

impl Service for Toy {
    type Answer<'a> = Answer;

    fn admit(&self, address: Address, credential: Option<Credential<'_>>) -> Result<Caller, Turned> {
        self.door.borrow_mut().admit(NOW, address, credential)
    }

    fn count(&self, caller: Caller) -> Result<(), Turned> {
        self.door.borrow_mut().count_call(NOW, caller)
    }

    fn call(&self, call: Call<'_>) -> (Head, Answer) {
        let body = String::from_utf8_lossy(call.body);
        let refusal = match call.caller {
            None => Some((401, "who are you?")),
            Some(caller) if !caller.classes().has(Access::Read) => Some((403, "you may not")),
            Some(_) => None,
        };
        if let Some((status, why)) = refusal {
            let answer = format!(r#"{{"jsonrpc":"2.0","error":{{"message":"{why}"}},"was":{body}}}"#);
            return (Head { status, kind: Kind::Json, retry_after_secs: None }, answer.into_bytes().into());
        }
        let n = number(&body);
        let (kind, answer) = match word(&body) {
            "stream" => (Kind::EventStream, Answer::Events { next: 0, count: n, then: Then::End }),
            "quiet" => (Kind::EventStream, Answer::Events { next: 0, count: n, then: Then::Wait }),
            "endless" => (Kind::EventStream, Answer::Events { next: 0, count: usize::MAX, then: Then::End }),
            "document" => (Kind::Json, document(n).into_bytes().into()),
            "pause" => (Kind::Json, Answer::Bytes { bytes: document(n).into_bytes(), at: 0, then: Then::Wait }),
            "broken" => (Kind::Json, Answer::Bytes { bytes: document(n).into_bytes(), at: 0, then: Then::Break }),
            "never" => (Kind::Json, Answer::Events { next: 0, count: 0, then: Then::Wait }),
            _ => (Kind::Json, echo(&call).into_bytes().into()),
        };
        let busy = word(&body) == "busy";
        let status = if busy { 503 } else { 200 };
        (Head { status, kind, retry_after_secs: busy.then_some(7) }, answer)
    }

    fn refuse(&self, refusal: Refusal) -> Answer {
        let code = match refusal {
            Refusal::MediaType => -32005,
            Refusal::Stranger => -32007,
            _ => -32600,
        };
        format!(r#"{{"jsonrpc":"2.0","id":null,"error":{{"code":{code},"message":"{refusal}"}}}}"#).into_bytes().into()
    }

    fn card(&self, base: Option<BaseUrl<'_>>) -> Answer {
        let url = base.map(|base| base.to_string()).unwrap_or_default();
        format!(r#"{{"name":"toy","url":"{url}/"}}"#).into_bytes().into()
    }

    fn extended_card(&self, base: Option<BaseUrl<'_>>, caller: Caller) -> Option<Answer> {
        let url = base.map(|base| base.to_string()).unwrap_or_default();
        let classes = caller.classes();
        let card = format!(r#"{{"name":"toy","url":"{url}/","for":"{classes}"}}"#);
        (!self.door.borrow().is_open()).then(|| card.into_bytes().into())
    }

    fn keys(&self) -> Option<Answer> {
        let keys = format!(r#"{{"keys":[{{"kid":"{KID}"}}]}}"#);
        self.signs.then(|| keys.into_bytes().into())
    }

    fn status(&self) -> Answer {
        br#"{"board":"toy"}"#.to_vec().into()
    }

    fn log(&self, caller: Caller, after: u64) -> Answer {
        format!(r#"{{"after":{after},"for":"{}"}}"#, caller.classes()).into_bytes().into()
    }

    fn metrics(&self) -> Answer {
        b"# TYPE toys gauge\ntoys 1\n".to_vec().into()
    }

    fn traffic(&self) -> &Traffic {
        &self.traffic
    }

    fn card_version(&self) -> CardVersion<'_> {
        CardVersion { etag: ETAG, last_modified: Some(LAST_MODIFIED) }
    }
}

/// What a call that asks for nothing special gets back.
fn echo(call: &Call<'_>) -> String {
    let Call { version, extensions, last_event_id, body, .. } = call;
    format!("length={} version={version:?} extensions={extensions:?} last={last_event_id:?}", body.len())
}

/// A document of `n` bytes that shows where one is.
pub(crate) fn document(n: usize) -> String {
    (0..).flat_map(|line| format!("{line:07}\n").into_bytes()).take(n).map(char::from).collect()
}

pub(crate) fn event(number: usize) -> String {
    format!("id: {number}\ndata: {{\"event\":{number}}}\n\n")
}

pub(crate) enum Answer {
    Bytes { bytes: Vec<u8>, at: usize, then: Then },
    Events { next: usize, count: usize, then: Then },
}

#[derive(Clone, Copy)]
pub(crate) enum Then {
    End,
    Wait,
    Break,
}

impl From<Vec<u8>> for Answer {
    fn from(bytes: Vec<u8>) -> Self {
        Self::Bytes { bytes, at: 0, then: Then::End }
    }
}

impl Source for Answer {
    async fn fill(&mut self, out: &mut [u8]) -> Result<usize, Broken> {
        let then = match self {
            Self::Bytes { bytes, at, then } => {
                let piece = &bytes[*at..(*at + out.len()).min(bytes.len())];
                out[..piece.len()].copy_from_slice(piece);
                *at += piece.len();
                if !piece.is_empty() {
                    return Ok(piece.len());
                }
                then
            }
            Self::Events { next, count, then } => {
                if next < count {
                    let event = event(*next);
                    *next += 1;
                    out[..event.len()].copy_from_slice(event.as_bytes());
                    return Ok(event.len());
                }
                then
            }
        };
        match then {
            Then::End => Ok(0),
            Then::Wait => pending().await,
            Then::Break => Err(Broken),
        }
    }
}

fn word(body: &str) -> &str {
    body.split_once(r#""do":""#).and_then(|(_, rest)| rest.split_once('"')).map_or("", |(word, _)| word)
}

fn number(body: &str) -> usize {
    let digits = body.split_once(r#""n":"#).map_or("", |(_, rest)| rest);
    digits.split(|c: char| !c.is_ascii_digit()).next().and_then(|digits| digits.parse().ok()).unwrap_or(0)
}
