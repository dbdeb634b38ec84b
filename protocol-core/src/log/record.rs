//! What stands in a record, and how to read it.

use super::{BlockIndex, Pool, Position, Stamp};
use crate::{model::TaskState, time::Millis};

/// What a record says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A message of the client.
    Message,
    /// The task moved to this state; a message of the agent may come with it.
    Status(TaskState),
    /// A piece of an artifact.
    /// `ordinal` counts the chunks since the artifact began; the first that is left tells how many are gone.
    Chunk { artifact: u16, append: bool, last: bool, ordinal: u32 },
    /// The agent answered with a message instead of a task.
    Reply,
}

/// The fixed part at the start of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    pub(crate) next: BlockIndex,
    pub(crate) stamp: Stamp,
    pub(crate) at: Millis,
    pub(crate) kind: Kind,
    /// Bytes of the items that follow.
    pub(crate) len: u32,
}

impl Header {
    pub(crate) const BYTES: usize = 32;

    pub(super) fn encode(&self) -> [u8; Self::BYTES] {
        let (kind, flags, number, ordinal) = match self.kind {
            Kind::Message => (0, 0, 0, 0),
            Kind::Status(state) => (1, state as u8, 0, 0),
            Kind::Chunk { artifact, append, last, ordinal } => {
                (2, u8::from(append) | u8::from(last) << 1, artifact, ordinal)
            }
            Kind::Reply => (3, 0, 0, 0),
        };
        let mut out = [0; Self::BYTES];
        out[0..4].copy_from_slice(&self.next.to_le_bytes());
        out[4..12].copy_from_slice(&self.stamp.to_le_bytes());
        out[12..20].copy_from_slice(&self.at.0.to_le_bytes());
        out[20..24].copy_from_slice(&self.len.to_le_bytes());
        out[24] = kind;
        out[25] = flags;
        out[26..28].copy_from_slice(&number.to_le_bytes());
        out[28..32].copy_from_slice(&ordinal.to_le_bytes());
        out
    }

    pub(crate) fn read(pool: &Pool<'_>, record: BlockIndex) -> Self {
        let bytes: &[u8; Self::BYTES] = pool.head(record);
        // In whole words, because blocks are aligned like words.
        let (words, _) = bytes.as_chunks();
        let word = |at: usize| u32::from_le_bytes(words[at / 4]);
        let long = |at: usize| u64::from(word(at)) | u64::from(word(at + 4)) << 32;
        let kind = match bytes[24] {
            0 => Kind::Message,
            1 => Kind::Status(TaskState::ALL[usize::from(bytes[25]) % TaskState::COUNT]),
            2 => Kind::Chunk {
                artifact: u16::from_le_bytes([bytes[26], bytes[27]]),
                append: bytes[25] & 1 != 0,
                last: bytes[25] & 2 != 0,
                ordinal: word(28),
            },
            _ => Kind::Reply,
        };
        Self { next: word(0), stamp: long(4), at: Millis(long(12)), kind, len: word(20) }
    }

    /// The record's items.
    pub(crate) const fn items(&self, record: BlockIndex) -> Items {
        // The header does not fill its block, so that is where the items begin.
        Items { at: Position { block: record, offset: Self::BYTES as u8 }, left: self.len }
    }
}

/// What an item is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Tag {
    MessageId,
    Metadata,
    Extensions,
    References,
    ArtifactId,
    Name,
    Description,
    /// A part begins: its content. Attributes of the part follow until the next part.
    Text,
    Raw,
    Url,
    Data,
    MediaType,
    Filename,
    PartMetadata,
    /// What the client wants to get: not part of the message.
    OutputModes,
    /// A client's message that passes on what an agent said.
    FromAgent,
}

impl Tag {
    const ALL: [Self; 16] = [
        Self::MessageId,
        Self::Metadata,
        Self::Extensions,
        Self::References,
        Self::ArtifactId,
        Self::Name,
        Self::Description,
        Self::Text,
        Self::Raw,
        Self::Url,
        Self::Data,
        Self::MediaType,
        Self::Filename,
        Self::PartMetadata,
        Self::OutputModes,
        Self::FromAgent,
    ];

    pub(crate) const fn begins_part(self) -> bool {
        matches!(self, Self::Text | Self::Raw | Self::Url | Self::Data)
    }
}

/// Bytes of an item before its content: the tag and a length of three bytes.
pub(crate) const ITEM_HEAD: usize = 4;

/// Bytes somewhere in a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Span {
    pub(crate) at: Position,
    pub(crate) len: u32,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Item {
    pub(crate) tag: Tag,
    pub(crate) span: Span,
}

/// A place between the items of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Items {
    at: Position,
    left: u32,
}

impl Items {
    pub(crate) fn next(&mut self, pool: &Pool<'_>) -> Option<Item> {
        if self.left < ITEM_HEAD as u32 {
            return None;
        }
        let mut head = [0; ITEM_HEAD];
        let at = pool.read(self.at, &mut head);
        let [tag, l0, l1, l2] = head;
        let len = u32::from_le_bytes([l0, l1, l2, 0]).min(self.left - ITEM_HEAD as u32);
        self.left -= ITEM_HEAD as u32 + len;
        self.at = pool.advance(at, len as usize);
        let tag = Tag::ALL[usize::from(tag) % Tag::ALL.len()];
        Some(Item { tag, span: Span { at, len } })
    }

    /// The first item of that kind before the next part: of the record's own at its start, of a part's behind its content.
    pub(crate) fn find(mut self, pool: &Pool<'_>, tag: Tag) -> Option<Span> {
        while let Some(item) = self.next(pool) {
            if item.tag == tag {
                return Some(item.span);
            }
            if item.tag.begins_part() {
                break;
            }
        }
        None
    }

    /// Moves to the next part, and gives its content.
    pub(crate) fn next_part(&mut self, pool: &Pool<'_>) -> Option<Item> {
        while let Some(item) = self.next(pool) {
            if item.tag.begins_part() {
                return Some(item);
            }
        }
        None
    }
}
