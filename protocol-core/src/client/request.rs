//! What a client asks, written in the words of a version.

use core::fmt;

use super::Version;
use crate::{
    dialect::{
        Method,
        asking::{self, Filling, Saying, Word},
    },
    json::{Sink, escape},
};

/// What is asked.
#[derive(Clone, Copy, Debug)]
pub enum Request<'a> {
    /// Says something, to be answered in one piece.
    Send(Say<'a>),
    /// Says something, to be answered by a stream.
    Stream(Say<'a>),
    /// Looks at a task.
    Get {
        /// Which one.
        task: &'a str,
    },
    /// Looks at all tasks, a page at a time.
    List {
        /// Those of this context.
        context: Option<&'a str>,
        /// The page, as the one before it told; without it, the first.
        page: Option<&'a str>,
    },
    /// Ends a task.
    Cancel {
        /// Which one.
        task: &'a str,
    },
    /// Follows a task.
    Subscribe {
        /// Which one.
        task: &'a str,
    },
}

/// Something that is said to an agent.
#[derive(Clone, Copy, Debug, Default)]
pub struct Say<'a> {
    /// The name of the message: no other one of this client may have it. In the oldest version a new task gets it.
    pub message: &'a str,
    /// What is said.
    pub parts: &'a [Saying<'a>],
    /// The task that it belongs to, if that is there already.
    pub task: Option<&'a str>,
    /// The context that it belongs to.
    pub context: Option<&'a str>,
    /// The answer shall come at once, and show the task as it is then, where that can be said.
    pub is_at_once: bool,
}

/// The version has no such call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unspoken;

impl fmt::Display for Unspoken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("this version of A2A has no such call")
    }
}

impl core::error::Error for Unspoken {}

impl Request<'_> {
    /// Whether it is answered by a stream.
    pub const fn is_stream(&self) -> bool {
        self.method().is_stream()
    }

    const fn method(&self) -> Method {
        match self {
            Self::Send(_) => Method::Send,
            Self::Stream(_) => Method::Stream,
            Self::Get { .. } => Method::Get,
            Self::List { .. } => Method::List,
            Self::Cancel { .. } => Method::Cancel,
            Self::Subscribe { .. } => Method::Subscribe,
        }
    }
}

impl Version {
    /// Whether there are words for a request.
    pub fn has(self, request: &Request<'_>) -> bool {
        asking::name_of(self.0.dialect, request.method()).is_some()
    }

    /// Whether a client can say that it does not wait for a task. Where it cannot, a stream tells at once which task it is.
    pub fn can_answer_at_once(self) -> bool {
        self.0.say.iter().any(|word| matches!(word, Word::AtOnce(_)))
    }

    /// Writes the body of a request, piece by piece and the same every time: one who must know its length first counts.
    ///
    /// # Errors
    /// If the version has no such call. Then nothing is written.
    pub fn write(self, id: u32, request: &Request<'_>, sink: &mut dyn Sink) -> Result<(), Unspoken> {
        let method = asking::name_of(self.0.dialect, request.method()).ok_or(Unspoken)?;
        let (words, filling) = match *request {
            Request::Send(say) | Request::Stream(say) => {
                let Say { message, parts, task, context, is_at_once } = say;
                let is_at_once = is_at_once && !request.is_stream();
                (self.0.say, Filling { message: Some(message), parts, task, context, is_at_once, page: None })
            }
            Request::Get { task } | Request::Cancel { task } | Request::Subscribe { task } => {
                (self.0.task, Filling { task: Some(task), ..Filling::default() })
            }
            Request::List { context, page } => (self.0.list, Filling { context, page, ..Filling::default() }),
        };
        sink.put("{\"jsonrpc\":\"2.0\",\"id\":");
        decimal(id, sink);
        sink.put(",\"method\":\"");
        escape(method, sink);
        sink.put("\",\"params\":");
        asking::write(words, &filling, sink);
        sink.put("}");
        Ok(())
    }
}

/// Writes a number; `core::fmt` would be four times as much code.
fn decimal(number: u32, sink: &mut dyn Sink) {
    let mut digits = [b'0'; 10];
    let (mut left, mut first) = (number, digits.len().saturating_sub(1));
    for (place, digit) in (0..digits.len()).zip(&mut digits).rev() {
        *digit = b'0'.wrapping_add((left % 10) as u8);
        if left > 0 {
            first = place;
        }
        left /= 10;
    }
    sink.put(digits.get(first..).and_then(|digits| core::str::from_utf8(digits).ok()).unwrap_or("0"));
}
