//! An answer in memory, and what to make of it.

use protocol_core::{
    FaultKind,
    client::{Answer, Failure, Page, Version},
};

use super::trouble::Trouble;

/// The body of an answer, and what it takes to read it.
#[derive(Debug)]
pub(super) struct Reply {
    pub(super) bytes: Vec<u8>,
    pub(super) id: u32,
    pub(super) version: Version,
}

impl Reply {
    /// What it says, if that is no error.
    pub(super) fn read(&self) -> Result<Answer<'_>, Trouble> {
        match self.version.read(&self.bytes, self.id).map_err(Trouble::unreadable)? {
            Answer::Error(failure) => Err(refused(&failure)),
            answer => Ok(answer),
        }
    }

    /// The tasks that it lists.
    pub(super) fn read_page(&self) -> Result<Page<'_>, Trouble> {
        let page = self.version.read_page(&self.bytes, self.id).map_err(Trouble::unreadable)?;
        page.map_err(|failure| refused(&failure))
    }
}

/// What an agent says is wrong, as it ends the command.
pub(super) fn refused(failure: &Failure<'_>) -> Trouble {
    let words = failure.message.map_or_else(|| "something is wrong".to_owned(), |message| message.to_string());
    let reason = failure.reason.map_or(String::new(), |reason| format!(", {reason}"));
    Trouble::Refused(failure.code, format!("{words}{reason}"))
}

/// The kind of the error that it is, if it is one.
pub(super) fn failure_of(reply: &Reply) -> Option<Option<FaultKind>> {
    match reply.version.read(&reply.bytes, reply.id) {
        Ok(Answer::Error(failure)) => Some(failure.kind),
        _ => None,
    }
}
