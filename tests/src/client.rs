//! An HTTP client that sends any bytes, and reads answers as strictly as RFC 9112 has them.

use core::{net::SocketAddr, time::Duration};
use std::{
    io::{self, ErrorKind, Read, Write},
    net::{Shutdown, TcpStream},
};

/// Nothing takes that long, not even on an emulated board: who waits for longer waits for nothing.
const PATIENCE: Duration = Duration::from_secs(30);

/// One connection.
///
/// What begins with `try_` tells of a connection that did not come about or ended. Everything else takes that for a
/// failed test, as it takes an answer that is no HTTP.
#[derive(Debug)]
pub struct Client {
    stream: TcpStream,
    received: Vec<u8>,
}

/// A whole answer.
#[derive(Debug)]
pub struct Answer {
    /// The status code.
    pub status: u16,
    /// The status line and the header fields, as they came.
    pub head: String,
    /// The body, without its framing.
    pub body: String,
    /// How the body's end was known.
    pub framing: Framing,
}

/// How the end of a body is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Framing {
    /// There is none.
    Nothing,
    /// By `Content-Length`.
    Length,
    /// By its last chunk.
    Chunked,
    /// By the end of the connection.
    Close,
}

impl Client {
    /// Connects.
    pub fn connect(address: SocketAddr) -> Self {
        Self::try_connect(address).expect("a connection")
    }

    /// Connects, if somebody is there.
    ///
    /// # Errors
    /// Nobody is.
    pub fn try_connect(address: SocketAddr) -> io::Result<Self> {
        let stream = TcpStream::connect_timeout(&address, PATIENCE)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        stream.set_nodelay(true)?;
        Ok(Self { stream, received: Vec::new() })
    }

    /// Sends some bytes.
    pub fn send(&mut self, bytes: impl AsRef<[u8]>) -> &mut Self {
        self.try_send(bytes).expect("a server that listens");
        self
    }

    /// Sends some bytes, if the server still listens.
    ///
    /// # Errors
    /// It does not.
    pub fn try_send(&mut self, bytes: impl AsRef<[u8]>) -> io::Result<()> {
        self.stream.write_all(bytes.as_ref())
    }

    /// Sends some bytes, each by itself.
    pub fn send_one_by_one(&mut self, bytes: impl AsRef<[u8]>) -> &mut Self {
        for byte in bytes.as_ref() {
            self.send([*byte]);
        }
        self
    }

    /// Says that nothing more will be sent.
    pub fn half_close(&mut self) -> &mut Self {
        self.stream.shutdown(Shutdown::Write).expect("a connection");
        self
    }

    /// Reads one whole answer.
    pub fn answer(&mut self) -> Answer {
        self.try_answer().expect("an answer")
    }

    /// Reads one whole answer, if there is one.
    ///
    /// # Errors
    /// The server closed or reset the connection, or said nothing for too long.
    pub fn try_answer(&mut self) -> io::Result<Answer> {
        let (status, head) = self.try_head()?;
        self.try_body(status, head)
    }

    /// Reads the rest of an answer whose head was read.
    ///
    /// # Errors
    /// As [`Client::try_answer`].
    pub fn try_body(&mut self, status: u16, head: String) -> io::Result<Answer> {
        let (framing, body) = if matches!(status, 100..=199 | 204 | 304) {
            (Framing::Nothing, Vec::new())
        } else if let Some(length) = field(&head, "content-length") {
            assert_eq!(field(&head, "transfer-encoding"), None, "{head}");
            (Framing::Length, self.take(length.parse().expect("a length"))?)
        } else if field(&head, "transfer-encoding") == Some("chunked") {
            (Framing::Chunked, self.chunks()?)
        } else {
            (Framing::Close, self.try_rest()?)
        };
        let body = String::from_utf8(body).expect("text");
        Ok(Answer { status, head, body, framing })
    }

    /// Reads an answer to HEAD.
    pub fn head_only(&mut self) -> Answer {
        let (status, head) = self.head();
        Answer { status, head, body: String::new(), framing: Framing::Nothing }
    }

    /// Reads the status and the head of an answer.
    pub fn head(&mut self) -> (u16, String) {
        self.try_head().expect("an answer")
    }

    /// Reads the status and the head of an answer, if there is one.
    ///
    /// # Errors
    /// As [`Client::try_answer`].
    pub fn try_head(&mut self) -> io::Result<(u16, String)> {
        let head = String::from_utf8(self.until(b"\r\n\r\n")?).expect("text");
        let status = head.strip_prefix("HTTP/1.1 ").and_then(|rest| rest.get(..3)).and_then(|code| code.parse().ok());
        Ok((status.unwrap_or_else(|| panic!("no status in {head:?}")), head))
    }

    /// Reads one chunk; an empty one is the last.
    pub fn chunk(&mut self) -> Vec<u8> {
        self.try_chunk().expect("a chunk")
    }

    /// Reads one chunk, if there is one; an empty one is the last.
    ///
    /// # Errors
    /// As [`Client::try_answer`].
    pub fn try_chunk(&mut self) -> io::Result<Vec<u8>> {
        let line = String::from_utf8(self.until(b"\r\n")?).expect("text");
        let size = usize::from_str_radix(line.trim_end(), 16).unwrap_or_else(|_| panic!("no chunk size in {line:?}"));
        let chunk = self.take(size)?;
        assert_eq!(self.take(2)?, b"\r\n");
        Ok(chunk)
    }

    fn chunks(&mut self) -> io::Result<Vec<u8>> {
        let mut body = Vec::new();
        loop {
            match self.try_chunk()? {
                chunk if chunk.is_empty() => return Ok(body),
                chunk => body.extend(chunk),
            }
        }
    }

    /// Reads until the server closes.
    pub fn rest(&mut self) -> Vec<u8> {
        self.try_rest().expect("a polite end")
    }

    fn try_rest(&mut self) -> io::Result<Vec<u8>> {
        while self.more()? {}
        Ok(core::mem::take(&mut self.received))
    }

    /// Reads until the server resets the connection, and says how many bytes came before.
    pub fn until_reset(&mut self) -> usize {
        let mut total = self.received.len();
        let mut piece = [0; 4096];
        loop {
            match self.stream.read(&mut piece) {
                Ok(0) => panic!("a polite end after {total} bytes"),
                Ok(read) => total += read,
                Err(error) if error.kind() == ErrorKind::ConnectionReset => return total,
                Err(error) => panic!("{error} after {total} bytes"),
            }
        }
    }

    /// Asserts that the server closes, and has said nothing more.
    pub fn assert_closed(&mut self) {
        let rest = self.rest();
        assert!(rest.is_empty(), "more than one answer: {}", String::from_utf8_lossy(&rest));
    }

    fn until(&mut self, end: &[u8]) -> io::Result<Vec<u8>> {
        loop {
            if let Some(at) = self.received.windows(end.len()).position(|window| window == end) {
                return self.take(at + end.len());
            }
            if !self.more()? {
                let received = String::from_utf8_lossy(&self.received);
                return Err(io::Error::new(ErrorKind::UnexpectedEof, format!("the server closed after {received:?}")));
            }
        }
    }

    fn take(&mut self, bytes: usize) -> io::Result<Vec<u8>> {
        while self.received.len() < bytes {
            if !self.more()? {
                let lacking = bytes - self.received.len();
                return Err(io::Error::new(
                    ErrorKind::UnexpectedEof,
                    format!("the server closed {lacking} bytes too early"),
                ));
            }
        }
        Ok(self.received.drain(..bytes).collect())
    }

    fn more(&mut self) -> io::Result<bool> {
        let mut piece = [0; 4096];
        let read = self.stream.read(&mut piece)?;
        self.received.extend_from_slice(&piece[..read]);
        Ok(read > 0)
    }
}

impl Answer {
    /// The value of a header field.
    pub fn field(&self, name: &str) -> Option<&str> {
        field(&self.head, name)
    }

    /// Asserts that the server said that it closes.
    pub fn assert_last(&self) -> &Self {
        assert_eq!(self.field("connection"), Some("close"), "{}", self.head);
        self
    }
}

/// The value of a header field in a head.
pub fn field<'h>(head: &'h str, name: &str) -> Option<&'h str> {
    let mut lines = head.lines().filter_map(|line| line.split_once(": "));
    lines.find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value)
}

/// A POST of some JSON.
pub fn call(body: &str) -> String {
    format!(
        "POST / HTTP/1.1\r\nHost: mote.local\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    )
}

/// A GET.
pub fn get(path: &str) -> String {
    format!("GET {path} HTTP/1.1\r\nHost: mote.local\r\n\r\n")
}
