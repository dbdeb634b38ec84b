//! One card for every client: the members of each dialect that is served, side by side.

use super::{v0_1, v0_3, v1_0};
use crate::encode::{
    Field as F, List,
    Op::{self, Each, If, Lit, Member, Put, Unless},
    Ops,
};

/// The card. A dialect that is not served leaves no member behind.
pub(crate) const CARD: Ops = &[
    Member("{\"name\":", F::Name),
    Member(",\"description\":", F::AgentDescription),
    Member(",\"version\":", F::Version),
    If(
        F::Wants(v1_0::NUMBER),
        &[
            Lit(",\"supportedInterfaces\":["),
            Each(
                List::Interfaces,
                &[
                    Member("{\"url\":", F::Url),
                    Member(",\"protocolBinding\":\"JSONRPC\",\"protocolVersion\":", F::InterfaceVersion),
                    Lit("}"),
                ],
            ),
            Lit("]"),
        ],
    ),
    If(F::Wants(v0_3::NUMBER), OLDER),
    // The oldest clients need the address only; what the younger ones need besides does them no harm.
    Unless(F::Wants(v0_3::NUMBER), &[If(F::Wants(v0_1::NUMBER), &[Member(",\"url\":", F::Url)])]),
    Lit(",\"capabilities\":{\"streaming\":true,\"pushNotifications\":"),
    If(F::Pushes, &[Lit("true")]),
    Unless(F::Pushes, &[Lit("false")]),
    If(
        F::Wants(v1_0::NUMBER),
        &[Lit(",\"extendedAgentCard\":"), If(F::Guarded, &[Lit("true")]), Unless(F::Guarded, &[Lit("false")])],
    ),
    If(F::Wants(v0_3::NUMBER), &[Lit(",\"stateTransitionHistory\":false")]),
    Lit("},\"defaultInputModes\":["),
    Each(List::InputModes, &[Put(F::Word)]),
    Lit("],\"defaultOutputModes\":["),
    Each(List::OutputModes, &[Put(F::Word)]),
    Lit("],\"skills\":["),
    Each(
        List::Skills,
        &[
            Member("{\"id\":", F::SkillId),
            Member(",\"name\":", F::SkillName),
            Member(",\"description\":", F::SkillDescription),
            Lit(",\"tags\":["),
            Each(List::Tags, &[Put(F::Word)]),
            Lit("],\"examples\":["),
            Each(List::Examples, &[Put(F::Word)]),
            Lit("]}"),
        ],
    ),
    Lit("]"),
    If(
        F::ProviderName,
        &[Member(",\"provider\":{\"organization\":", F::ProviderName), Member(",\"url\":", F::ProviderUrl), Lit("}")],
    ),
    Member(",\"documentationUrl\":", F::DocumentationUrl),
    If(F::Guarded, SECURITY),
    Lit("}"),
];

/// How to say who one is.
const SECURITY: Ops = &[
    If(F::Wants(v1_0::NUMBER), SCHEMES),
    Unless(F::Wants(v1_0::NUMBER), &[If(F::Wants(v0_3::NUMBER), SCHEMES)]),
    If(
        F::Wants(v1_0::NUMBER),
        &[Lit(",\"securityRequirements\":[{\"schemes\":{\"bearer\":{\"list\":[]}}},\
               {\"schemes\":{\"apiKey\":{\"list\":[]}}},{\"schemes\":{\"basic\":{\"list\":[]}}}]")],
    ),
    If(F::Wants(v0_3::NUMBER), &[Lit(",\"security\":[{\"bearer\":[]},{\"apiKey\":[]},{\"basic\":[]}]")]),
    If(
        F::Wants(v0_1::NUMBER),
        &[Lit(",\"authentication\":{\"schemes\":[\"Bearer\",\"ApiKey\",\"Basic\"],\
               \"credentials\":\"{\\\"apiKeyHeader\\\":\\\"X-API-Key\\\"}\"}")],
    ),
];

const OLDER: Ops = &[
    Member(",\"protocolVersion\":\"0.3.0\",\"url\":", F::Url),
    Member(",\"preferredTransport\":\"JSONRPC\",\"additionalInterfaces\":[{\"url\":", F::Url),
    Lit(",\"transport\":\"JSONRPC\"}],\"supportsAuthenticatedExtendedCard\":"),
    If(F::Guarded, &[Lit("true")]),
    Unless(F::Guarded, &[Lit("false")]),
];

/// The schemes, each in the form of every dialect that is served.
const SCHEMES: Ops = &[
    Lit(",\"securitySchemes\":{\"bearer\":{"),
    If(F::Wants(v0_3::NUMBER), &[Lit("\"type\":\"http\",\"scheme\":\"Bearer\"")]),
    BOTH_FORMS,
    If(F::Wants(v1_0::NUMBER), &[Lit("\"httpAuthSecurityScheme\":{\"scheme\":\"Bearer\"}")]),
    Lit("},\"apiKey\":{"),
    If(F::Wants(v0_3::NUMBER), &[Lit("\"type\":\"apiKey\",\"in\":\"header\",\"name\":\"X-API-Key\"")]),
    BOTH_FORMS,
    If(F::Wants(v1_0::NUMBER), &[Lit("\"apiKeySecurityScheme\":{\"location\":\"header\",\"name\":\"X-API-Key\"}")]),
    Lit("},\"basic\":{"),
    If(F::Wants(v0_3::NUMBER), &[Lit("\"type\":\"http\",\"scheme\":\"Basic\"")]),
    BOTH_FORMS,
    If(F::Wants(v1_0::NUMBER), &[Lit("\"httpAuthSecurityScheme\":{\"scheme\":\"Basic\"}")]),
    Lit("}}"),
];

/// Between the two forms of a scheme. Old readers need `type` and its friends in every scheme. New ones need the wrapper, or
/// they take it for something else (DIALECTS.md 6.1); one of them leaves a card with a `type` to its user to read, so there
/// is none where nobody needs it.
const BOTH_FORMS: Op = If(F::Wants(v0_3::NUMBER), &[If(F::Wants(v1_0::NUMBER), &[Lit(",")])]);
