//! Artifacts: what a task gives.

use core::fmt;

use serde::Serialize;

use super::{Pause, TaskCx};
use crate::{
    engine::{Chunk, Piece},
    json::Json,
};

/// A piece of an artifact about to be sent. One that is sent as it is replaces what the artifact had, and is its last.
pub struct Artifact<'t, 'n, 's> {
    task: &'t mut TaskCx<'n, 's>,
    name: &'t str,
    description: Option<&'t str>,
    append: bool,
    last: bool,
}

impl<'t, 'n, 's> Artifact<'t, 'n, 's> {
    pub(super) fn new(task: &'t mut TaskCx<'n, 's>, name: &'t str) -> Self {
        Self { task, name, description: None, append: false, last: true }
    }

    /// Says what the artifact is.
    #[must_use]
    pub fn described(mut self, description: &'t str) -> Self {
        self.description = Some(description);
        self
    }

    /// Adds to what the artifact has.
    #[must_use]
    pub fn append(mut self) -> Self {
        self.append = true;
        self
    }

    /// More will follow.
    #[must_use]
    pub fn more_to_come(mut self) -> Self {
        self.last = false;
        self
    }

    /// Sends text.
    ///
    /// # Errors
    /// If the task is no longer ours.
    pub fn text(self, text: fmt::Arguments<'_>) -> Pause<'t, 'n, 's> {
        self.parts(&[Piece::Text(text)])
    }

    /// Sends parts of any kind.
    ///
    /// # Errors
    /// If the task is no longer ours.
    pub fn parts(self, parts: &[Piece<'_>]) -> Pause<'t, 'n, 's> {
        let Self { task, name, description, append, last } = self;
        let chunk = Chunk { artifact: name, description, append, last, parts };
        let told = task.node.engine().record_chunk(task.now(), task.key, &chunk);
        let told = task.told(told.map(|_| ()));
        task.pause(told)
    }
}

/// A value of a skill's own type as JSON, ready to be sent as a data part.
pub struct Data<const N: usize> {
    bytes: [u8; N],
    len: usize,
}

impl<const N: usize> Data<N> {
    /// Writes the value. `None` if it is longer than `N` bytes.
    pub fn of<T: Serialize>(value: &T) -> Option<Self> {
        let mut bytes = [0; N];
        let len = serde_json_core::to_slice(value, &mut bytes).ok()?;
        Json::parse(bytes.get(..len)?).ok()?;
        Some(Self { bytes, len })
    }

    /// The part.
    pub fn piece(&self) -> Piece<'_> {
        // cannot fail: it was checked when it was written.
        let text = self.bytes.get(..self.len).and_then(|bytes| core::str::from_utf8(bytes).ok());
        Piece::Data(text.map_or(Json::EMPTY_OBJECT, Json::of_checked))
    }
}
