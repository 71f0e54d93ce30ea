//! Why there is no context: what the library says, or that nobody could be asked.

use std::fmt;
use std::io;

use howdah_gss::{InitialToken, LucidError};

/// The Debian package of the library.
pub(crate) const PACKAGE: &str = "libgssapi-krb5-2";

/// What the library says of a token or a name (RFC 2743 1.2.1.1).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GssFailure {
    /// `GSS_S_…`, for the peer.
    pub major: u32,
    /// A code of MIT Kerberos, for the peer.
    pub minor: u32,
    /// Both in words, for logs: `Unspecified GSS failure: Ticket expired`.
    pub text: String,
}

/// Why a helper gave no context.
#[derive(Debug)]
pub enum HelperError {
    /// The token is not of Kerberos; it was not handed on.
    Mechanism(InitialToken),
    /// The token or name is longer than any.
    TooLong(usize),
    /// The library refused it.
    Gss(GssFailure),
    /// The context is of a kind that is not accepted.
    Lucid(LucidError),
    /// All helpers were busy for as long as a caller waits.
    Busy,
    /// The helper did not answer in time. The library may be waiting for a KDC or a name server.
    Late,
    /// The helper died while it worked on this, and died again.
    Lost,
    /// All helpers have ended, and this process cannot start others.
    Ended,
    /// The helper could not load the Kerberos library: what its loader says.
    NoLibrary(String),
    /// The helper answered with what is no answer.
    Garbled,
    /// A helper could not be started, or its socket failed.
    System(&'static str, io::Error),
}

impl fmt::Display for HelperError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Mechanism(InitialToken::Negotiation) => formatter
                .write_str("the client offers SPNEGO; RPCSEC_GSS takes Kerberos 5 alone (mount with sec=krb5)"),
            Self::Mechanism(InitialToken::OtherMechanism) => {
                formatter.write_str("the client's token is of a mechanism other than Kerberos 5")
            }
            Self::Mechanism(_) => formatter.write_str("the client's token is malformed"),
            Self::TooLong(length) => write!(formatter, "a token of {length} bytes is too long"),
            Self::Gss(failure) => formatter.write_str(&failure.text),
            Self::Lucid(error) => error.fmt(formatter),
            Self::Ended => formatter.write_str("the Kerberos helpers were ended; restart howdah, which starts others"),
            Self::Busy => formatter.write_str("all Kerberos helpers are busy"),
            Self::Late => formatter.write_str(
                "the Kerberos library did not answer in time; check that the KDC and the name server can be reached",
            ),
            Self::Lost => formatter.write_str("the Kerberos helper died while it worked on this request"),
            Self::NoLibrary(why) => write!(
                formatter,
                "cannot load the Kerberos library ({why}); install it, on Debian and Ubuntu with: apt install {PACKAGE}"
            ),
            Self::Garbled => formatter.write_str("the Kerberos helper sent an answer that cannot be read"),
            Self::System(step, error) => write!(formatter, "{step}: {error}"),
        }
    }
}

impl std::error::Error for HelperError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::System(_, error) => Some(error),
            _ => None,
        }
    }
}

impl fmt::Display for GssFailure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.text)
    }
}
