//! Which bytes are a request, and which requests are refused for their framing alone.
//!
//! picoserve takes a body of unknown length for an empty one, `Content-Length: abc` for 0, the first of two lengths for
//! the truth, and overflows on `usize::MAX`: each of these lets one request be read as two, or stops the process. The
//! gate reads along, byte by byte and without a buffer, and lets nothing of it through.
//!
//! It is stricter than RFC 9112 asks: lines end in CRLF, one space stands between the words of the request line.

/// Follows the framing of the requests on one connection.
///
/// A byte is judged before it is let through, so what is behind the gate is always the beginning of a well-formed
/// request. That is what makes [`Gate::tail`] possible.
#[derive(Debug)]
pub(super) struct Gate {
    bounds: Bounds,
    at: At,
    /// Number of the request that is being read, from 1; 0 before the first.
    request: u32,
    head_bytes: usize,
    seen: Seen,
}

/// What fits: the part of the limits that framing is about.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bounds {
    pub(super) head_bytes: usize,
    pub(super) target_bytes: usize,
    pub(super) body_bytes: usize,
}

/// Why a request gets no further than the gate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    /// 400
    Malformed(Flaw),
    /// 411: a chunked body. No A2A client sends one (DIALECTS.md 6.2).
    LengthRequired,
    /// 413
    BodyTooLarge,
    /// 414
    TargetTooLong,
    /// 431
    HeadTooLarge,
    /// 505
    Version,
}

/// What is wrong with a malformed request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Flaw {
    RequestLine,
    /// A folded line, a space before the colon, a control character, a line without CRLF.
    Header,
    /// Not one plain number.
    ContentLength,
    /// `Transfer-Encoding` beside `Content-Length`: two readers would see two different requests.
    TwoLengths,
    /// HTTP/1.1 without `Host`, or any version with two.
    Host,
    /// The client hung up in the middle of the head.
    Ended,
}

/// Where in a request the next byte belongs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum At {
    /// Between requests. Empty lines here are dropped (RFC 9112 §2.2).
    Start,
    Method,
    Target {
        bytes: usize,
    },
    Version {
        bytes: usize,
    },
    LineFeed,
    LineStart,
    Name {
        bytes: usize,
        /// One bit for each of `NAMES` that this name may still become.
        candidates: u8,
    },
    Value,
    Length(Digits),
    /// The last line feed of the head.
    HeadEnd,
    Body {
        left: usize,
    },
    Refused,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Digits {
    Before,
    Within(usize),
    After(usize),
}

/// What the head has said so far.
#[derive(Debug, Clone, Copy, Default)]
struct Seen {
    content_length: Option<usize>,
    transfer_encoding: bool,
    host: bool,
    http_1_1: bool,
    /// The method is HEAD, as far as it has come.
    head: bool,
}

impl Gate {
    /// Room behind the largest head that [`Gate::tail`] needs.
    pub(super) const RESERVE: usize = 24;

    pub(super) const fn new(bounds: Bounds) -> Self {
        Self {
            bounds,
            at: At::Start,
            request: 0,
            head_bytes: 0,
            seen: Seen { content_length: None, transfer_encoding: false, host: false, http_1_1: false, head: false },
        }
    }

    /// Lets bytes through: those that may pass are moved to the front, and counted.
    ///
    /// # Errors
    /// The number of bytes that may still pass, and the [`Refused`] request behind them.
    pub(super) fn pass(&mut self, bytes: &mut [u8]) -> Result<usize, (usize, Refused)> {
        let (mut read, mut kept) = (0usize, 0usize);
        while let Some(&byte) = bytes.get(read) {
            let run = match self.at {
                At::Body { left } => {
                    let run = left.min(bytes.len().saturating_sub(read));
                    self.at = Self::body(left.saturating_sub(run));
                    run
                }
                before => {
                    match self.step(byte) {
                        Ok(At::Start) if before == At::Start => {
                            read = read.saturating_add(1);
                            continue;
                        }
                        Ok(next) => self.at = next,
                        Err(verdict) => return Err((kept, self.refuse(verdict))),
                    }
                    1
                }
            };
            if kept < read {
                shift(bytes, read, kept, run);
            }
            read = read.saturating_add(run);
            kept = kept.saturating_add(run);
        }
        Ok(kept)
    }

    /// Takes note that the client sends nothing more.
    ///
    /// # Errors
    /// The request that was cut off in its head. A body that is cut off is noticed by whoever reads it.
    pub(super) fn end(&mut self) -> Result<(), Refused> {
        match self.at {
            At::Start | At::Body { .. } | At::Refused => Ok(()),
            _ => Err(self.refuse(Verdict::Malformed(Flaw::Ended))),
        }
    }

    /// Was a request refused? Nothing behind it is ever read.
    pub(super) fn is_shut(&self) -> bool {
        self.at == At::Refused
    }

    /// Is the request that is being read a HEAD, as far as it has come? Whatever the answer is, it has no body then.
    pub(super) fn may_be_head(&self) -> bool {
        self.seen.head && self.at != At::Start
    }

    fn refuse(&mut self, verdict: Verdict) -> Refused {
        let tail = self.tail();
        // A flaw in the very first byte is still a request that wants an answer.
        if self.at == At::Start {
            self.request = self.request.wrapping_add(1);
        }
        self.at = At::Refused;
        Refused { request: self.request, verdict, tail }
    }

    /// What makes the bytes let through so far a complete head, so that picoserve calls the handler now.
    fn tail(&self) -> &'static [u8] {
        match self.at {
            At::Start | At::Method => b"X / HTTP/1.1\r\n\r\n",
            At::Target { bytes: 0 } => b"/ HTTP/1.1\r\n\r\n",
            At::Target { .. } => b" HTTP/1.1\r\n\r\n",
            At::Version { .. } => b"X\r\n\r\n",
            At::LineFeed => b"\n\r\n",
            At::LineStart => b"\r\n",
            At::Name { .. } => b":\r\n\r\n",
            At::Value | At::Length(_) => b"\r\n\r\n",
            At::HeadEnd => b"\n",
            At::Body { .. } | At::Refused => b"",
        }
    }

    fn step(&mut self, byte: u8) -> Result<At, Verdict> {
        if self.at == At::Start {
            if matches!(byte, b'\r' | b'\n') {
                return Ok(At::Start);
            }
            if !is_token(byte) {
                return Err(Verdict::Malformed(Flaw::RequestLine));
            }
            self.request = self.request.wrapping_add(1);
            self.head_bytes = 0;
            self.seen = Seen::default();
            // From here on the request counts as begun, also if this byte is one too many.
            self.at = At::Method;
        }
        if self.head_bytes == self.bounds.head_bytes {
            return Err(Verdict::HeadTooLarge);
        }
        self.head_bytes = self.head_bytes.saturating_add(1);
        match self.at {
            At::Start | At::Body { .. } | At::Refused => Ok(self.at),
            At::Method => match byte {
                b' ' => {
                    self.seen.head &= self.head_bytes == b"HEAD ".len();
                    Ok(At::Target { bytes: 0 })
                }
                _ if is_token(byte) => {
                    let letter = self.head_bytes - 1;
                    self.seen.head = (letter == 0 || self.seen.head) && b"HEAD".get(letter) == Some(&byte);
                    Ok(At::Method)
                }
                _ => Err(Verdict::Malformed(Flaw::RequestLine)),
            },
            At::Target { bytes } => match byte {
                b' ' if bytes > 0 => Ok(At::Version { bytes: 0 }),
                // A fragment is the client's own business: what is before it would be read as the whole.
                b'#' => Err(Verdict::Malformed(Flaw::RequestLine)),
                0x21..=0x7e if bytes == self.bounds.target_bytes => Err(Verdict::TargetTooLong),
                0x21..=0x7e => Ok(At::Target { bytes: bytes.saturating_add(1) }),
                _ => Err(Verdict::Malformed(Flaw::RequestLine)),
            },
            At::Version { bytes } => self.version(bytes, byte),
            At::LineFeed => match byte {
                b'\n' => Ok(At::LineStart),
                _ => Err(Verdict::Malformed(Flaw::Header)),
            },
            At::LineStart => match byte {
                b'\r' => Ok(At::HeadEnd),
                _ => Self::name(0, u8::MAX, byte),
            },
            At::Name { candidates, bytes } => match byte {
                b':' => self.colon(bytes, candidates),
                _ => Self::name(bytes, candidates, byte),
            },
            At::Value => match byte {
                b'\r' => Ok(At::LineFeed),
                b'\t' | b' '..=0x7e | 0x80.. => Ok(At::Value),
                _ => Err(Verdict::Malformed(Flaw::Header)),
            },
            At::Length(digits) => self.length(digits, byte),
            At::HeadEnd => match byte {
                b'\n' => self.head_end(),
                _ => Err(Verdict::Malformed(Flaw::Header)),
            },
        }
    }

    fn version(&mut self, bytes: usize, byte: u8) -> Result<At, Verdict> {
        const VERSION: &[u8] = b"HTTP/1.";
        match VERSION.get(bytes) {
            Some(&expected) if byte == expected => Ok(At::Version { bytes: bytes + 1 }),
            Some(b'1') if byte.is_ascii_digit() => Err(Verdict::Version),
            Some(_) => Err(Verdict::Malformed(Flaw::RequestLine)),
            None => match (bytes - VERSION.len(), byte) {
                (0, b'0' | b'1') => {
                    self.seen.http_1_1 = byte == b'1';
                    Ok(At::Version { bytes: bytes + 1 })
                }
                (0, b'2'..=b'9') => Err(Verdict::Version),
                (1, b'\r') => Ok(At::LineFeed),
                _ => Err(Verdict::Malformed(Flaw::RequestLine)),
            },
        }
    }

    fn name(bytes: usize, mut candidates: u8, byte: u8) -> Result<At, Verdict> {
        if !is_token(byte) {
            return Err(Verdict::Malformed(Flaw::Header));
        }
        for (bit, name) in NAMES.iter().enumerate() {
            if name.get(bytes) != Some(&byte.to_ascii_lowercase()) {
                candidates &= !(1 << bit);
            }
        }
        Ok(At::Name { bytes: bytes.saturating_add(1), candidates })
    }

    fn colon(&mut self, bytes: usize, candidates: u8) -> Result<At, Verdict> {
        let known = NAMES.iter().enumerate().find(|(bit, name)| candidates & (1 << bit) != 0 && name.len() == bytes);
        match known {
            Some((CONTENT_LENGTH, _)) if self.seen.content_length.is_some() => {
                Err(Verdict::Malformed(Flaw::ContentLength))
            }
            Some((CONTENT_LENGTH, _)) => Ok(At::Length(Digits::Before)),
            Some((HOST, _)) if self.seen.host => Err(Verdict::Malformed(Flaw::Host)),
            Some((HOST, _)) => {
                self.seen.host = true;
                Ok(At::Value)
            }
            Some(_) => {
                self.seen.transfer_encoding = true;
                Ok(At::Value)
            }
            None => Ok(At::Value),
        }
    }

    fn length(&mut self, digits: Digits, byte: u8) -> Result<At, Verdict> {
        let digits = match (digits, byte) {
            (Digits::Before, b' ' | b'\t') => Digits::Before,
            (Digits::Before, b'0'..=b'9') => Digits::Within(usize::from(byte - b'0')),
            (Digits::Within(value), b'0'..=b'9') => {
                Digits::Within(value.saturating_mul(10).saturating_add(usize::from(byte - b'0')))
            }
            (Digits::Within(value) | Digits::After(value), b' ' | b'\t') => Digits::After(value),
            (Digits::Within(value) | Digits::After(value), b'\r') => {
                self.seen.content_length = Some(value);
                return Ok(At::LineFeed);
            }
            _ => return Err(Verdict::Malformed(Flaw::ContentLength)),
        };
        match digits {
            // The digit that makes the number too large stays outside: picoserve never sees a length it could overflow on.
            Digits::Within(value) if value > self.bounds.body_bytes => Err(Verdict::BodyTooLarge),
            _ => Ok(At::Length(digits)),
        }
    }

    fn head_end(&mut self) -> Result<At, Verdict> {
        let seen = self.seen;
        if seen.transfer_encoding {
            return Err(match seen.content_length {
                Some(_) => Verdict::Malformed(Flaw::TwoLengths),
                None => Verdict::LengthRequired,
            });
        }
        if seen.http_1_1 && !seen.host {
            return Err(Verdict::Malformed(Flaw::Host));
        }
        Ok(Self::body(seen.content_length.unwrap_or(0)))
    }

    fn body(left: usize) -> At {
        match left {
            0 => At::Start,
            left => At::Body { left },
        }
    }
}

/// A request that was refused at the gate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Refused {
    /// Its number on this connection, from 1: a good request may still wait before it.
    pub(super) request: u32,
    pub(super) verdict: Verdict,
    /// The bytes that end its head for picoserve.
    pub(super) tail: &'static [u8],
}

/// The headers that decide where a request ends. At most eight: see `At::Name`.
const NAMES: [&[u8]; 3] = [b"content-length", b"host", b"transfer-encoding"];
const CONTENT_LENGTH: usize = 0;
const HOST: usize = 1;

/// Moves bytes towards the front. Seldom: only what follows an empty line between requests has to move.
fn shift(bytes: &mut [u8], from: usize, to: usize, count: usize) {
    for (from, to) in (from..from.saturating_add(count)).zip(to..bytes.len()) {
        if let Some(&byte) = bytes.get(from)
            && let Some(place) = bytes.get_mut(to)
        {
            *place = byte;
        }
    }
}

/// Is it a `tchar` of RFC 9110 §5.6.2?
fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

#[cfg(test)]
mod tests;
