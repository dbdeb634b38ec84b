//! The life of a task.

/// The state of a task.
///
/// ```text
///               ┌────────────────────────────────────────────┐ follow-up message
///               ▼                                            │
/// ──────► Submitted ───────► Working ───────► InputRequired, AuthRequired
///             │  │              │ │ ▲                 │
///             │  └── rejected   │ └─┘ progress        │
///             ▼                 ▼                     ▼
///        Completed, Canceled, Failed, Rejected: the end, nothing leaves
/// ```
/// (One dialect lets a finished task be opened again: that is a fresh run, see `Move::Reopen`.)
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[repr(u8)]
pub enum TaskState {
    /// Accepted and waiting for a worker.
    Submitted,
    /// Being worked on.
    Working,
    /// Waiting for the client's next message.
    InputRequired,
    /// Waiting for the client's credentials.
    AuthRequired,
    /// Done.
    Completed,
    /// Ended by the client.
    Canceled,
    /// Ended by a failure.
    Failed,
    /// The agent declined it.
    Rejected,
}

impl TaskState {
    /// How many there are.
    pub(crate) const COUNT: usize = 8;

    /// All of them, in the order of their numbers.
    pub(crate) const ALL: [Self; Self::COUNT] = [
        Self::Submitted,
        Self::Working,
        Self::InputRequired,
        Self::AuthRequired,
        Self::Completed,
        Self::Canceled,
        Self::Failed,
        Self::Rejected,
    ];

    /// Legal moves: row is from, each column a state in the order of [`TaskState::ALL`].
    const MOVES: [[u8; Self::COUNT]; Self::COUNT] = [
        // Sub Work Inp Auth Comp Canc Fail Rej
        [0, 1, 1, 1, 1, 1, 1, 1], // Submitted
        [0, 1, 1, 1, 1, 1, 1, 1], // Working
        [1, 0, 0, 0, 0, 1, 1, 0], // InputRequired
        [1, 0, 0, 0, 0, 1, 1, 0], // AuthRequired
        [0, 0, 0, 0, 0, 0, 0, 0], // Completed
        [0, 0, 0, 0, 0, 0, 0, 0], // Canceled
        [0, 0, 0, 0, 0, 0, 0, 0], // Failed
        [0, 0, 0, 0, 0, 0, 0, 0], // Rejected
    ];

    /// In a word, whatever the dialects say: for logs and counters.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Submitted => "submitted",
            Self::Working => "working",
            Self::InputRequired => "input_required",
            Self::AuthRequired => "auth_required",
            Self::Completed => "completed",
            Self::Canceled => "canceled",
            Self::Failed => "failed",
            Self::Rejected => "rejected",
        }
    }

    /// Whether a task in this state may move to `to`.
    pub(crate) const fn may_become(self, to: Self) -> bool {
        Self::MOVES[self as usize][to as usize] == 1
    }

    /// Whether nothing can happen to the task any more.
    pub const fn is_terminal(self) -> bool {
        matches!(self, Self::Completed | Self::Canceled | Self::Failed | Self::Rejected)
    }

    /// Whether the task waits for its client.
    pub const fn is_interrupted(self) -> bool {
        matches!(self, Self::InputRequired | Self::AuthRequired)
    }

    /// Whether a client that waits should be told now: the task ended or asks for something.
    pub const fn is_settled(self) -> bool {
        self.is_terminal() || self.is_interrupted()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_is_the_end_and_everything_alive_can_be_canceled() {
        for from in TaskState::ALL {
            assert_eq!(from.may_become(TaskState::Canceled), !from.is_terminal());
            if from.is_terminal() {
                assert!(TaskState::ALL.iter().all(|to| !from.may_become(*to)));
            }
        }
    }

    #[test]
    fn a_question_is_answered_by_a_new_run_only() {
        for asked in [TaskState::InputRequired, TaskState::AuthRequired] {
            assert!(asked.may_become(TaskState::Submitted));
            assert!(!asked.may_become(TaskState::Working));
            assert!(!asked.may_become(TaskState::Completed));
        }
    }
}
