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
    /// What is left of the buffer.
    room: &'b mut [u8],
    size: usize,
    /// Bytes of the present step that are out already.
    skip: usize,
    /// Room there was when the present step began.
    room_before: usize,
    full: bool,
    bookmark: Option<Bookmark>,
}

impl<'b> Out<'b> {
    pub(super) fn new(buffer: &'b mut [u8], bookmark: Option<Bookmark>) -> Self {
        let size = buffer.len();
        Self { room: buffer, size, skip: 0, room_before: size, full: false, bookmark }
    }

    pub(super) const fn len(&self) -> usize {
        self.size.saturating_sub(self.room.len())
    }

    pub(super) const fn bookmark(&self) -> Option<Bookmark> {
        self.bookmark
    }

    /// Begins a step of which `offset` bytes are out.
    pub(super) const fn begin(&mut self, offset: u32) {
        self.skip = offset as usize;
        self.room_before = self.room.len();
        self.full = false;
    }

    /// Whether the step does not fit.
    pub(super) const fn is_full(&self) -> bool {
        self.full
    }

    /// Bytes of the present step that this buffer took.
    pub(super) const fn taken(&self) -> u32 {
        self.room_before.saturating_sub(self.room.len()) as u32
    }

    /// The next bytes of the buffer: `wanted` of them, or as many as there are.
    fn take(&mut self, wanted: usize) -> &'b mut [u8] {
        let room = core::mem::take(&mut self.room);
        self.full = wanted > room.len();
        let (taken, left) = room.split_at_mut(wanted.min(room.len()));
        self.room = left;
        taken
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
        let piece = self.take((span.len - done) as usize);
        at = pool.read(at, piece);
        done = done.saturating_add(piece.len() as u32);
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
        let piece = self.take(bytes.len());
        piece.copy_from_slice(&bytes[..piece.len()]);
    }
}

impl core::fmt::Write for Out<'_> {
    fn write_str(&mut self, text: &str) -> core::fmt::Result {
        self.put(text);
        Ok(())
    }
}
