//! Why a server is not registered.

use std::fmt;
use std::io;

use howdah_wire::rpc::{Accepted, Denied};
use howdah_wire::xdr::DecodeError;

/// Why a server is not registered.
#[derive(Debug)]
pub enum RegistrationError {
    /// No rpcbind runs here, or none that takes connections.
    Unreachable(io::Error),
    /// Another server is registered, and it runs.
    Taken {
        /// The program.
        program: u32,
        /// The port that is registered for it.
        port: u16,
        /// The owner of the registration, if rpcbind said so.
        owner: String,
    },
    /// rpcbind took none of the registrations.
    Refused,
    /// The connection to rpcbind broke.
    Broken {
        /// What was asked.
        step: &'static str,
        /// Why.
        cause: io::Error,
    },
    /// rpcbind refused the call itself.
    Unanswered {
        /// What was asked.
        step: &'static str,
        /// What it said.
        outcome: Result<Accepted, Denied>,
    },
    /// rpcbind answered what is no answer.
    Garbled {
        /// What was asked.
        step: &'static str,
        /// What is wrong with it.
        cause: DecodeError,
    },
}

impl fmt::Display for RegistrationError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreachable(cause) => write!(formatter, "connecting to the rpcbind of this host: {cause}"),
            Self::Taken { program, port, owner } => {
                let server = if *program == howdah_wire::mount::PROGRAM { "mountd" } else { "NFS server" };
                write!(
                    formatter,
                    "registering with rpcbind: another {server} is registered, on port {port}"
                )?;
                if owner.is_empty() { Ok(()) } else { write!(formatter, " by {owner}") }
            }
            Self::Refused => formatter.write_str(
                "registering with rpcbind: it took none of the registrations; may this user make any?",
            ),
            Self::Broken { step, cause } => write!(formatter, "{step} rpcbind: {cause}"),
            Self::Unanswered { step, outcome } => {
                write!(formatter, "{step} rpcbind: it refused the call: {outcome:?}")
            }
            Self::Garbled { step, cause } => {
                write!(formatter, "{step} rpcbind: its answer makes no sense: {cause}")
            }
        }
    }
}

impl std::error::Error for RegistrationError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Unreachable(cause) | Self::Broken { cause, .. } => Some(cause),
            Self::Garbled { cause, .. } => Some(cause),
            Self::Taken { .. } | Self::Refused | Self::Unanswered { .. } => None,
        }
    }
}
