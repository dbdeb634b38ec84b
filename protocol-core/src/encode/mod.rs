//! Answers as templates: a dialect says what its documents look like, the encoder walks the log and fills them in.
//!
//! A template is a constant list of [`Op`]s: literal text, fields, and loops over the log. [`Encoder`] runs it against
//! the engine and stops wherever the output buffer ends. It holds positions only, no borrow, and resumes at the very
//! byte, so that a document of any length goes out through a buffer of any size with work linear in its length.

mod encoder;
mod field;
mod out;

#[cfg(test)]
mod tests;

pub(crate) use encoder::{Encoder, Scene};
pub(crate) use field::Field;

use crate::dialect::Shapes;

/// A template.
pub(crate) type Ops = &'static [Op];

/// One step of a template.
#[derive(Clone, Copy)]
pub(crate) enum Op {
    /// This text.
    Lit(&'static str),
    /// The field as a JSON value; nothing if there is none.
    Put(Field),
    /// This text and the field as a JSON value; nothing at all if there is none.
    Member(&'static str, Field),
    /// The field's characters, without quotes.
    Bare(Field),
    /// The template, if there is such a field.
    If(Field, Ops),
    /// The template, if there is no such field.
    Unless(Field, Ops),
    /// The template for each of the list, commas between.
    Each(List, Ops),
    /// The template of the part's own kind: text, raw, url, data.
    ByPart(&'static [Ops; 4]),
    /// The template, with the task's status as its record.
    Status(Ops),
    /// Another template here.
    Nest(Ops),
    /// The dialect's own template for this.
    Own(fn(&Shapes) -> Ops),
    /// What this answer is about.
    Body,
}

/// What a template can loop over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum List {
    /// The tasks of a page.
    Tasks,
    /// The messages of the task's history, as many as are asked for.
    History,
    /// The artifacts of the task; the record is the artifact's first chunk.
    Artifacts,
    /// The parts of all chunks of the artifact.
    ArtifactParts,
    /// The parts of the record.
    Parts,
    /// The skills of the card.
    Skills,
    /// The tags and the examples of the skill.
    Tags,
    Examples,
    /// Media types of the card.
    InputModes,
    OutputModes,
    /// The interfaces of the card.
    Interfaces,
    /// Who is to be notified of the task.
    Pushes,
}
