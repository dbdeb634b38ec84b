//! A window on the output of one step: what was sent before is passed over, what does not fit is left.

use crate::{
    json::{self, Sink},
    log::{Pool, Position, Span},
};

/// Remembers where in a long span the last window ended, so that the next begins there without walking its blocks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bookmark {
    span: Span,
    done: u32,
    at: Position,
}

pub(super) struct Out<'b> {
    buffer: &'b mut [u8],
    len: usize,
    /// Bytes of the present step that are out already.
    skip: usize,
    /// Bytes of the present step that this window took.
    took: usize,
    full: bool,
    bookmark: Option<Bookmark>,
}

impl<'b> Out<'b> {
    pub(super) fn new(buffer: &'b mut [u8], bookmark: Option<Bookmark>) -> Self {
        Self { buffer, len: 0, skip: 0, took: 0, full: false, bookmark }
    }

    pub(super) const fn len(&self) -> usize {
        self.len
    }

    pub(super) const fn bookmark(&self) -> Option<Bookmark> {
        self.bookmark
    }

    /// Begins a step of which `offset` bytes are out.
    pub(super) fn begin(&mut self, offset: u32) {
        self.skip = offset as usize;
        self.took = 0;
        self.full = false;
    }

    /// Ends the step. `Err` with its new offset if it did not fit.
    pub(super) fn end(&self, offset: u32) -> Result<(), u32> {
        if self.full { Err(offset + self.took as u32) } else { Ok(()) }
    }

    pub(super) fn quoted(&mut self, text: &str) {
        self.put("\"");
        json::escape(text, self);
        self.put("\"");
    }

    pub(super) fn span(&mut self, pool: &Pool<'_>, span: Span) {
        let len = span.len as usize;
        if self.skip >= len {
            self.skip -= len;
            return;
        }
        let mut done = core::mem::take(&mut self.skip) as u32;
        let mut at = match self.bookmark {
            Some(mark) if mark.span == span && mark.done == done => mark.at,
            _ => pool.advance(span.at, done as usize),
        };
        while done < span.len {
            let room = self.buffer.len() - self.len;
            if room == 0 {
                self.full = true;
                break;
            }
            let n = room.min((span.len - done) as usize);
            at = pool.read(at, &mut self.buffer[self.len..self.len + n]);
            self.len += n;
            self.took += n;
            done += n as u32;
        }
        self.bookmark = Some(Bookmark { span, done, at });
    }
}

impl Sink for Out<'_> {
    fn put(&mut self, text: &str) {
        if self.full {
            return;
        }
        let bytes = text.as_bytes();
        let Some(bytes) = bytes.get(self.skip..) else {
            self.skip -= bytes.len();
            return;
        };
        self.skip = 0;
        let n = bytes.len().min(self.buffer.len() - self.len);
        self.buffer[self.len..self.len + n].copy_from_slice(&bytes[..n]);
        self.len += n;
        self.took += n;
        self.full = n < bytes.len();
    }
}

impl core::fmt::Write for Out<'_> {
    fn write_str(&mut self, text: &str) -> core::fmt::Result {
        self.put(text);
        Ok(())
    }
}
