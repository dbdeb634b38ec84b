//! Why a call came to nothing, by who has to do something about it.

use core::fmt;

/// Why a call came to nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Failure {
    /// Whoever named the receiver: it is not to be called, or not like that. Nothing was sent, and trying again is in vain.
    Refused(&'static str),
    /// The network, or the receiver is down: it was not reached, or is gone.
    Unreachable(Unreachable),
    /// Receiver or network: it took too long.
    Late,
    /// Whoever runs the receiver: that is no answer.
    Garbled(Garbled),
    /// Whoever runs the receiver, or the owner of the device who says whom to trust: it is not who it should be.
    Untrusted(Untrusted),
    /// Whoever runs the receiver: it speaks no TLS that we speak.
    Unsecured(Unsecured),
    /// Us: what was being sent is gone, or is not as long as was said.
    Broken,
}

/// Why the receiver was not reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Unreachable {
    /// No network.
    Offline,
    /// Nobody has that name.
    Unknown,
    /// Nobody says who has that name.
    Unresolved,
    /// Nobody answers there.
    Silent,
    /// It hung up before it had answered.
    Lost,
}

/// What is wrong with an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Garbled {
    /// It does not begin as HTTP/1 does.
    Status,
    /// A line of its head is none.
    Head,
    /// Its head does not end.
    Endless,
    /// Nobody can tell where its body ends.
    Framing,
    /// It ended in the middle.
    Cut,
}

/// Why the receiver's certificate is not good enough.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Untrusted {
    /// It leads to nobody who is trusted here.
    Issuer,
    /// It was issued by somebody who may not issue any.
    NotAnAuthority,
    /// It is another host's.
    Name,
    /// Its time is over.
    Expired,
    /// Its time has not come.
    NotYetValid,
    /// It is signed in a way, or restricted in a way, that is not understood here.
    Unsupported,
    /// It is no certificate, or none for this.
    Malformed,
    /// Its owner did not prove that it is the owner.
    Unproven,
}

/// Why there is no TLS.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Unsecured {
    /// This device was built without.
    LeftOut,
    /// The receiver refuses what we offer.
    Refused,
    /// The receiver sends more at once than we can keep.
    TooLarge,
    /// That is no TLS, or somebody is in between.
    Garbled,
}

impl Failure {
    /// May the same request do better another time?
    #[must_use]
    pub const fn is_passing(self) -> bool {
        !matches!(self, Self::Refused(_) | Self::Unsecured(Unsecured::LeftOut))
    }

    /// What happened, in words that continue "the receiver was not called: ".
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Refused(why) => why,
            Self::Late => "it took too long",
            Self::Broken => "what was being sent is gone",
            Self::Unreachable(why) => match why {
                Unreachable::Offline => "there is no network",
                Unreachable::Unknown => "nobody has that name",
                Unreachable::Unresolved => "no name server answers",
                Unreachable::Silent => "nobody answers there",
                Unreachable::Lost => "it hung up before it had answered",
            },
            Self::Garbled(why) => match why {
                Garbled::Status => "it does not speak HTTP/1",
                Garbled::Head => "the head of its answer is malformed",
                Garbled::Endless => "the head of its answer does not end",
                Garbled::Framing => "the length of its answer is ambiguous",
                Garbled::Cut => "its answer ended in the middle",
            },
            Self::Untrusted(why) => match why {
                Untrusted::Issuer => "its certificate leads to no root that is trusted here",
                Untrusted::NotAnAuthority => "its certificate was issued by somebody who may not issue any",
                Untrusted::Name => "its certificate is for another host",
                Untrusted::Expired => "its certificate has expired",
                Untrusted::NotYetValid => "its certificate is not valid yet",
                Untrusted::Unsupported => {
                    "its certificate is signed or restricted in a way that is not understood here: ECDSA with P-256 or P-384 is"
                }
                Untrusted::Malformed => "its certificate is malformed, or not for servers",
                Untrusted::Unproven => "it did not prove that the certificate is its own",
            },
            Self::Unsecured(why) => match why {
                Unsecured::LeftOut => "this device was built without TLS",
                Unsecured::Refused => {
                    "it refuses TLS 1.3 with AES-128-GCM, P-256 and an ECDSA certificate: one with an RSA key will not do"
                }
                Unsecured::TooLarge => "its TLS records are larger than there is room for",
                Unsecured::Garbled => "it speaks no TLS 1.3, or somebody is in between",
            },
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl core::error::Error for Failure {}

impl From<Unreachable> for Failure {
    fn from(why: Unreachable) -> Self {
        Self::Unreachable(why)
    }
}

impl From<Garbled> for Failure {
    fn from(why: Garbled) -> Self {
        Self::Garbled(why)
    }
}
