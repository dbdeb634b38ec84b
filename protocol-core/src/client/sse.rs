//! Server-sent events, taken apart as they come: in pieces of any size, with any line ends, in memory of the caller's.

use core::fmt;

use crate::time::Millis;

/// Longest id of an event in bytes: one that is longer cannot be asked for again.
const ID_MAX: usize = 64;

/// A stream of events on its way in.
#[derive(Debug)]
pub struct Events<'b> {
    /// The data of the present event, and behind it the present line.
    buffer: &'b mut [u8],
    data: usize,
    line: usize,
    state: State,
    /// The last byte ended a line and was a return: a line feed behind it belongs to it.
    has_return: bool,
    /// So many bytes of the mark of UTF-8 stood at the very beginning.
    mark: u8,
    /// The event has a field with data, if an empty one.
    has_data: bool,
    id: heapless::String<ID_MAX>,
    /// The id of the event on its way: it counts when that is whole.
    next_id: heapless::String<ID_MAX>,
    retry: Option<Millis>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// The data that was handed out last is still in the buffer.
    Given,
    Line,
    /// A comment goes by, however long it is.
    Comment,
    /// An event that is too long goes by, up to the blank line behind it; there is a character in the present line.
    TooLong(bool),
}

/// An event is longer than the buffer. It is passed over, and what follows can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooLong {
    /// What there is room for.
    pub most: usize,
}

impl fmt::Display for TooLong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "an event is longer than {} bytes", self.most)
    }
}

impl core::error::Error for TooLong {}

/// What stands at the beginning of some texts, and is none of it.
const MARK: [u8; 3] = [0xef, 0xbb, 0xbf];

impl<'b> Events<'b> {
    /// A stream from its beginning. An event must fit into the buffer, with the line that it ends with.
    pub fn new(buffer: &'b mut [u8]) -> Self {
        Self {
            buffer,
            data: 0,
            line: 0,
            state: State::Line,
            has_return: false,
            mark: 0,
            has_data: false,
            id: heapless::String::new(),
            next_id: heapless::String::new(),
            retry: None,
        }
    }

    /// A new connection: what was on its way is lost. The id of the last event stays.
    pub fn restart(&mut self) {
        (self.data, self.line, self.state) = (0, 0, State::Line);
        (self.has_return, self.mark, self.has_data) = (false, 0, false);
        self.next_id.clone_from(&self.id);
    }

    /// The id of the last event that was whole, to go on behind it (`Last-Event-ID`).
    pub fn last_id(&self) -> Option<&str> {
        Some(self.id.as_str()).filter(|id| !id.is_empty())
    }

    /// How long to wait before one connects again, if the agent said so.
    pub const fn retry(&self) -> Option<Millis> {
        self.retry
    }

    /// Takes bytes up to the end of an event and gives its data; `None` if there is no end among them. To be called until it
    /// does.
    ///
    /// # Errors
    /// If an event is longer than the buffer; to be called again all the same.
    pub fn push<'e>(&'e mut self, bytes: &mut &[u8]) -> Result<Option<&'e [u8]>, TooLong> {
        if self.state == State::Given {
            (self.data, self.line, self.state, self.has_data) = (0, 0, State::Line, false);
        }
        while let Some((&byte, rest)) = bytes.split_first() {
            *bytes = rest;
            if core::mem::take(&mut self.has_return) && byte == b'\n' {
                continue;
            }
            if self.is_mark(byte) {
                continue;
            }
            self.has_return = byte == b'\r';
            if !matches!(byte, b'\n' | b'\r') {
                self.take(byte)?;
            } else if self.end_line()? {
                self.state = State::Given;
                return Ok(self.buffer.get(..self.data));
            }
        }
        Ok(None)
    }

    /// Whether a byte belongs to the mark at the beginning.
    fn is_mark(&mut self, byte: u8) -> bool {
        let expected = MARK.get(usize::from(self.mark));
        let is_mark = expected == Some(&byte);
        self.mark = if is_mark { self.mark.saturating_add(1) } else { MARK.len() as u8 };
        is_mark
    }

    fn take(&mut self, byte: u8) -> Result<(), TooLong> {
        match self.state {
            State::Line if self.line == 0 && byte == b':' => self.state = State::Comment,
            State::Line => {
                let end = self.data.saturating_add(self.line);
                let Some(place) = self.buffer.get_mut(end) else { return self.give_up(true) };
                *place = byte;
                self.line = self.line.saturating_add(1);
            }
            State::Comment | State::Given => {}
            State::TooLong(_) => self.state = State::TooLong(true),
        }
        Ok(())
    }

    fn give_up(&mut self, in_line: bool) -> Result<(), TooLong> {
        (self.data, self.line, self.has_data) = (0, 0, false);
        self.state = State::TooLong(in_line);
        Err(TooLong { most: self.buffer.len() })
    }

    /// Ends a line, and says whether it ended an event with data.
    fn end_line(&mut self) -> Result<bool, TooLong> {
        match self.state {
            State::Line if self.line == 0 => {
                self.id.clone_from(&self.next_id);
                // Every line of data ends with a line feed, but not the last.
                self.data = self.data.saturating_sub(1);
                return Ok(core::mem::take(&mut self.has_data));
            }
            State::Line => self.take_field()?,
            State::TooLong(true) => self.state = State::TooLong(false),
            State::TooLong(false) | State::Comment => self.state = State::Line,
            State::Given => {}
        }
        Ok(false)
    }

    fn take_field(&mut self) -> Result<(), TooLong> {
        let line = self.buffer.get(self.data..self.data.saturating_add(self.line)).unwrap_or_default();
        self.line = 0;
        let colon = line.iter().position(|byte| *byte == b':').unwrap_or(line.len());
        let (name, value) = line.split_at_checked(colon).unwrap_or_default();
        let value = value.get(1..).unwrap_or_default();
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match name {
            b"data" => {
                let (length, from) = (value.len(), line.len().saturating_sub(value.len()));
                let from = self.data.saturating_add(from);
                let end = self.data.saturating_add(length);
                // It moves to the left, so it fits; the line feed may not.
                self.buffer.copy_within(from..from.saturating_add(length), self.data);
                let Some(place) = self.buffer.get_mut(end) else { return self.give_up(false) };
                *place = b'\n';
                self.data = end.saturating_add(1);
                self.has_data = true;
            }
            b"id" if !value.contains(&0) => {
                self.next_id.clear();
                let text = core::str::from_utf8(value).unwrap_or_default();
                // One that is too long is none, nor one that no header can carry: the stream cannot be gone on with behind
                // it.
                if !text.contains(char::is_control) {
                    _ = self.next_id.push_str(text);
                }
            }
            b"retry" => {
                let is_number = !value.is_empty() && value.len() <= 9 && value.iter().all(u8::is_ascii_digit);
                let digits = core::str::from_utf8(value).ok().filter(|_| is_number);
                self.retry = digits.and_then(|digits| digits.parse().ok()).map(Millis).or(self.retry);
            }
            // The name of an event says nothing that its data does not.
            _ => {}
        }
        Ok(())
    }
}
