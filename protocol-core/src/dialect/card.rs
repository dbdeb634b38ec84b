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
    If(F::Wants(v1_0::NUMBER), &[Lit(",\"extendedAgentCard\":false")]),
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
    Lit("}"),
];

const OLDER: Ops = &[
    Member(",\"protocolVersion\":\"0.3.0\",\"url\":", F::Url),
    Member(",\"preferredTransport\":\"JSONRPC\",\"additionalInterfaces\":[{\"url\":", F::Url),
    Lit(",\"transport\":\"JSONRPC\"}],\"supportsAuthenticatedExtendedCard\":false"),
];
