//! A client that sends any bytes, and reads answers as strictly as RFC 9112 has them.

use core::{net::SocketAddr, time::Duration};
use std::{
    io::{ErrorKind, Read, Write},
    net::{Shutdown, TcpStream},
};

/// Nothing here takes that long: who waits for longer waits for nothing.
const PATIENCE: Duration = Duration::from_secs(10);

pub(crate) struct Client {
    stream: TcpStream,
    received: Vec<u8>,
}

#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
    pub(crate) framing: Framing,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Framing {
    Nothing,
    Length,
    Chunked,
    Close,
}

impl Client {
    pub(crate) fn connect(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).expect("a connection");
        stream.set_read_timeout(Some(PATIENCE)).expect("a timeout");
        stream.set_write_timeout(Some(PATIENCE)).expect("a timeout");
        stream.set_nodelay(true).expect("no delay");
        Self { stream, received: Vec::new() }
    }

    pub(crate) fn send(&mut self, bytes: impl AsRef<[u8]>) -> &mut Self {
        self.stream.write_all(bytes.as_ref()).expect("a server that listens");
        self
    }

    pub(crate) fn send_one_by_one(&mut self, bytes: impl AsRef<[u8]>) -> &mut Self {
        for byte in bytes.as_ref() {
            self.send([*byte]);
        }
        self
    }

    pub(crate) fn half_close(&mut self) -> &mut Self {
        self.stream.shutdown(Shutdown::Write).expect("a connection");
        self
    }

    /// Reads one whole answer.
    pub(crate) fn answer(&mut self) -> Answer {
        let (status, head) = self.head();
        let (framing, body) = if matches!(status, 100..=199 | 204 | 304) {
            (Framing::Nothing, Vec::new())
        } else if let Some(length) = field(&head, "content-length") {
            assert_eq!(field(&head, "transfer-encoding"), None, "{head}");
            (Framing::Length, self.take(length.parse().expect("a length")))
        } else if field(&head, "transfer-encoding") == Some("chunked") {
            (Framing::Chunked, self.chunks())
        } else {
            (Framing::Close, self.rest())
        };
        let body = String::from_utf8(body).expect("text");
        Answer { status, head, body, framing }
    }

    /// Reads an answer to HEAD.
    pub(crate) fn head_only(&mut self) -> Answer {
        let (status, head) = self.head();
        Answer { status, head, body: String::new(), framing: Framing::Nothing }
    }

    pub(crate) fn head(&mut self) -> (u16, String) {
        let head = String::from_utf8(self.until(b"\r\n\r\n")).expect("text");
        let status = head.strip_prefix("HTTP/1.1 ").and_then(|rest| rest.get(..3)).and_then(|code| code.parse().ok());
        (status.unwrap_or_else(|| panic!("no status in {head:?}")), head)
    }

    /// Reads one chunk; an empty one is the last.
    pub(crate) fn chunk(&mut self) -> Vec<u8> {
        let line = String::from_utf8(self.until(b"\r\n")).expect("text");
        let size = usize::from_str_radix(line.trim_end(), 16).unwrap_or_else(|_| panic!("no chunk size in {line:?}"));
        let chunk = self.take(size);
        assert_eq!(self.take(2), b"\r\n");
        chunk
    }

    fn chunks(&mut self) -> Vec<u8> {
        let mut body = Vec::new();
        loop {
            match self.chunk() {
                chunk if chunk.is_empty() => return body,
                chunk => body.extend(chunk),
            }
        }
    }

    /// Reads until the server closes.
    pub(crate) fn rest(&mut self) -> Vec<u8> {
        while self.more() {}
        core::mem::take(&mut self.received)
    }

    /// Reads until the server resets the connection, and says how many bytes came before.
    pub(crate) fn until_reset(&mut self) -> usize {
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

    pub(crate) fn assert_closed(&mut self) {
        let rest = self.rest();
        assert!(rest.is_empty(), "more than one answer: {}", String::from_utf8_lossy(&rest));
    }

    fn until(&mut self, end: &[u8]) -> Vec<u8> {
        loop {
            if let Some(at) = self.received.windows(end.len()).position(|window| window == end) {
                return self.take(at + end.len());
            }
            assert!(self.more(), "the server closed after {:?}", String::from_utf8_lossy(&self.received));
        }
    }

    fn take(&mut self, bytes: usize) -> Vec<u8> {
        while self.received.len() < bytes {
            assert!(self.more(), "the server closed {} bytes too early", bytes - self.received.len());
        }
        self.received.drain(..bytes).collect()
    }

    fn more(&mut self) -> bool {
        let mut piece = [0; 4096];
        let read = self.stream.read(&mut piece).expect("an answer in time");
        self.received.extend_from_slice(&piece[..read]);
        read > 0
    }
}

impl Answer {
    pub(crate) fn field(&self, name: &str) -> Option<&str> {
        field(&self.head, name)
    }

    /// Asserts that the server said that it closes.
    pub(crate) fn assert_last(&self) -> &Self {
        assert_eq!(self.field("connection"), Some("close"), "{}", self.head);
        self
    }
}

fn field<'h>(head: &'h str, name: &str) -> Option<&'h str> {
    let mut lines = head.lines().filter_map(|line| line.split_once(": "));
    lines.find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value)
}

/// A call that asks the toy for something.
pub(crate) fn call(body: &str) -> String {
    format!(
        "POST / HTTP/1.1\r\nHost: mote.local\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    )
}

pub(crate) fn get(path: &str) -> String {
    format!("GET {path} HTTP/1.1\r\nHost: mote.local\r\n\r\n")
}
