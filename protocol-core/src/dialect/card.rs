//! One card for every client: the members of each dialect that is served, side by side.

use super::{v0_1, v0_3, v1_0};
use crate::encode::{
    Field as F, List,
    Op::{Each, If, Lit, Member, Put, Unless},
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
    Lit(",\"capabilities\":{\"streaming\":true,\"pushNotifications\":false"),
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

/// For old and new readers at once: `type` and its friends first, then the wrapper of the newer ones, which would otherwise
/// be taken for something else (DIALECTS.md 6.1).
const SCHEMES: Ops = &[Lit(",\"securitySchemes\":{\
         \"bearer\":{\"type\":\"http\",\"scheme\":\"Bearer\",\"httpAuthSecurityScheme\":{\"scheme\":\"Bearer\"}},\
         \"apiKey\":{\"type\":\"apiKey\",\"in\":\"header\",\"name\":\"X-API-Key\",\
         \"apiKeySecurityScheme\":{\"location\":\"header\",\"name\":\"X-API-Key\"}},\
         \"basic\":{\"type\":\"http\",\"scheme\":\"Basic\",\"httpAuthSecurityScheme\":{\"scheme\":\"Basic\"}}}")];
