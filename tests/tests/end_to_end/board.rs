//! The board under test: the one at `MOTE_URL`, with the token in `MOTE_TOKEN` if it wants one, or one that is simulated
//! here with a board's limits, and shut as a board is.

use core::{cell::Cell, net::SocketAddr, time::Duration};
use std::{
    io,
    net::ToSocketAddrs,
    sync::{LazyLock, Mutex, MutexGuard, PoisonError, mpsc},
    time::Instant,
};

use host_sim::{Args, Asked};
use serde_json::{Value, json};
use tokio::task::LocalSet;

use crate::{
    client::{Answer, Client},
    stream::Stream,
    talk::{Dialect, Method, Outcome, Refusal, Said, State, Task, V1_0},
};

/// The board, for as long as one case has its turn.
pub(crate) struct Board {
    address: SocketAddr,
    authority: &'static str,
    is_crowded: Cell<bool>,
    _turn: MutexGuard<'static, ()>,
}

/// Boards have few sockets: one case at a time.
static TURN: Mutex<()> = Mutex::new(());

/// `host:port` of the board.
static AUTHORITY: LazyLock<String> = LazyLock::new(|| match std::env::var("MOTE_URL") {
    Ok(url) => {
        let authority = url.strip_prefix("http://").expect("MOTE_URL begins with http://").trim_end_matches('/');
        assert!(!authority.contains('/'), "MOTE_URL has a path: {url}");
        let has_port = authority.contains(':');
        if has_port { authority.to_owned() } else { format!("{authority}:80") }
    }
    Err(_) => simulate().to_string(),
});

/// The header line that lets us in; empty at an open door.
static AUTHORIZATION: LazyLock<String> = LazyLock::new(|| {
    let token = match std::env::var("MOTE_URL") {
        Ok(_) => std::env::var("MOTE_TOKEN").unwrap_or_default(),
        Err(_) => TOKEN.to_owned(),
    };
    if token.is_empty() { String::new() } else { format!("Authorization: Bearer {token}\r\n") }
});

/// The token of a simulated board.
const TOKEN: &str = "the-token-of-the-end-to-end-suite";

/// How long a board may be busy with what was before.
const BUSY: Duration = Duration::from_secs(60);

/// Starts a simulated board that lasts as long as the process.
fn simulate() -> SocketAddr {
    let (sender, address) = mpsc::channel();
    std::thread::spawn(move || {
        let words = ["--port=0", "--preset=pico", &format!("--token=owner:read+act+operator:{TOKEN}")];
        let Ok(Asked::Run(args)) = Args::parse(words.map(str::to_owned)) else {
            panic!("the options of host-sim have changed")
        };
        let args = args.with_keys(None).expect("a token");
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        let listening = |address| sender.send(address).expect("somebody who waits");
        let run = host_sim::run(&args, None, listening, core::future::pending());
        LocalSet::new().block_on(&runtime, run).expect("a free port");
    });
    address.recv().expect("an address")
}

impl Board {
    /// Waits for this case's turn, and until the board is done with the case before.
    pub(crate) fn take() -> Self {
        let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
        let authority = AUTHORITY.as_str();
        let mut addresses = authority.to_socket_addrs().expect("a host name that is known");
        let address = addresses.next().expect("an address");
        let board = Self { address, authority, is_crowded: Cell::new(false), _turn: turn };
        board.wait_until_it_serves();
        board
    }

    /// Where it is, as its card has to say.
    pub(crate) fn url(&self) -> String {
        format!("http://{}/", self.authority)
    }

    /// Whether it wants a token.
    pub(crate) fn is_shut(&self) -> bool {
        !AUTHORIZATION.is_empty()
    }

    /// Opens a connection.
    pub(crate) fn connect(&self) -> Client {
        Client::connect(self.address)
    }

    /// From here on every place may be taken for a moment, if only by a client that has just gone away: whoever is told to
    /// come back does.
    ///
    /// An emulator takes a connection before its board does. If the board does not, that shows as an end without a word.
    pub(crate) fn expect_crowd(&self) {
        self.is_crowded.set(true);
    }

    /// Asserts that all is over and forgotten: several clients at once are served as if nothing had been.
    pub(crate) fn assert_free(&self) {
        self.until("several clients are served", || {
            let mut clients: Vec<_> = (0..4).filter_map(|_| Client::try_connect(self.address).ok()).collect();
            let request = self.get_request("/", "");
            let mut served = clients.iter_mut().map(|client| {
                client.try_send(&request)?;
                client.try_answer()
            });
            served.all(|answer| answer.is_ok_and(|answer| answer.status == 200)) && clients.len() == 4
        });
        self.is_crowded.set(false);
    }

    /// Asks until a client without ties to anything is served. That must not take long, whatever happened before.
    pub(crate) fn wait_until_it_serves(&self) {
        self.until("a client is served", || {
            let answer = self.try_exchange(&self.get_request("/", "Connection: close\r\n"));
            answer.is_ok_and(|answer| answer.status == 200)
        });
    }

    /// Tries until it works, for as long as a board may be busy with what was before.
    pub(crate) fn until(&self, what: &str, mut works: impl FnMut() -> bool) {
        let deadline = Instant::now() + BUSY;
        while !works() {
            assert!(Instant::now() < deadline, "it took too long until {what}");
            std::thread::sleep(Duration::from_millis(100));
        }
    }

    /// A GET with further header lines.
    pub(crate) fn get_request(&self, path: &str, headers: &str) -> String {
        pace();
        format!("GET {path} HTTP/1.1\r\nHost: {}\r\n{}{headers}\r\n", self.authority, *AUTHORIZATION)
    }

    /// A POST of JSON with further header lines.
    pub(crate) fn post_request(&self, body: &str, headers: &str) -> String {
        pace();
        format!(
            "POST / HTTP/1.1\r\nHost: {}\r\n{}Content-Type: application/json\r\nContent-Length: {}\r\n{headers}\r\n{body}",
            self.authority,
            *AUTHORIZATION,
            body.len()
        )
    }

    /// A JSON-RPC request, as a client of that dialect sends it.
    pub(crate) fn call_request(&self, dialect: Dialect, method: Method, params: &Value) -> String {
        self.post_request(&envelope(dialect.word(method), params), dialect.headers())
    }

    /// One request on a connection of its own.
    pub(crate) fn exchange(&self, request: &str) -> Answer {
        let (mut client, status, head) = self.begin(request);
        client.try_body(status, head).expect("an answer")
    }

    /// One request on a connection of its own, up to the head of its answer.
    fn begin(&self, request: &str) -> (Client, u16, String) {
        let mut begun = self.try_begin(request);
        if self.is_crowded.get() {
            self.until("there is a place", || {
                let is_served = begun.as_ref().is_ok_and(|(_, status, _)| *status != 503);
                if !is_served {
                    begun = self.try_begin(request);
                }
                is_served
            });
        }
        begun.expect("an answer")
    }

    fn try_begin(&self, request: &str) -> io::Result<(Client, u16, String)> {
        let mut client = Client::try_connect(self.address)?;
        client.try_send(request)?;
        let (status, head) = client.try_head()?;
        Ok((client, status, head))
    }

    /// One request on a connection of its own, if there is one to be had.
    pub(crate) fn try_exchange(&self, request: &str) -> io::Result<Answer> {
        let (mut client, status, head) = self.try_begin(request)?;
        client.try_body(status, head)
    }

    /// Calls a method and reads the result, or the error.
    pub(crate) fn call(&self, dialect: Dialect, method: Method, params: &Value) -> Result<Value, Refusal> {
        result(&self.exchange(&self.call_request(dialect, method, params)))
    }

    /// Says something and waits for what comes of it.
    pub(crate) fn send(&self, dialect: Dialect, said: &Said<'_>) -> Result<Outcome, Refusal> {
        self.call(dialect, Method::Send, &dialect.params(said)).map(|result| dialect.outcome(&result))
    }

    /// Says something of which a task comes.
    pub(crate) fn ask(&self, dialect: Dialect, said: &Said<'_>) -> Task {
        self.send(dialect, said).expect("a task").task()
    }

    /// The task as it is now.
    pub(crate) fn task(&self, dialect: Dialect, id: &str) -> Task {
        dialect.task(&self.call(dialect, Method::Get, &json!({"id": id})).expect("the task is known"))
    }

    /// Cancels a task.
    pub(crate) fn cancel(&self, dialect: Dialect, id: &str) -> Result<Task, Refusal> {
        self.call(dialect, Method::Cancel, &json!({"id": id})).map(|result| dialect.task(&result))
    }

    /// Says something and follows what comes of it.
    ///
    /// # Errors
    /// It was refused.
    pub(crate) fn stream(&self, dialect: Dialect, said: &Said<'_>) -> Result<Stream, Refusal> {
        let request = self.call_request(dialect, Method::Stream, &dialect.params(said));
        let (client, status, head) = self.begin(&request);
        Stream::begin(client, dialect, status, head)
    }

    /// Follows a task that is there, from the beginning or from behind an event.
    ///
    /// # Errors
    /// It was refused.
    pub(crate) fn follow(&self, dialect: Dialect, id: &str, behind: Option<u64>) -> Result<Stream, Refusal> {
        let mut headers = dialect.headers().to_owned();
        if let Some(event) = behind {
            headers += &format!("Last-Event-ID: {event}\r\n");
        }
        let body = envelope(dialect.word(Method::Subscribe), &json!({"id": id}));
        let (client, status, head) = self.begin(&self.post_request(&body, &headers));
        Stream::begin(client, dialect, status, head)
    }

    /// Cancels whatever is not finished. A board that no longer answers is the next case's to notice.
    fn clean_up(&self) {
        let patiently = |method, params| {
            let request = self.call_request(V1_0, method, &params);
            for _ in 0..20 {
                match self.try_exchange(&request) {
                    Ok(answer) if answer.status == 200 && answer.field("retry-after").is_none() => {
                        return serde_json::from_str(&answer.body).unwrap_or_default();
                    }
                    _ => std::thread::sleep(Duration::from_millis(100)),
                }
            }
            Value::Null
        };
        let list = patiently(Method::List, json!({"pageSize": 100}));
        for task in list["result"]["tasks"].as_array().into_iter().flatten() {
            let state = task["status"]["state"].as_str().unwrap_or_default();
            if !State::parse(V1_0, state).is_terminal() {
                patiently(Method::Cancel, json!({"id": task["id"]}));
            }
        }
    }
}

impl Drop for Board {
    fn drop(&mut self) {
        self.clean_up();
    }
}

/// Waits before a request is made, if there were many: a board counts how often somebody asks.
fn pace() {
    /// When it has forgotten all that we asked.
    static FORGOTTEN: Mutex<Option<Instant>> = Mutex::new(None);
    // A little less than `Limits::DEVICE` allows: some requests are sent more than once.
    let per_second = if AUTHORIZATION.is_empty() { 16 } else { 40 };
    const BURST: u32 = 150;

    let mut forgotten = FORGOTTEN.lock().unwrap_or_else(PoisonError::into_inner);
    let now = Instant::now();
    let interval = Duration::from_secs(1) / per_second;
    let after = forgotten.unwrap_or(now).max(now) + interval;
    *forgotten = Some(after);
    std::thread::sleep((after - now).saturating_sub(interval * BURST));
}

/// A JSON-RPC request with an id that is told from its neighbours by its type, too.
pub(crate) fn envelope(method: &str, params: &Value) -> String {
    json!({"jsonrpc": "2.0", "id": RPC_ID, "method": method, "params": params}).to_string()
}

/// The id of every request.
pub(crate) const RPC_ID: &str = "7";

/// Reads a JSON-RPC answer to [`envelope`].
pub(crate) fn result(answer: &Answer) -> Result<Value, Refusal> {
    assert_eq!(answer.status, 200, "{answer:?}");
    assert_eq!(answer.field("content-type"), Some("application/json"), "{}", answer.head);
    let json = serde_json::from_str(&answer.body).unwrap_or_else(|error| panic!("{error} in {answer:?}"));
    opened(json, answer.field("retry-after"))
}

/// Takes a JSON-RPC answer out of its envelope.
pub(crate) fn opened(json: Value, retry_after: Option<&str>) -> Result<Value, Refusal> {
    assert_eq!((&json["jsonrpc"], &json["id"]), (&json!("2.0"), &json!(RPC_ID)), "{json}");
    let Value::Object(mut members) = json else { panic!("no answer: {json}") };
    match (members.remove("result"), members.remove("error")) {
        (Some(result), None) => Ok(result),
        (None, Some(error)) => Err(Refusal::new(&error, retry_after)),
        (both, _) => panic!("a result or an error: {both:?} {members:?}"),
    }
}
