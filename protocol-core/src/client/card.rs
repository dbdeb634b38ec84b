//! What an agent says about itself, whichever version it is written for.

use super::{Unreadable, Version};
use crate::{
    dialect::{
        asking,
        read::{members, name, required},
    },
    json::{Json, Text},
};

/// An agent's card.
#[derive(Clone, Copy, Debug)]
pub struct Card<'a> {
    /// What the agent is called.
    pub name: Text<'a>,
    /// What it is.
    pub description: Option<Text<'a>>,
    /// Which version of itself it is.
    pub version: Option<Text<'a>>,
    /// It can be followed live.
    pub is_streaming: bool,
    /// The card as it came.
    pub raw: Json<'a>,
}

/// Something that an agent can do.
#[derive(Clone, Copy, Debug)]
pub struct CardSkill<'a> {
    /// Its name for machines.
    pub id: Option<Text<'a>>,
    /// Its name for people.
    pub name: Option<Text<'a>>,
    /// What it does.
    pub description: Option<Text<'a>>,
    raw: Json<'a>,
}

/// A way to reach an agent.
#[derive(Clone, Copy, Debug)]
pub struct Interface<'a> {
    /// Where.
    pub url: Text<'a>,
    /// What is spoken there; where the card does not say it is JSON-RPC.
    pub binding: Option<Text<'a>>,
    /// In which version.
    pub version: Option<Text<'a>>,
}

/// Where and in which version to ask an agent.
#[derive(Clone, Copy, Debug)]
pub struct Place<'a> {
    /// In which version.
    pub version: Version,
    /// Where.
    pub url: Text<'a>,
    /// The card says which version that is. If not, and the agent does not know the method, the one before may do.
    pub is_sure: bool,
}

impl<'a> Card<'a> {
    /// Reads a card.
    ///
    /// # Errors
    /// If it is none: a card has a name, and says what the agent can do or where it is.
    pub fn read(body: &'a [u8]) -> Result<Self, Unreadable> {
        let raw = Json::parse(body).map_err(Unreadable::Json)?;
        let names = ["name", "description", "version", "capabilities", "skills", "url", "supportedInterfaces"];
        let [title, description, version, capabilities, skills, url, listed] = members(raw, names, "the card")?;
        required(skills.or(url).or(listed), "supportedInterfaces")?;
        let streaming = capabilities.and_then(|capabilities| capabilities.member("streaming"));
        Ok(Self {
            name: required(name(title, "name")?, "name")?,
            description: name(description, "description")?,
            version: name(version, "version")?,
            is_streaming: streaming.and_then(Json::bool).unwrap_or(false),
            raw,
        })
    }

    /// What it can do.
    pub fn skills(&self) -> impl Iterator<Item = CardSkill<'a>> + use<'a> {
        self.raw.member("skills").into_iter().flat_map(Json::items).map(|raw| {
            let text = |name| raw.member(name).and_then(Json::text).filter(|text| !text.is_empty());
            CardSkill { id: text("id"), name: text("name"), description: text("description"), raw }
        })
    }

    /// How it can be reached, the preferred way first.
    pub fn interfaces(&self) -> impl Iterator<Item = Interface<'a>> + use<'a> {
        asking::interfaces(self.raw).filter_map(|interface| {
            Some(Interface { url: interface.url?, binding: interface.binding, version: interface.version })
        })
    }

    /// The names of its ways to say who one is, and each as the card has it. In the oldest version there are names only.
    pub fn schemes(&self) -> impl Iterator<Item = (Text<'a>, Json<'a>)> + use<'a> {
        let named = self.raw.member("securitySchemes").into_iter().flat_map(Json::members);
        let oldest = self.raw.member("authentication").and_then(|auth| auth.member("schemes"));
        let oldest = oldest.into_iter().flat_map(Json::items).filter_map(|scheme| Some((scheme.text()?, scheme)));
        let has_named = named.clone().next().is_some();
        named.chain(oldest.filter(move |_| !has_named))
    }

    /// Where to ask: at the newest interface that is spoken here, or in the version that is wanted. `None` if the card has
    /// none.
    pub fn place(&self, wanted: Option<Version>) -> Option<Place<'a>> {
        let asking::Place { asking, url, is_sure } = asking::choose(self.raw, wanted.map(|version| version.0))?;
        Some(Place { version: Version(asking), url, is_sure })
    }
}

impl<'a> CardSkill<'a> {
    /// What one can say to use it.
    pub fn examples(&self) -> impl Iterator<Item = Text<'a>> + use<'a> {
        self.raw.member("examples").into_iter().flat_map(Json::items).filter_map(Json::text)
    }
}
