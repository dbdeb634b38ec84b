//! What an agent says about itself.

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
