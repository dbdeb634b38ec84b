//! Which paths and methods there are, and the few texts that the edge answers with by itself.

use picoserve::request::Headers;

use super::{
    answer,
    gate::{Flaw, Verdict},
    traffic::Why,
};

/// What a request is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Action {
    /// A JSON-RPC call.
    Rpc,
    /// The agent card.
    Card,
    /// What the agent card has for those who are known.
    ExtendedCard,
    /// The public keys of those who sign here.
    Keys,
    /// How the device is.
    Status,
    /// What happened lately.
    Log,
    /// What was counted.
    Metrics,
    /// A few words for people.
    Home,
    /// The methods that are allowed.
    Options(&'static str),
}

/// Why a request is for nothing here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Missed {
    Path,
    /// The methods that would do.
    Method(&'static str),
}

struct Route {
    path: &'static str,
    methods: &'static [(&'static str, Action)],
    allow: &'static str,
}

const CARD: &[(&str, Action)] = &[("GET", Action::Card), ("HEAD", Action::Card)];
const RPC: &[(&str, Action)] = &[("POST", Action::Rpc)];
const HOME: &[(&str, Action)] = &[("POST", Action::Rpc), ("GET", Action::Home), ("HEAD", Action::Home)];

const STATUS: &[(&str, Action)] = &[("GET", Action::Status), ("HEAD", Action::Status)];

const LOG: &[(&str, Action)] = &[("GET", Action::Log), ("HEAD", Action::Log)];

const METRICS: &[(&str, Action)] = &[("GET", Action::Metrics), ("HEAD", Action::Metrics)];

const KEYS: &[(&str, Action)] = &[("GET", Action::Keys), ("HEAD", Action::Keys)];

const EXTENDED: &[(&str, Action)] = &[("GET", Action::ExtendedCard), ("HEAD", Action::ExtendedCard)];

const ROUTES: [Route; 10] = [
    Route { path: "/", methods: HOME, allow: "GET, HEAD, POST, OPTIONS" },
    Route { path: "/a2a", methods: RPC, allow: "POST, OPTIONS" },
    Route { path: "/rpc", methods: RPC, allow: "POST, OPTIONS" },
    Route { path: "/status", methods: STATUS, allow: "GET, HEAD, OPTIONS" },
    Route { path: "/log", methods: LOG, allow: "GET, HEAD, OPTIONS" },
    Route { path: "/metrics", methods: METRICS, allow: "GET, HEAD, OPTIONS" },
    Route { path: "/.well-known/agent-card.json", methods: CARD, allow: "GET, HEAD, OPTIONS" },
    // The path of A2A before 0.3; directories still ask for it (DIALECTS.md 8).
    Route { path: "/.well-known/agent.json", methods: CARD, allow: "GET, HEAD, OPTIONS" },
    // Where A2A's receivers of notifications look for them.
    Route { path: "/.well-known/jwks.json", methods: KEYS, allow: "GET, HEAD, OPTIONS" },
    // A2A 0.2 had no method for it.
    Route { path: "/agent/authenticatedExtendedCard", methods: EXTENDED, allow: "GET, HEAD, OPTIONS" },
];

/// Finds what a method does to a path. Percent-encoded paths are other paths.
pub(super) fn find(method: &str, path: &str) -> Result<Action, Missed> {
    let path = match origin_form(path) {
        "*" if method == "OPTIONS" => "/",
        path => path,
    };
    let route = ROUTES.iter().find(|route| route.path == path).ok_or(Missed::Path)?;
    match route.methods.iter().find(|(name, _)| *name == method) {
        Some(&(_, action)) => Ok(action),
        None if method == "OPTIONS" => Ok(Action::Options(route.allow)),
        None => Err(Missed::Method(route.allow)),
    }
}

/// The path of a target that may name the whole URL, as clients of a proxy send it (RFC 9112 §3.2.2).
fn origin_form(target: &str) -> &str {
    match without_scheme(target) {
        Some((rest, _)) => rest.find('/').and_then(|slash| rest.get(slash..)).unwrap_or("/"),
        None => target,
    }
}

/// The authority of a whole URL, and the port of its scheme.
pub(super) fn absolute_form(target: &str) -> Option<(&str, u16)> {
    let (rest, port) = without_scheme(target)?;
    rest.split('/').next().map(|authority| (authority, port))
}

/// What is behind the scheme of a URL, and the port of that scheme.
pub(super) fn without_scheme(url: &str) -> Option<(&str, u16)> {
    [("http://", 80), ("https://", 443)].iter().find_map(|(scheme, port)| Some((url.strip_prefix(scheme)?, *port)))
}

/// Does a request say that its body is JSON? A form of a web page can't say so, and without it can't be sent to others.
pub(super) fn is_json(headers: Headers<'_>) -> bool {
    let mut said = headers.iter().filter(|(name, _)| *name == "content-type");
    let essence = said.next().and_then(|(_, value)| value.split(b';').next());
    let is_json = essence.is_some_and(|name| name == "application/json" || name == "application/a2a+json");
    is_json && said.next().is_none()
}

/// The values of a few headers, if they have one, found in one go: looking for a header is to read all of them. Of the last
/// name only a header that stands once counts.
pub(super) fn values<'r, const N: usize>(headers: Headers<'r>, names: [&str; N]) -> [Option<&'r str>; N] {
    let mut found = [None; N];
    let mut times = 0_u32;
    for (name, value) in headers.iter() {
        let Some(place) = names.iter().position(|known| name == *known) else { continue };
        if place.saturating_add(1) == N {
            times = times.saturating_add(1);
        }
        if found[place].is_none() {
            found[place] = Some(value.as_str().unwrap_or_default());
        }
    }
    if times > 1 {
        found[N - 1] = None;
    }
    found.map(|value: Option<&str>| value.filter(|value| !value.is_empty()))
}

/// The value of a query parameter, as it was sent.
pub(super) fn parameter<'r>(query: &'r str, name: &str) -> Option<&'r str> {
    let mut pairs = query.split('&').filter_map(|pair| pair.split_once('='));
    pairs.find(|(key, value)| *key == name && !value.is_empty()).map(|(_, value)| value)
}

/// An error that is not about a call, in the words of A2A 1.0 §11.6.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Problem {
    pub(super) status: u16,
    pub(super) why: Why,
    name: &'static str,
    message: &'static str,
}

macro_rules! problem {
    ($why:ident, $status:literal, $name:literal, $message:literal) => {
        Problem { status: $status, why: Why::$why, name: $name, message: $message }
    };
}

impl Problem {
    /// The document. In pieces, as most of it is the same every time.
    fn pieces(&self) -> [&'static str; Self::PIECES] {
        let status = answer::digits(self.status);
        ["{\"error\":{\"code\":", status, ",\"status\":\"", self.name, "\",\"message\":\"", self.message, "\"}}"]
    }

    pub(super) const PIECES: usize = 7;

    /// The piece of that number.
    pub(super) fn piece(&self, number: usize) -> &'static str {
        self.pieces().get(number).copied().unwrap_or_default()
    }

    /// How long it is.
    pub(super) fn length(&self) -> usize {
        self.pieces().iter().map(|piece| piece.len()).fold(0, usize::saturating_add)
    }

    pub(super) const NO_PATH: Self =
        problem!(Path, 404, "NOT_FOUND", "Nothing here. The agent card is at /.well-known/agent-card.json");
    pub(super) const NO_EXTENDED_CARD: Self = problem!(
        Path,
        404,
        "NOT_FOUND",
        "Everybody may use everything here: the card at /.well-known/agent-card.json is all there is"
    );
    pub(super) const NO_KEYS: Self =
        problem!(Path, 404, "NOT_FOUND", "This device has no key and signs nothing: it was built without signing");
    pub(super) const NO_METHOD: Self = problem!(Method, 405, "UNIMPLEMENTED", "Method not allowed on this path");
    pub(super) const BAD_HOST: Self =
        problem!(Host, 400, "INVALID_ARGUMENT", "Host is not a host name with an optional port");
    pub(super) const TWO_HOSTS: Self = problem!(Host, 400, "INVALID_ARGUMENT", "Host and the request target disagree");
    pub(super) const MISDIRECTED: Self = problem!(
        Misdirected,
        421,
        "FAILED_PRECONDITION",
        "The device has no such name. Use its IP address, or give it the name: names on a board's console, --name of host-sim"
    );
    pub(super) const STRANGE_ORIGIN: Self = problem!(
        Origin,
        403,
        "PERMISSION_DENIED",
        "Pages of that origin may not ask this device. Allow it: origins on a board's console, --allow-origin of host-sim"
    );
    pub(super) const STRANGER: Self = problem!(Stranger, 401, "UNAUTHENTICATED", "Send a token, the card says how");
    pub(super) const MAY_NOT_READ: Self = problem!(Class, 403, "PERMISSION_DENIED", "This needs the access class read");
    pub(super) const TOO_OFTEN: Self =
        problem!(TooOften, 429, "RESOURCE_EXHAUSTED", "You ask too often, try again later");
    pub(super) const BAD_AFTER: Self = problem!(
        Argument,
        400,
        "INVALID_ARGUMENT",
        "after is the number of a line: what next was in the answer before"
    );
    pub(super) const EXPECTATION: Self =
        problem!(Expectation, 417, "UNIMPLEMENTED", "The only expectation met is 100-continue");
    pub(super) const GONE: Self = problem!(Gone, 500, "INTERNAL", "The answer was dropped before it could be sent");
    pub(super) const TIMED_OUT: Self =
        problem!(HeadSlow, 408, "DEADLINE_EXCEEDED", "The request head did not arrive in time");
    pub(super) const NO_ROOM: Self =
        problem!(NoRoom, 503, "UNAVAILABLE", "All connections are in use, try again later");
    pub(super) const STOPPING: Self = problem!(Stopping, 503, "UNAVAILABLE", "The agent is stopping");

    /// Says what the gate found. A body that is too large is the service's to refuse.
    pub(super) const fn of(verdict: Verdict) -> Self {
        match verdict {
            Verdict::Malformed(flaw) => match flaw {
                Flaw::RequestLine => problem!(Malformed, 400, "INVALID_ARGUMENT", "Malformed request line"),
                Flaw::Header => problem!(Malformed, 400, "INVALID_ARGUMENT", "Malformed header line"),
                Flaw::ContentLength => {
                    problem!(Malformed, 400, "INVALID_ARGUMENT", "Content-Length must be one plain number")
                }
                Flaw::TwoLengths => {
                    problem!(
                        Malformed,
                        400,
                        "INVALID_ARGUMENT",
                        "Content-Length and Transfer-Encoding exclude each other"
                    )
                }
                Flaw::Host => problem!(Malformed, 400, "INVALID_ARGUMENT", "There must be exactly one Host"),
                Flaw::Ended => problem!(Malformed, 400, "INVALID_ARGUMENT", "The request ended in its head"),
            },
            Verdict::LengthRequired => {
                problem!(
                    LengthRequired,
                    411,
                    "INVALID_ARGUMENT",
                    "Send a Content-Length: transfer codings are not decoded"
                )
            }
            Verdict::BodyTooLarge => problem!(BodyTooLarge, 413, "OUT_OF_RANGE", "The request body is too large"),
            Verdict::TargetTooLong => problem!(TargetTooLong, 414, "OUT_OF_RANGE", "The request target is too long"),
            Verdict::HeadTooLarge => problem!(HeadTooLarge, 431, "OUT_OF_RANGE", "The request head is too large"),
            Verdict::Version => problem!(Version, 505, "UNIMPLEMENTED", "HTTP/1.1 and HTTP/1.0 are spoken"),
        }
    }
}

/// What a person with a browser gets.
pub(super) const HOME_TEXT: &str = "This is a Mote: an A2A agent on a small device.\n\n\
    Agent card: /.well-known/agent-card.json\n\
    JSON-RPC:   POST /\n\
    Status:     /status, /log, /metrics\n\
    Page:       open this address in a browser\n";

/// Lets a client that asked send its body.
pub(super) const CONTINUE: &[u8] = b"HTTP/1.1 100 Continue\r\n\r\n";

#[cfg(test)]
mod tests {
    use super::{Action, Missed, find, parameter};

    #[test]
    fn the_table_is_exact() {
        assert_eq!(find("POST", "/"), Ok(Action::Rpc));
        assert_eq!(find("POST", "/a2a"), Ok(Action::Rpc));
        assert_eq!(find("HEAD", "/.well-known/agent.json"), Ok(Action::Card));
        assert_eq!(find("GET", "http://mote.local/.well-known/agent-card.json"), Ok(Action::Card));
        assert_eq!(find("GET", "http://mote.local"), Ok(Action::Home));
        assert_eq!(find("GET", "/status"), Ok(Action::Status));
        assert_eq!(find("HEAD", "/log"), Ok(Action::Log));
        assert_eq!(find("GET", "/metrics"), Ok(Action::Metrics));
        assert_eq!(find("GET", "/.well-known/jwks.json"), Ok(Action::Keys));
        assert_eq!(find("GET", "/agent/authenticatedExtendedCard"), Ok(Action::ExtendedCard));
        assert_eq!(find("OPTIONS", "*"), Ok(Action::Options("GET, HEAD, POST, OPTIONS")));
        assert_eq!(find("OPTIONS", "/rpc"), Ok(Action::Options("POST, OPTIONS")));
        assert_eq!(find("DELETE", "/"), Err(Missed::Method("GET, HEAD, POST, OPTIONS")));
        assert_eq!(find("post", "/"), Err(Missed::Method("GET, HEAD, POST, OPTIONS")));
        for path in ["", "*", "//", "/a2a/", "/%612a", "/.well-known/agent%2Djson", "/.well-known/../"] {
            assert_eq!(find("GET", path), Err(Missed::Path), "{path}");
        }
    }

    #[test]
    fn a_parameter_is_found_by_its_exact_name() {
        assert_eq!(parameter("A2A-Version=1.0", "A2A-Version"), Some("1.0"));
        assert_eq!(parameter("x=1&A2A-Version=0.3&A2A-Version=1.0", "A2A-Version"), Some("0.3"));
        assert_eq!(parameter("A2A-Version=", "A2A-Version"), None);
        assert_eq!(parameter("xA2A-Version=1.0", "A2A-Version"), None);
    }
}
