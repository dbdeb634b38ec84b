//! The answer: its status, when to come back, and the first bytes of its body. It is read strictly and byte by byte, and
//! nothing of it is kept but what is asked for.

use core::fmt::Write as _;

use heapless::{String, Vec};
use protocol_core::time::UnixMillis;

use super::Garbled;

/// What the receiver said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The HTTP status; a redirect is one, too, and is not followed.
    pub status: u16,
    /// `Retry-After`. A date counts only where the time is known.
    pub retry_after_secs: Option<u32>,
    /// How many bytes of its body were handed out.
    pub body_bytes: usize,
    /// Was that all of its body?
    pub is_whole: bool,
}

/// All heads of an answer together, interim ones included. Nothing of them is kept: it is a bound on patience.
const HEAD_BYTES: u16 = 8192;
/// A line with the size of a chunk.
const CHUNK_LINE_BYTES: u16 = 256;
/// As much of a line as is kept: all of those that say something here.
const LINE_BYTES: usize = 80;

/// Reads an answer.
pub(super) struct Reader {
    state: State,
    line: Vec<u8, LINE_BYTES>,
    /// The line is longer than what was kept.
    is_cut: bool,
    has_return: bool,
    /// Bytes that lines may still have.
    budget: u16,
    now: Option<UnixMillis>,
    length: Option<u64>,
    is_chunked: bool,
    answer: Answer,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Status,
    Field,
    /// The rest of a body whose length was told.
    Length(u64),
    /// A body that ends with the connection.
    Close,
    ChunkSize,
    Chunk(u64),
    /// The end of a chunk's line.
    ChunkEnd,
    Done,
}

impl Reader {
    pub(super) fn new(now: Option<UnixMillis>) -> Self {
        Self {
            state: State::Status,
            line: Vec::new(),
            is_cut: false,
            has_return: false,
            budget: HEAD_BYTES,
            now,
            length: None,
            is_chunked: false,
            answer: Answer { status: 0, retry_after_secs: None, body_bytes: 0, is_whole: false },
        }
    }

    /// What was read, once there is no more to read.
    pub(super) fn answer(&self) -> Option<Answer> {
        (self.state == State::Done).then_some(self.answer)
    }

    /// Has anything come?
    pub(super) fn has_begun(&self) -> bool {
        self.budget < HEAD_BYTES
    }

    /// Takes the next bytes; `out` is where the body goes, the same every time.
    pub(super) fn push(&mut self, mut bytes: &[u8], out: &mut [u8]) -> Result<(), Garbled> {
        while let Some((&byte, rest)) = bytes.split_first() {
            match self.state {
                State::Done => return Ok(()),
                State::Length(left) | State::Chunk(left) => {
                    let now = bytes.len().min(usize::try_from(left).unwrap_or(usize::MAX));
                    let (data, rest) = bytes.split_at(now);
                    self.give(data, out);
                    self.pass(left.saturating_sub(now as u64));
                    bytes = rest;
                }
                State::Close => {
                    self.give(bytes, out);
                    return Ok(());
                }
                State::Status | State::Field | State::ChunkSize | State::ChunkEnd => {
                    bytes = rest;
                    if self.gather(byte)? {
                        self.finish_line(out)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// The receiver has hung up.
    pub(super) fn end(&mut self) -> Result<(), Garbled> {
        match self.state {
            State::Done => Ok(()),
            State::Close => {
                self.state = State::Done;
                self.answer.is_whole = true;
                Ok(())
            }
            _ => Err(Garbled::Cut),
        }
    }

    /// Adds a byte to the line, and says whether it was its last.
    fn gather(&mut self, byte: u8) -> Result<bool, Garbled> {
        const BEGINNING: &[u8] = b"HTTP/1.";
        self.budget = self.budget.checked_sub(1).ok_or(Garbled::Endless)?;
        let wrong = if self.state == State::Status { Garbled::Status } else { Garbled::Head };
        match (byte, self.has_return) {
            (b'\n', true) => return Ok(true),
            (b'\r', false) => self.has_return = true,
            (b'\t' | b' '..=b'~' | 0x80.., false) => {
                self.is_cut |= self.line.push(byte).is_err();
                let begun = self.line.len().min(BEGINNING.len());
                if self.state == State::Status && self.line.get(..begun) != BEGINNING.get(..begun) {
                    return Err(wrong);
                }
            }
            _ => return Err(wrong),
        }
        Ok(false)
    }

    fn finish_line(&mut self, out: &[u8]) -> Result<(), Garbled> {
        match self.state {
            State::Status => {
                self.answer.status = status(&self.line).ok_or(Garbled::Status)?;
                self.state = State::Field;
            }
            State::Field if self.line.is_empty() => self.finish_head(out)?,
            State::Field => self.take_field()?,
            State::ChunkSize => {
                let digits = self.line.split(|byte| matches!(byte, b';' | b' ' | b'\t')).next().unwrap_or_default();
                let size = number(digits, 16).ok_or(Garbled::Framing)?;
                self.state = State::Chunk(size);
                if size == 0 {
                    self.finish_body();
                }
            }
            State::ChunkEnd if self.line.is_empty() => {
                self.budget = CHUNK_LINE_BYTES;
                self.state = State::ChunkSize;
            }
            _ => return Err(Garbled::Framing),
        }
        self.line.clear();
        (self.is_cut, self.has_return) = (false, false);
        Ok(())
    }

    fn take_field(&mut self) -> Result<(), Garbled> {
        let colon = self.line.iter().position(|byte| *byte == b':');
        let Some((name, value)) = colon.and_then(|at| self.line.split_at_checked(at)) else {
            // A name that long is none of those that matter.
            return if self.is_cut { Ok(()) } else { Err(Garbled::Head) };
        };
        // Also a line that continues the one before: whoever still sends those can be understood in two ways.
        if name.is_empty() || !name.iter().all(u8::is_ascii_graphic) {
            return Err(Garbled::Head);
        }
        let value = value.get(1..).unwrap_or_default().trim_ascii();
        if name.eq_ignore_ascii_case(b"content-length") {
            let length = number(value, 10).filter(|_| !self.is_cut).ok_or(Garbled::Framing)?;
            if self.length.is_some_and(|before| before != length) {
                return Err(Garbled::Framing);
            }
            self.length = Some(length);
        } else if name.eq_ignore_ascii_case(b"transfer-encoding") {
            if self.is_chunked || self.is_cut || !value.eq_ignore_ascii_case(b"chunked") {
                return Err(Garbled::Framing);
            }
            self.is_chunked = true;
        } else if name.eq_ignore_ascii_case(b"retry-after") && !self.is_cut {
            self.answer.retry_after_secs = retry_after(value, self.now);
        }
        Ok(())
    }

    fn finish_head(&mut self, out: &[u8]) -> Result<(), Garbled> {
        match self.answer.status {
            // Nobody asked for another protocol.
            101 => return Err(Garbled::Status),
            // The answer is still to come.
            100..200 => {
                let (budget, now) = (self.budget, self.now);
                *self = Self { budget, ..Self::new(now) };
                return Ok(());
            }
            204 | 304 => self.length = Some(0),
            _ => {}
        }
        self.state = match (self.is_chunked, self.length) {
            (_, Some(0)) if matches!(self.answer.status, 204 | 304) => State::Length(0),
            (true, Some(_)) => return Err(Garbled::Framing),
            (true, None) => State::ChunkSize,
            (false, Some(length)) => State::Length(length),
            (false, None) => State::Close,
        };
        self.budget = CHUNK_LINE_BYTES;
        if self.state == State::Length(0) {
            self.finish_body();
        } else if out.is_empty() {
            self.state = State::Done;
        }
        Ok(())
    }

    /// Hands out a piece of the body. If there is more than there is room for, that is all.
    fn give(&mut self, data: &[u8], out: &mut [u8]) {
        let room = out.get_mut(self.answer.body_bytes..).unwrap_or_default();
        room.iter_mut().zip(data).for_each(|(room, byte)| *room = *byte);
        self.answer.body_bytes = self.answer.body_bytes.saturating_add(data.len().min(room.len()));
        if data.len() > room.len() {
            self.state = State::Done;
        }
    }

    /// So much is left of the body, or of the chunk.
    fn pass(&mut self, left: u64) {
        self.state = match (self.state, left) {
            (State::Length(_), 0) => return self.finish_body(),
            (State::Length(_), _) => State::Length(left),
            (State::Chunk(_), 0) => State::ChunkEnd,
            (State::Chunk(_), _) => State::Chunk(left),
            (state, _) => state,
        };
    }

    fn finish_body(&mut self) {
        self.state = State::Done;
        self.answer.is_whole = true;
    }
}

/// `HTTP/1.1 200 OK`, and the words need not be there.
fn status(line: &[u8]) -> Option<u16> {
    let [b'H', b'T', b'T', b'P', b'/', b'1', b'.', b'0' | b'1', b' ', rest @ ..] = line else { return None };
    let (digits, words) = rest.split_at_checked(3)?;
    let status = number(digits, 10)?;
    let is_status = (100..600).contains(&status) && matches!(words, [] | [b' ', ..]);
    is_status.then_some(status as u16)
}

/// A number of digits and nothing else, and not of too many.
fn number(digits: &[u8], radix: u32) -> Option<u64> {
    if digits.is_empty() || digits.len() > 15 {
        return None;
    }
    digits.iter().try_fold(0_u64, |number, digit| {
        let digit = char::from(*digit).to_digit(radix)?;
        number.checked_mul(radix.into())?.checked_add(digit.into())
    })
}

/// Seconds, or until a date such as `Sun, 06 Nov 1994 08:49:37 GMT`. What is neither was not said.
fn retry_after(value: &[u8], now: Option<UnixMillis>) -> Option<u32> {
    const MONTHS: &[u8; 36] = b"JanFebMarAprMayJunJulAugSepOctNovDec";
    if value.iter().all(u8::is_ascii_digit) {
        // Far too long is still long.
        return number(value, 10).map(|seconds| u32::try_from(seconds).unwrap_or(u32::MAX));
    }
    let [_, _, _, b',', b' ', d1, d2, b' ', m1, m2, m3, b' ', y1, y2, y3, y4, b' ', time @ .., b' ', b'G', b'M', b'T'] =
        value
    else {
        return None;
    };
    let month = MONTHS.chunks_exact(3).position(|name| name == [*m1, *m2, *m3])?.saturating_add(1);
    let mut date = String::<40>::new();
    for (part, joint) in [([*y1, *y2], ""), ([*y3, *y4], "-")] {
        write!(date.as_mut_view(), "{}{joint}", core::str::from_utf8(&part).ok()?).ok()?;
    }
    let day = [*d1, *d2];
    write!(date.as_mut_view(), "{month:02}-{}T{}Z", core::str::from_utf8(&day).ok()?, core::str::from_utf8(time).ok()?)
        .ok()?;
    let then = UnixMillis::parse(date.chars())?;
    let wait = then.0.saturating_sub(now?.0).div_ceil(1000);
    Some(u32::try_from(wait).unwrap_or(u32::MAX))
}
