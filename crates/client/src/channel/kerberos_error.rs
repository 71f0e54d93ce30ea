//! Why a call cannot be protected by Kerberos.

use std::fmt;

use howdah_wire::xdr::DecodeError;

/// No Kerberos context for a user. Those of tickets hold the words of the library, and what to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KerberosError {
    /// The user's ticket has ended.
    Expired(String),
    /// The user has no ticket.
    NoTicket(String),
    /// There is no ticket for the server, or nobody who gives one.
    Unavailable(String),
    /// The server does not answer. Whether that may change.
    NoAnswer {
        /// Why.
        cause: String,
        /// Whether it was only late.
        is_late: bool,
    },
    /// The server does not accept the ticket (RFC 2743 1.2.1.1).
    Refused {
        /// `GSS_S_…`.
        major: u32,
        /// What the server's mechanism says of it.
        minor: u32,
    },
    /// The reply that makes the context is not signed with its key.
    NotGenuine,
    /// The reply is not what the protocol says.
    Malformed(DecodeError),
}

impl fmt::Display for KerberosError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Expired(why) | Self::NoTicket(why) | Self::Unavailable(why) => formatter.write_str(why),
            Self::NoAnswer { cause, is_late } => {
                let hint = if *is_late { "" } else { "; check that an export there takes Kerberos (sec)" };
                write!(formatter, "asking the server for a Kerberos context: {cause}{hint}")
            }
            Self::Refused { major, minor } => write!(
                formatter,
                "the server refuses the Kerberos ticket: {} (GSS major {major:#010x}, minor {minor}; the server's log says more)",
                reason(*major, *minor)
            ),
            Self::NotGenuine => formatter.write_str(
                "the server's Kerberos reply has a wrong signature: somebody may interfere on the way",
            ),
            Self::Malformed(error) => write!(formatter, "reading the server's Kerberos reply: {error}"),
        }
    }
}

impl std::error::Error for KerberosError {}

/// The first error of Kerberos' own (RFC 4120 7.5.9), as its library counts them.
const KERBEROS: u32 = 2_529_638_912;
/// Of Linux: the library passes on why it cannot open the keytab.
const EACCES: u32 = 13;

/// A routine error (RFC 2743 1.2.1.1), which is the third byte, and what to check.
fn reason(major: u32, minor: u32) -> &'static str {
    match major >> 16 & 0xff {
        1 => "it does not speak this mechanism",
        6 | 9 => {
            "the ticket cannot be read; compare the server's keytab with the KDC's key (kvno nfs/SERVER)"
        }
        7 if minor == EACCES => "it has no right to read its keytab; give it to the user that it runs as",
        7 => "it has no key of its own; create a keytab with nfs/SERVER there",
        10 => "the token cannot be read",
        11 | 12 => "a ticket or the context has expired; compare the clocks of both hosts",
        13 => match minor.wrapping_sub(KERBEROS) {
            33 | 37 => "the clocks of both hosts differ by more than five minutes: set them by NTP",
            35 => {
                "its keytab has no key of nfs/SERVER; add one (kadmin: ktadd), or name another with krb5name="
            }
            31 => "the key in its keytab is not the KDC's; fetch it again there (kadmin: ktadd)",
            44 => {
                "its keytab has no key of the ticket's version; fetch it again there (ktadd), or a new ticket here (kinit)"
            }
            _ => "check the clocks of both hosts, and that its keytab has the key of nfs/SERVER",
        },
        _ => "check its keytab and its clock",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clocks_that_differ_are_named() {
        let said = |minor| KerberosError::Refused { major: 13 << 16, minor }.to_string();
        assert!(said(2_529_638_949).contains("more than five minutes"), "{}", said(2_529_638_949));
        assert!(said(0).contains("keytab"), "{}", said(0));
    }

    #[test]
    fn what_is_wrong_with_a_keytab_is_named() {
        for (major, minor, part) in [
            (13, 2_529_638_956, "no key of the ticket's version"),
            (13, 2_529_638_947, "no key of nfs/SERVER"),
            (13, 2_529_638_943, "is not the KDC's"),
            (7, 13, "no right to read its keytab"),
            (7, 39_756_033, "no key of its own"),
        ] {
            let said = KerberosError::Refused { major: major << 16, minor }.to_string();
            assert!(said.contains(part), "{said}");
        }
    }

    #[test]
    fn a_server_without_kerberos_is_a_possible_cause() {
        let said =
            |is_late| KerberosError::NoAnswer { cause: "AUTH_TOOWEAK".to_owned(), is_late }.to_string();
        assert!(said(false).contains("takes Kerberos"), "{}", said(false));
        assert!(!said(true).contains("takes Kerberos"), "{}", said(true));
    }
}
