//! HTTP/1.1 as a client: one request on a connection, and a body that is read as it comes.
//!
//! The device's own client (`firmware::outbound`) wants to know whether a webhook took a notification; here the body is what
//! counts, it has no end that could be waited for, and there is memory.

use core::{fmt::Write as _, time::Duration};
use std::io;

use protocol_core::push::Url;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpStream, lookup_host},
    time::timeout,
};

use super::trouble::Trouble;

/// A head may be that long, interim ones included; and the line in front of a chunk.
const HEAD_MOST: usize = 32 * 1024;
const CHUNK_LINE_MOST: usize = 1024;
const FIELDS_MOST: usize = 64;
/// As long as anybody waits for a connection: who does not answer by then is not there.
const CONNECT: Duration = Duration::from_secs(10);

/// What is asked for: a POST if there is a body, else a GET.
#[derive(Debug)]
pub(super) struct Request<'a> {
    pub(super) url: &'a Url<'a>,
    /// Names and values.
    pub(super) fields: &'a [(&'a str, &'a str)],
    pub(super) body: Option<&'a str>,
    /// How long the other side may be silent.
    pub(super) patience: Duration,
}

/// The head of an answer, and the way to its body.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) is_stream: bool,
    pub(super) location: Option<String>,
    pub(super) challenge: Option<String>,
    pub(super) body: Body,
}

/// What became of a connection.
#[derive(Debug)]
pub(super) enum Lost {
    Silent(Duration),
    Broken(io::Error),
    Cut,
    Garbled(&'static str),
    TooLarge(usize),
}

/// A body on its way in.
#[derive(Debug)]
pub(super) struct Body {
    socket: TcpStream,
    held: Vec<u8>,
    framing: Framing,
    patience: Duration,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Framing {
    Length(u64),
    ChunkSize,
    Chunk(u64),
    ChunkEnd,
    UntilClose,
    Done,
}

/// Host and port, as the head has them.
pub(super) fn authority(url: &Url<'_>) -> String {
    let whole = Url { target: "", ..*url }.to_string();
    whole.split_once("//").map_or(String::new(), |(_, authority)| authority.to_owned())
}

/// Asks, and waits for the head of the answer.
pub(super) async fn ask(request: &Request<'_>) -> Result<Answer, Trouble> {
    let socket = connect(request.url).await?;
    let mut body = Body { socket, held: Vec::new(), framing: Framing::Done, patience: request.patience };
    let sent = timeout(request.patience, body.socket.write_all(written(request).as_bytes())).await;
    // Who refuses in the middle of the request has said why.
    let refused = match sent {
        Ok(result) => result.err(),
        Err(_) => return Err(Lost::Silent(request.patience).into()),
    };
    match body.head().await {
        Ok(head) => Ok(Answer {
            status: head.status,
            is_stream: head.is_stream,
            location: head.location,
            challenge: head.challenge,
            body,
        }),
        Err(Lost::Cut) => Err(refused.map_or(Lost::Cut, Lost::Broken).into()),
        Err(lost) => Err(lost.into()),
    }
}

async fn connect(url: &Url<'_>) -> Result<TcpStream, Trouble> {
    let unreachable = |why: String| Trouble::Unreachable(format!("http://{}", authority(url)), why);
    let connecting = async {
        let found = lookup_host((url.host, url.port)).await.map_err(|_| "no such host is known".to_owned())?;
        let mut trouble = "no such host is known".to_owned();
        for address in found {
            match TcpStream::connect(address).await {
                Ok(socket) => return Ok(socket),
                Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {
                    trouble = "nothing listens there (connection refused)".to_owned();
                }
                Err(error) => trouble = error.to_string(),
            }
        }
        Err(trouble)
    };
    match timeout(CONNECT, connecting).await {
        Ok(Ok(socket)) => {
            // What is sent is gathered already.
            let _ = socket.set_nodelay(true);
            Ok(socket)
        }
        Ok(Err(trouble)) => Err(unreachable(trouble)),
        Err(_) => Err(unreachable(format!("it did not answer within {} s", CONNECT.as_secs()))),
    }
}

fn written(request: &Request<'_>) -> String {
    let method = if request.body.is_some() { "POST" } else { "GET" };
    let target = match request.url.target {
        target if target.starts_with('/') => target.to_owned(),
        query => format!("/{query}"),
    };
    let mut head = format!("{method} {target} HTTP/1.1\r\nHost: {}\r\n", authority(request.url));
    head.push_str(concat!("User-Agent: host-sim/", env!("CARGO_PKG_VERSION"), "\r\nConnection: close\r\n"));
    // cannot fail: it is a String.
    for (name, value) in request.fields {
        let _ = write!(head, "{name}: {value}\r\n");
    }
    if let Some(body) = request.body {
        let _ = write!(head, "Content-Type: application/json\r\nContent-Length: {}\r\n", body.len());
    }
    head.push_str("\r\n");
    head.push_str(request.body.unwrap_or_default());
    head
}

struct Head {
    status: u16,
    is_stream: bool,
    location: Option<String>,
    challenge: Option<String>,
}

impl Body {
    async fn head(&mut self) -> Result<Head, Lost> {
        let mut budget = HEAD_MOST;
        loop {
            let mut fields = [httparse::EMPTY_HEADER; FIELDS_MOST];
            let mut response = httparse::Response::new(&mut fields);
            match response.parse(&self.held) {
                Ok(httparse::Status::Complete(length)) => {
                    let read = read_head(&response)?;
                    self.held.drain(..length);
                    match read {
                        Some((head, framing)) => {
                            self.framing = framing;
                            return Ok(head);
                        }
                        // The answer is still to come.
                        None => budget = budget.checked_sub(length).ok_or(Lost::Garbled("heads without end"))?,
                    }
                }
                Ok(httparse::Status::Partial) => {
                    if self.held.len() >= budget {
                        return Err(Lost::Garbled("a head without end"));
                    }
                    if !self.fill().await? {
                        return Err(Lost::Cut);
                    }
                }
                Err(httparse::Error::TooManyHeaders) => return Err(Lost::Garbled("too many fields in its head")),
                Err(_) => return Err(Lost::Garbled("its head is none")),
            }
        }
    }

    /// Waits for more bytes; false if there are no more.
    async fn fill(&mut self) -> Result<bool, Lost> {
        let mut piece = [0; 8192];
        match timeout(self.patience, self.socket.read(&mut piece)).await {
            Ok(Ok(0)) => Ok(false),
            Ok(Ok(count)) => {
                self.held.extend_from_slice(&piece[..count]);
                Ok(true)
            }
            Ok(Err(error)) => Err(Lost::Broken(error)),
            Err(_) => Err(Lost::Silent(self.patience)),
        }
    }

    /// The next piece of the body; nothing at its end.
    pub(super) async fn next(&mut self) -> Result<Option<Vec<u8>>, Lost> {
        loop {
            match self.framing {
                Framing::Done => return Ok(None),
                Framing::Length(0) => self.framing = Framing::Done,
                Framing::Chunk(0) => self.framing = Framing::ChunkEnd,
                Framing::Length(left) | Framing::Chunk(left) if !self.held.is_empty() => {
                    let count = self.held.len().min(usize::try_from(left).unwrap_or(usize::MAX));
                    let left = left - count as u64;
                    let is_chunk = matches!(self.framing, Framing::Chunk(_));
                    self.framing = if is_chunk { Framing::Chunk(left) } else { Framing::Length(left) };
                    return Ok(Some(self.held.drain(..count).collect()));
                }
                Framing::UntilClose if !self.held.is_empty() => return Ok(Some(core::mem::take(&mut self.held))),
                Framing::ChunkSize => match httparse::parse_chunk_size(&self.held) {
                    Ok(httparse::Status::Complete((length, size))) => {
                        self.held.drain(..length);
                        // What may follow the last chunk says nothing here, and the connection ends with it.
                        self.framing = if size == 0 { Framing::Done } else { Framing::Chunk(size) };
                    }
                    Ok(httparse::Status::Partial) if self.held.len() < CHUNK_LINE_MOST => self.fill_or_cut().await?,
                    _ => return Err(Lost::Garbled("the size of a chunk is none")),
                },
                Framing::ChunkEnd if self.held.len() >= 2 => {
                    if !self.held.starts_with(b"\r\n") {
                        return Err(Lost::Garbled("a chunk is longer than it says"));
                    }
                    self.held.drain(..2);
                    self.framing = Framing::ChunkSize;
                }
                Framing::UntilClose => {
                    if !self.fill().await? {
                        self.framing = Framing::Done;
                    }
                }
                Framing::Length(_) | Framing::Chunk(_) | Framing::ChunkEnd => self.fill_or_cut().await?,
            }
        }
    }

    async fn fill_or_cut(&mut self) -> Result<(), Lost> {
        if self.fill().await? { Ok(()) } else { Err(Lost::Cut) }
    }

    /// All of the body, if it is no longer than that.
    pub(super) async fn whole(mut self, most: usize) -> Result<Vec<u8>, Lost> {
        let mut whole = Vec::new();
        while let Some(piece) = self.next().await? {
            if whole.len() + piece.len() > most {
                return Err(Lost::TooLarge(most));
            }
            whole.extend_from_slice(&piece);
        }
        Ok(whole)
    }
}

/// What a head says, and how the body comes; nothing where the answer is still to come.
fn read_head(response: &httparse::Response<'_, '_>) -> Result<Option<(Head, Framing)>, Lost> {
    let status = response.code.unwrap_or(0);
    match status {
        // Nobody asked for another protocol.
        101 => return Err(Lost::Garbled("it changes to another protocol")),
        100..200 => return Ok(None),
        200..600 => {}
        _ => return Err(Lost::Garbled("its status is none")),
    }
    let fields =
        |name: &'static str| response.headers.iter().filter(move |field| field.name.eq_ignore_ascii_case(name));
    let text = |name| fields(name).next().map(|field| String::from_utf8_lossy(field.value).trim().to_owned());
    let lengths = fields("Content-Length").map(|field| str::from_utf8(field.value).unwrap_or("?"));
    let mut length = None;
    for found in lengths {
        let digits = found.bytes().all(|byte| byte.is_ascii_digit());
        let found = found.parse::<u64>().ok().filter(|_| digits).ok_or(Lost::Garbled("its length is none"))?;
        if length.replace(found).is_some_and(|before| before != found) {
            return Err(Lost::Garbled("it has two lengths"));
        }
    }
    let coding = text("Transfer-Encoding");
    let framing = match (&coding, length) {
        (_, _) if matches!(status, 204 | 304) => Framing::Done,
        (Some(_), Some(_)) => return Err(Lost::Garbled("it has a length and comes in chunks")),
        (Some(coding), None) if coding.eq_ignore_ascii_case("chunked") => Framing::ChunkSize,
        (Some(_), None) => return Err(Lost::Garbled("its transfer coding is not known")),
        (None, Some(length)) => Framing::Length(length),
        (None, None) => Framing::UntilClose,
    };
    let media = text("Content-Type").unwrap_or_default().to_ascii_lowercase();
    let is_stream = media.split(';').next().is_some_and(|media| media.trim() == "text/event-stream");
    let head = Head { status, is_stream, location: text("Location"), challenge: text("WWW-Authenticate") };
    Ok(Some((head, framing)))
}

#[cfg(test)]
mod tests {
    use tokio::net::TcpListener;

    use super::*;

    /// Asks a server that says this, a byte at a time, and hangs up.
    fn answered(bytes: &'static [u8]) -> Result<(u16, Vec<u8>), Trouble> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            let url = format!("http://{}/a?b", listener.local_addr().unwrap());
            let server = async {
                let (mut socket, _) = listener.accept().await.unwrap();
                socket.set_nodelay(true).unwrap();
                let mut head = Vec::new();
                while !head.ends_with(b"{}") {
                    head.push(socket.read_u8().await.unwrap());
                }
                assert!(head.starts_with(b"POST /a?b HTTP/1.1\r\nHost: 127.0.0.1:"));
                for byte in bytes {
                    // Who has heard enough hangs up.
                    if socket.write_all(&[*byte]).await.is_err() {
                        return;
                    }
                }
            };
            let url = Url::parse(&url).unwrap();
            let request = Request { url: &url, fields: &[], body: Some("{}"), patience: Duration::from_secs(5) };
            let client = async {
                let answer = ask(&request).await?;
                Ok((answer.status, answer.body.whole(64).await?))
            };
            futures_util::future::join(server, client).await.1
        })
    }

    #[test]
    fn bodies_end_in_each_of_the_three_ways() {
        for answer in [
            &b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello and more"[..],
            b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2;x=y\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n",
            b"HTTP/1.0 200 OK\r\n\r\nhello",
        ] {
            assert_eq!(answered(answer).unwrap(), (200, b"hello".to_vec()));
        }
        assert_eq!(answered(b"HTTP/1.1 204 None\r\n\r\n").unwrap(), (204, Vec::new()));
    }

    #[test]
    fn what_is_no_answer_is_told() {
        for (answer, words) in [
            (&b"SSH-2.0-OpenSSH\r\n\r\n"[..], "its head is none"),
            (b"", "cut off"),
            (b"HTTP/1.1 200 OK\r\nContent-Le", "cut off"),
            (b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhell", "cut off"),
            (b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello", "two lengths"),
            (b"HTTP/1.1 200 OK\r\nContent-Length: +5\r\n\r\nhello", "its length is none"),
            (b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n", "a length and comes in chunks"),
            (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n", "transfer coding is not known"),
            (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", "the size of a chunk"),
            (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhello", "longer than it says"),
            (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\nhello", "cut off"),
            (b"HTTP/1.1 101 Switching\r\n\r\n", "another protocol"),
            (b"HTTP/1.1 200 OK\r\nContent-Length: 65\r\n\r\n.................................................................", "longer than 64"),
        ] {
            let said = answered(answer).unwrap_err().to_string();
            assert!(said.contains(words), "{}: {said}", String::from_utf8_lossy(answer));
        }
    }

    #[test]
    fn a_head_without_end_is_not_kept() {
        let endless = [b"HTTP/1.1 200 OK\r\nX: ".as_slice(), &[b'x'; 70_000]].concat();
        let said = answered(endless.leak()).unwrap_err().to_string();
        assert!(said.contains("a head without end"), "{said}");
    }
}
