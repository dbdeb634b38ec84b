//! How it ended: exit codes, and the sentence for each that is no good.

use core::{fmt, time::Duration};

use protocol_core::client::{TaskState, TooLong, Unreadable};

use super::{clean, http::Lost};

/// A good end, though not for everybody.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// The agent did it, or goes on doing it where nobody wanted to wait.
    Done,
    /// The agent did not do it.
    Undone,
    /// The agent waits for the next word, or for a credential.
    Asked,
    /// The agent has a word for it that is in no version.
    Unclear,
}

impl End {
    pub(super) const fn code(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::Undone => 1,
            Self::Asked => 6,
            Self::Unclear => 7,
        }
    }

    /// What a task's state means for whoever asked.
    pub(super) const fn of(state: Option<TaskState>) -> Self {
        match state {
            Some(TaskState::Canceled | TaskState::Failed | TaskState::Rejected) => Self::Undone,
            Some(TaskState::InputRequired | TaskState::AuthRequired) => Self::Asked,
            Some(TaskState::Submitted | TaskState::Working | TaskState::Completed) => Self::Done,
            None => Self::Unclear,
        }
    }
}

/// Why there is no answer. What a peer said is in it as it came, and cleaned where it is shown.
#[derive(Debug)]
pub(super) enum Trouble {
    /// The command line is wrong: how.
    Usage(String),
    /// Nobody is there: what was tried, and what happened.
    Unreachable(String, String),
    /// Nobody answered within that time.
    Silent(Duration),
    /// The connection broke.
    Lost(String),
    /// The agent says that something is wrong: its number for that, and its words.
    Refused(i64, String),
    /// It does not let us in: the status, whether we had a token, and how it wants to be told.
    Shut(u16, bool, Option<String>),
    /// There is somebody, but no agent that can be talked to: why.
    NoAgent(String),
}

impl Trouble {
    pub(super) const fn code(&self) -> u8 {
        match self {
            Self::Usage(_) => 2,
            Self::Unreachable(..) | Self::Silent(_) | Self::Lost(_) => 3,
            Self::Refused(..) => 4,
            Self::Shut(..) => 5,
            Self::NoAgent(_) => 7,
        }
    }

    /// What may be over by the next time.
    pub(super) const fn is_loss(&self) -> bool {
        matches!(self, Self::Unreachable(..) | Self::Silent(_) | Self::Lost(_))
    }

    /// An answer by which a server says that it cannot just now.
    pub(super) fn busy(status: u16) -> Self {
        Self::Refused(status.into(), "something is wrong with it, or it has no time".to_owned())
    }

    pub(super) fn unreadable(why: Unreadable) -> Self {
        Self::NoAgent(format!("the answer cannot be understood: {why}"))
    }
}

impl From<Lost> for Trouble {
    fn from(lost: Lost) -> Self {
        match lost {
            Lost::Silent(patience) => Self::Silent(patience),
            Lost::Broken(error) => Self::Lost(error.to_string()),
            Lost::Cut => Self::Lost("it was cut off in the middle of an answer".to_owned()),
            Lost::Garbled(what) => Self::NoAgent(format!("what answers speaks no HTTP that can be understood: {what}")),
            Lost::TooLarge(most) => Self::NoAgent(format!("the answer is longer than {most} bytes")),
        }
    }
}

impl From<TooLong> for Trouble {
    fn from(long: TooLong) -> Self {
        Self::NoAgent(long.to_string())
    }
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Usage(how) => write!(f, "{}", clean::line(how)),
            Self::Unreachable(whom, why) => write!(f, "cannot reach {}: {}", clean::line(whom), clean::line(why)),
            Self::Silent(patience) => {
                write!(f, "the agent has said nothing for {} s; --timeout SECONDS waits longer", patience.as_secs_f32())
            }
            Self::Lost(why) => write!(f, "the connection was lost: {}", clean::line(why)),
            Self::Refused(code, words) => write!(f, "the agent says: {} ({code})", clean::line(words)),
            Self::Shut(401, false, how) => {
                f.write_str("the agent wants a token: put it into the variable MOTE_TOKEN")?;
                match how {
                    Some(how) => write!(f, " (it says: {})", clean::line(how)),
                    None => Ok(()),
                }
            }
            Self::Shut(401, true, _) => f.write_str("the agent does not know the token in MOTE_TOKEN"),
            Self::Shut(status, ..) => write!(f, "that is not allowed, says the agent (HTTP {status})"),
            Self::NoAgent(why) => write!(f, "{}", clean::line(why)),
        }
    }
}
