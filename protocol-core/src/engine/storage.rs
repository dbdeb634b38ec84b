//! The memory of a machine. The only place where its sizes are numbers.

use super::{Job, Reader, Slot};
use crate::{log::Block, tally::Usage};

/// Memory for `TASKS` tasks with `BLOCKS` blocks of log between them, `WORKERS` tasks being worked on at a time, and
/// `READERS` answers being waited for or streamed at a time. All zero when new: a static one costs no flash.
pub struct Storage<const TASKS: usize, const BLOCKS: usize, const WORKERS: usize, const READERS: usize> {
    slots: [Slot; TASKS],
    blocks: [Block; BLOCKS],
    jobs: [Job; WORKERS],
    readers: [Reader; READERS],
}

type Parts<'s> = (&'s mut [Slot], &'s mut [Block], &'s mut [Job], &'s mut [Reader]);

impl<const TASKS: usize, const BLOCKS: usize, const WORKERS: usize, const READERS: usize>
    Storage<TASKS, BLOCKS, WORKERS, READERS>
{
    /// Bytes that one more task takes, beside its log.
    pub const TASK_BYTES: usize = size_of::<Slot>();
    /// Bytes that one more answer takes while it is waited for or streamed, beside its connection.
    pub const READER_BYTES: usize = size_of::<Reader>();

    /// Empty memory.
    pub const fn new() -> Self {
        Self {
            slots: [const { Slot::EMPTY }; TASKS],
            blocks: [Block::EMPTY; BLOCKS],
            jobs: [const { Job::IDLE }; WORKERS],
            readers: [const { Reader::FREE }; READERS],
        }
    }

    pub(super) fn parts(&mut self) -> Parts<'_> {
        (&mut self.slots, &mut self.blocks, &mut self.jobs, &mut self.readers)
    }
}

impl<const TASKS: usize, const BLOCKS: usize, const WORKERS: usize, const READERS: usize> Default
    for Storage<TASKS, BLOCKS, WORKERS, READERS>
{
    fn default() -> Self {
        Self::new()
    }
}

/// What a machine has room for, and how much of it is in use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Tasks that are kept.
    pub tasks: Usage,
    /// Blocks of log.
    pub blocks: Usage,
    /// Tasks that are worked on at a time.
    pub workers: Usage,
    /// Answers that are waited for or streamed at a time.
    pub readers: Usage,
}
