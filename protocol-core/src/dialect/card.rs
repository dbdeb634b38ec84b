//! One card for every client: the members of each dialect that is served, side by side.

use super::{v0_1, v0_3, v1_0};
use crate::encode::{
    Field as F, List,
    Op::{Each, If, Lit, Put, Unless},
    Ops,
};

/// The card. A dialect that is not served leaves no member behind.
pub(crate) const CARD: Ops = &[
    Lit("{\"name\":"),
    Put(F::Name),
    Lit(",\"description\":"),
    Put(F::AgentDescription),
    Lit(",\"version\":"),
    Put(F::Version),
    If(
        F::Wants(v1_0::NUMBER),
        &[
            Lit(",\"supportedInterfaces\":["),
            Each(
                List::Interfaces,
                &[
                    Lit("{\"url\":"),
                    Put(F::Url),
                    Lit(",\"protocolBinding\":\"JSONRPC\",\"protocolVersion\":"),
                    Put(F::InterfaceVersion),
                    Lit("}"),
                ],
            ),
            Lit("]"),
        ],
    ),
    If(F::Wants(v0_3::NUMBER), OLDER),
    // The oldest clients need the address only; what the younger ones need besides does them no harm.
    Unless(F::Wants(v0_3::NUMBER), &[If(F::Wants(v0_1::NUMBER), &[Lit(",\"url\":"), Put(F::Url)])]),
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
            Lit("{\"id\":"),
            Put(F::SkillId),
            Lit(",\"name\":"),
            Put(F::SkillName),
            Lit(",\"description\":"),
            Put(F::SkillDescription),
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
        &[
            Lit(",\"provider\":{\"organization\":"),
            Put(F::ProviderName),
            Lit(",\"url\":"),
            Put(F::ProviderUrl),
            Lit("}"),
        ],
    ),
    If(F::DocumentationUrl, &[Lit(",\"documentationUrl\":"), Put(F::DocumentationUrl)]),
    Lit("}"),
];

const OLDER: Ops = &[
    Lit(",\"protocolVersion\":\"0.3.0\",\"url\":"),
    Put(F::Url),
    Lit(",\"preferredTransport\":\"JSONRPC\",\"additionalInterfaces\":[{\"url\":"),
    Put(F::Url),
    Lit(",\"transport\":\"JSONRPC\"}],\"supportsAuthenticatedExtendedCard\":false"),
];
