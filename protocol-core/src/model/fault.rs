//! What can be wrong with a request. A fault becomes a number only through a dialect's table.

/// A refusal: what kind, where in the request, and why.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub(crate) struct Fault {
    /// What kind of fault.
    pub kind: FaultKind,
    /// The member it is about, or nothing.
    pub field: &'static str,
    /// What is wrong with it, or nothing.
    pub why: &'static str,
    /// The byte of the body it is about, for text that is no JSON.
    pub at: Option<u32>,
}

/// The kinds of fault, in the words of the specification.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[repr(u8)]
pub enum FaultKind {
    /// The body is no JSON.
    Parse,
    /// The body is no request.
    InvalidRequest,
    /// No such method.
    MethodNotFound,
    /// The parameters don't fit the method.
    InvalidParams,
    /// Our fault.
    Internal,
    /// No such task.
    TaskNotFound,
    /// The task has ended and can't be canceled.
    TaskNotCancelable,
    /// The agent sends no push notifications.
    PushNotSupported,
    /// The agent does not do this.
    UnsupportedOperation,
    /// The agent neither takes nor gives that media type.
    ContentTypeNotSupported,
    /// The agent's answer was not valid.
    InvalidAgentResponse,
    /// There is no extended card.
    ExtendedCardNotConfigured,
    /// The client must name an extension that the agent requires.
    ExtensionRequired,
    /// The agent does not speak that version.
    VersionNotSupported,
    /// The task has ended and takes no more messages.
    TaskEnded,
    /// Every place is taken: try again later.
    Busy,
    /// The caller is not known here.
    Unauthenticated,
    /// The caller is known and may not.
    Forbidden,
    /// The caller asks too often.
    TooOften,
}

impl FaultKind {
    /// How many there are.
    pub const COUNT: usize = 19;

    /// All of them, in words that need no dialect: for logs and counters.
    pub const NAMES: [&'static str; Self::COUNT] = [
        "parse",
        "invalid_request",
        "method_not_found",
        "invalid_params",
        "internal",
        "task_not_found",
        "task_not_cancelable",
        "push_not_supported",
        "unsupported_operation",
        "content_type_not_supported",
        "invalid_agent_response",
        "extended_card_not_configured",
        "extension_required",
        "version_not_supported",
        "task_ended",
        "busy",
        "unauthenticated",
        "forbidden",
        "too_often",
    ];

    /// In words that need no dialect.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        Self::NAMES.get(self as usize).copied().unwrap_or_default()
    }

    /// All of them, in the order of their numbers.
    pub(crate) const ALL: [Self; Self::COUNT] = [
        Self::Parse,
        Self::InvalidRequest,
        Self::MethodNotFound,
        Self::InvalidParams,
        Self::Internal,
        Self::TaskNotFound,
        Self::TaskNotCancelable,
        Self::PushNotSupported,
        Self::UnsupportedOperation,
        Self::ContentTypeNotSupported,
        Self::InvalidAgentResponse,
        Self::ExtendedCardNotConfigured,
        Self::ExtensionRequired,
        Self::VersionNotSupported,
        Self::TaskEnded,
        Self::Busy,
        Self::Unauthenticated,
        Self::Forbidden,
        Self::TooOften,
    ];
}

impl Fault {
    /// A fault that needs no more words.
    pub(crate) const fn new(kind: FaultKind) -> Self {
        Self { kind, field: "", why: "", at: None }
    }

    /// A fault with its reason.
    pub(crate) const fn because(kind: FaultKind, why: &'static str) -> Self {
        Self { kind, field: "", why, at: None }
    }

    /// Wrong parameters: which, and why.
    pub(crate) const fn params(field: &'static str, why: &'static str) -> Self {
        Self { kind: FaultKind::InvalidParams, field, why, at: None }
    }

    /// Full: what was full.
    pub(crate) const fn busy(what: &'static str) -> Self {
        Self::because(FaultKind::Busy, what)
    }
}
