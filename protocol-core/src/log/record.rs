//! What stands in a record, and how to read it.

use super::{Block, BlockIndex, NIL, Pool, Position, Stamp};
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
    /// Whom to notify. No event, and no part of any document but its own.
    Push,
}

/// Bytes of a record before its items.
pub(super) const HEADER_BYTES: usize = 32;

/// The fixed part at the start of a record, where it stands in the pool.
///
/// ```text
/// next: 4 │ stamp: 8 │ at: 8 │ length of the items: 4 │ kind: 1 │ flags: 1 │ artifact: 2 │ ordinal: 4
/// ```
#[derive(Clone, Copy)]
pub(crate) struct Header<'p>(&'p Block);

impl<'p> Header<'p> {
    /// The header of a record that is not in a list yet.
    pub(super) fn encode(stamp: Stamp, at: Millis, kind: Kind, len: u32) -> [u8; HEADER_BYTES] {
        let (kind, flags, number, ordinal) = match kind {
            Kind::Message => (0, 0, 0, 0),
            Kind::Status(state) => (1, state as u8, 0, 0),
            Kind::Chunk { artifact, append, last, ordinal } => {
                (2, u8::from(append) | u8::from(last) << 1, artifact, ordinal)
            }
            Kind::Reply => (3, 0, 0, 0),
            Kind::Push => (4, 0, 0, 0),
        };
        let mut out = [0; HEADER_BYTES];
        out[0..4].copy_from_slice(&NIL.to_le_bytes());
        out[4..12].copy_from_slice(&stamp.to_le_bytes());
        out[12..20].copy_from_slice(&at.0.to_le_bytes());
        out[20..24].copy_from_slice(&len.to_le_bytes());
        out[24] = kind;
        out[25] = flags;
        out[26..28].copy_from_slice(&number.to_le_bytes());
        out[28..32].copy_from_slice(&ordinal.to_le_bytes());
        out
    }

    pub(crate) fn read(pool: &'p Pool<'_>, record: BlockIndex) -> Self {
        Self(pool.block(record))
    }

    /// The record behind it.
    pub(crate) fn next(self) -> BlockIndex {
        self.0.word::<0>()
    }

    pub(crate) fn stamp(self) -> Stamp {
        u64::from(self.0.word::<4>()) | u64::from(self.0.word::<8>()) << 32
    }

    pub(crate) fn at(self) -> Millis {
        Millis(u64::from(self.0.word::<12>()) | u64::from(self.0.word::<16>()) << 32)
    }

    /// Bytes of the items that follow.
    pub(crate) fn len(self) -> u32 {
        self.0.word::<20>()
    }

    pub(crate) fn kind(self) -> Kind {
        let [kind, flags, n0, n1] = self.0.word::<24>().to_le_bytes();
        match kind {
            0 => Kind::Message,
            1 => Kind::Status(TaskState::ALL[usize::from(flags) % TaskState::COUNT]),
            2 => Kind::Chunk {
                artifact: u16::from_le_bytes([n0, n1]),
                append: flags & 1 != 0,
                last: flags & 2 != 0,
                ordinal: self.0.word::<28>(),
            },
            3 => Kind::Reply,
            _ => Kind::Push,
        }
    }

    /// The items of the record, whose first block this is.
    pub(crate) fn items(self, record: BlockIndex) -> Items {
        // The header does not fill its block, so that is where the items begin.
        Items { at: Position { block: record, offset: HEADER_BYTES as u8 }, left: self.len() }
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
    /// Whom to notify: where, and how we say who we are.
    PushId,
    PushUrl,
    PushToken,
    PushScheme,
    PushCredentials,
}

impl Tag {
    pub(crate) const ALL: [Self; 21] = [
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
        Self::PushId,
        Self::PushUrl,
        Self::PushToken,
        Self::PushScheme,
        Self::PushCredentials,
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
        let (head, at) = match pool.tail(self.at).first_chunk() {
            Some(head) => (*head, pool.advance(self.at, ITEM_HEAD)),
            None => {
                let mut head = [0; ITEM_HEAD];
                let at = pool.read(self.at, &mut head);
                (head, at)
            }
        };
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

    /// Whether the part that it is behind has attributes.
    pub(crate) fn has_attribute(mut self, pool: &Pool<'_>) -> bool {
        self.next(pool).is_some_and(|item| !item.tag.begins_part())
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
