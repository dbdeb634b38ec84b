//! The pieces of documents that dialects share. What differs inside them is each dialect's own: `Own` looks it up.

use crate::encode::{
    Field as F, List,
    Op::{self, Each, If, Lit, Member, Own, Put, Status, Unless},
    Ops,
};

/// A message, an artifact's first members, a part: in the dialect's own shape.
const MESSAGE: Op = Own(|shapes| shapes.message);
const ARTIFACT_HEAD: Op = Own(|shapes| shapes.artifact_head);
const PART: Ops = &[Own(|shapes| shapes.part)];

pub(super) const LOWER_ROLES: [&str; 2] = ["user", "agent"];

/// A task, behind its ids.
pub(super) const TASK_REST: Op = Op::Nest(&[
    Lit(",\"status\":"),
    Status(&[STATUS]),
    If(
        F::Artifacts,
        &[
            Lit(",\"artifacts\":["),
            Each(
                List::Artifacts,
                &[
                    Lit("{"),
                    ARTIFACT_HEAD,
                    Lit("\"parts\":["),
                    Each(List::ArtifactParts, PART),
                    Lit("]"),
                    If(F::Dropped, DROPPED),
                    Lit("}"),
                ],
            ),
            Lit("]"),
        ],
    ),
    If(F::History, &[Lit(",\"history\":["), Each(List::History, &[MESSAGE]), Lit("]")]),
    Lit("}"),
]);

pub(super) const STATUS: Op = Op::Nest(&[
    Member("{\"state\":", F::State),
    If(F::HasMessage, &[Lit(",\"message\":"), MESSAGE]),
    Member(",\"timestamp\":", F::Time),
    Lit("}"),
]);

/// A chunk of an artifact, without its closing brace.
pub(super) const CHUNK: Op = Op::Nest(&[
    Lit("{"),
    ARTIFACT_HEAD,
    Lit("\"parts\":["),
    Each(List::Parts, PART),
    Lit("]"),
    If(F::Dropped, DROPPED),
]);

/// How a chunk goes with those before and after it.
pub(super) const CHUNK_FLAGS: Op =
    Op::Nest(&[If(F::Append, &[Lit(",\"append\":true")]), If(F::LastChunk, &[Lit(",\"lastChunk\":true")])]);

/// A message from its id on.
pub(super) const MESSAGE_REST: Op = Op::Nest(&[
    Member("\"messageId\":", F::MessageId),
    Member(",\"contextId\":", F::ContextId),
    If(F::InTask, &[Member(",\"taskId\":", F::TaskId)]),
    Member(",\"role\":", F::Role),
    Lit(",\"parts\":["),
    Each(List::Parts, PART),
    Lit("]"),
    Member(",\"metadata\":", F::Metadata),
    Member(",\"extensions\":", F::Extensions),
    Member(",\"referenceTaskIds\":", F::References),
    Lit("}"),
]);

/// The first members of an artifact that is known by its id.
pub(super) const ARTIFACT_BY_ID: Ops = &[
    Member("\"artifactId\":", F::ArtifactId),
    Member(",\"name\":", F::ArtifactId),
    Member(",\"description\":", F::Description),
    Lit(","),
];

/// Events of the versions that mark the last one.
pub(super) const FINAL: Op =
    Op::Nest(&[If(F::Final, &[Lit(",\"final\":true}")]), If(F::NotFinal, &[Lit(",\"final\":false}")])]);

/// An artifact that has lost its oldest chunks says so.
const DROPPED: Ops = &[Member(",\"metadata\":{\"droppedChunks\":", F::Dropped), Lit("}")];

/// The members of a file behind its content, in the versions that have files.
pub(super) const FILE_REST: Op =
    Op::Nest(&[Member(",\"mimeType\":", F::MediaType), Member(",\"name\":", F::Filename), Lit("}")]);

/// Before 1.0 data is an object: anything else is put into one.
pub(super) const DATA_OBJECT: Op =
    Op::Nest(&[Put(F::DataObject), If(F::DataOther, &[Member("{\"value\":", F::DataOther), Lit("}")])]);

/// The end of a part.
pub(super) const PART_REST: Op = Op::Nest(&[Member(",\"metadata\":", F::PartMetadata), Lit("}")]);

/// A push notification configuration behind its id, in the versions that have it in an object of its own.
pub(super) const PUSH_REST: Op = Op::Nest(&[
    Member("\"url\":", F::PushUrl),
    Member(",\"token\":", F::PushToken),
    If(
        F::PushScheme,
        &[
            Member(",\"authentication\":{\"schemes\":[", F::PushScheme),
            Member("],\"credentials\":", F::PushCredentials),
            Unless(F::PushCredentials, &[Lit("]")]),
            Lit("}"),
        ],
    ),
    Lit("}}"),
]);
