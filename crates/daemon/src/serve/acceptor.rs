//! The helpers that read the keytab of a server, and their refusals in words that say what to do.

use anyhow::{Context, Result};
use howdah_kerberos::{GssFailure, Helper, HelperError, HelperSettings};
use howdah_server::gss::{AcceptedToken, TokenAcceptor, TokenRefusal};

/// Helpers, so that one token that takes long keeps no other waiting.
const HELPERS: usize = 2;

/// `GSS_S_FAILURE` (RFC 2743 1.2.1.1).
const FAILURE: u32 = 13 << 16;
/// `GSS_S_DEFECTIVE_TOKEN`.
const DEFECTIVE_TOKEN: u32 = 9 << 16;
/// `GSS_S_BAD_MECH`.
const BAD_MECHANISM: u32 = 1 << 16;

/// Where MIT Kerberos counts the errors of RFC 4120 7.5.9 from.
const ERROR_BASE: u32 = (-1_765_328_384_i32).cast_unsigned();

/// Makes contexts of tokens by helpers.
pub struct KerberosAcceptor(Helper);

impl KerberosAcceptor {
    /// Starts helpers. To be called before rights are given up.
    pub fn start(settings: &HelperSettings) -> Result<Self> {
        Helper::start(settings, HELPERS).map(Self).context("starting Kerberos, which exports ask for by sec")
    }
}

impl TokenAcceptor for KerberosAcceptor {
    fn accept(&self, token: &[u8]) -> Result<AcceptedToken, TokenRefusal> {
        let accepted = self.0.accept(token).map_err(refusal)?;
        let howdah_kerberos::AcceptedContext { reply, client, service, lucid } = accepted;
        Ok(AcceptedToken { reply, client, service, lucid })
    }

    fn width(&self) -> usize {
        HELPERS
    }
}

/// The status for the client, and a sentence for the log with cause and remedy.
fn refusal(error: HelperError) -> TokenRefusal {
    let (major, minor) = match &error {
        HelperError::Gss(failure) => (failure.major, failure.minor),
        HelperError::Mechanism(_) => (BAD_MECHANISM, 0),
        HelperError::TooLong(_) => (DEFECTIVE_TOKEN, 0),
        _ => (FAILURE, 0),
    };
    let why = match &error {
        HelperError::Gss(failure) => match remedy(failure) {
            Some(remedy) => format!("{error}; {remedy}"),
            None => error.to_string(),
        },
        _ => error.to_string(),
    };
    TokenRefusal { major, minor, why }
}

/// What an administrator does about a refusal.
fn remedy(failure: &GssFailure) -> Option<&'static str> {
    // The errors of the protocol, by their numbers in RFC 4120.
    let of_protocol = failure.minor.wrapping_sub(ERROR_BASE);
    Some(match of_protocol {
        31 | 41 => {
            "the key of the service has changed: fetch it again (ktadd), and have the user run kdestroy and kinit"
        }
        32 => "the ticket of the client has ended: its user must run kinit",
        33 => "the ticket is not valid yet: compare the clocks of the client, the KDC and this host",
        34 => "it came twice: if it was not sent twice, two servers share one record of what was accepted",
        35 | 36 => "the client asked for another service: it must mount by the name that the keytab has",
        37 => "the clocks of the client and this host differ by more than five minutes: set them by NTP",
        44 => "the keytab has no key of the ticket's version: fetch it again (ktadd)",
        45 => "the keytab has no such key: add nfs/NAME for each name that clients mount by (ktadd)",
        _ if failure.text.contains("keytab") || failure.text.contains("key table") => {
            "list the keytab (klist -ekt): it must have nfs/NAME for each name that clients mount by, \
             with a key of each ticket's version, of enctype 17 to 20"
        }
        _ if failure.text.contains("ncryption type") => {
            "only the enctypes 17 to 20 (AES) are accepted: change the keys of client and service"
        }
        // MIT's library has no reason for a request that it cannot read.
        _ if failure.minor == 0 && failure.text.ends_with("Success") => {
            "what came is no request with a ticket, or a damaged one"
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use howdah_gss::InitialToken;

    use super::*;

    fn failure(minor: u32, text: &str) -> TokenRefusal {
        refusal(HelperError::Gss(GssFailure { major: 13 << 16, minor, text: text.to_owned() }))
    }

    #[test]
    fn each_refusal_says_what_to_do() {
        for (number, words) in [
            (31, "ktadd"),
            (32, "kinit"),
            (33, "clocks"),
            (34, "twice"),
            (36, "by the name"),
            (37, "five minutes"),
            (44, "version"),
            (45, "nfs/NAME"),
        ] {
            let refused = failure(ERROR_BASE + number, "what the library says");
            assert!(refused.why.starts_with("what the library says; "), "{}", refused.why);
            assert!(refused.why.contains(words), "{}", refused.why);
            assert_eq!((refused.major, refused.minor), (13 << 16, ERROR_BASE + number));
        }
        assert!(failure(1, "No key table entry found").why.contains("klist"));
        assert!(failure(1, "Encryption type not permitted").why.contains("17 to 20"));
        assert!(failure(0, "Unspecified GSS failure: Success").why.ends_with("a damaged one"));
        assert_eq!(failure(1, "something else").why, "something else");
        let other = refusal(HelperError::Mechanism(InitialToken::Negotiation));
        assert_eq!(other.major, BAD_MECHANISM);
    }
}
