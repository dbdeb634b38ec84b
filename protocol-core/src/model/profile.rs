//! What an agent says about itself.

use super::Argument;

/// What a skill may do, from harmless to powerful.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Access {
    /// Looks only.
    Read,
    /// Changes something in the world.
    Act,
    /// Changes the device itself; never in the public card.
    Operator,
}

/// One thing an agent can do, in words for a model.
#[derive(Clone, Copy, Debug)]
pub struct Skill<'a> {
    /// Identifier, stable.
    pub id: &'a str,
    /// Name for people.
    pub name: &'a str,
    /// What it does, what it needs, what comes back.
    pub description: &'a str,
    /// Words to find it by.
    pub tags: &'a [&'a str],
    /// Requests as one would say them.
    pub examples: &'a [&'a str],
    /// What else it has to be told, and what that may be. The card says so behind the description.
    pub arguments: &'a [Argument<'a>],
    /// What it may do.
    pub access: Access,
}

/// Who is behind an agent.
#[derive(Clone, Copy, Debug)]
pub struct Provider<'a> {
    /// Name of the organization.
    pub organization: &'a str,
    /// Its address on the web.
    pub url: &'a str,
}

/// Everything the card says that is not protocol.
#[derive(Clone, Copy, Debug)]
pub struct Profile<'a> {
    /// Name of the agent.
    pub name: &'a str,
    /// What it is for.
    pub description: &'a str,
    /// Version of the agent, not of the protocol.
    pub version: &'a str,
    /// Who is behind it.
    pub provider: Option<Provider<'a>>,
    /// Where its manual is.
    pub documentation_url: Option<&'a str>,
    /// Media types it understands. `*/*` takes everything.
    pub input_modes: &'a [&'a str],
    /// Media types it answers with.
    pub output_modes: &'a [&'a str],
    /// What it can do.
    pub skills: &'a [Skill<'a>],
}

impl Profile<'static> {
    /// An agent that has no name yet, understands words and data, and answers with words: the rest of a shorter one.
    pub const PLAIN: Self = Self {
        name: "",
        description: "",
        version: "1",
        provider: None,
        documentation_url: None,
        input_modes: &["text/plain", "application/json"],
        output_modes: &["text/plain"],
        skills: &[],
    };
}
