//! Why there is no session, or no path: the step, the cause, and what to do.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use howdah_rpc::client::FirstBytes;
use howdah_vfs::{FsError, Shown};
use howdah_wire::nfs4::Status;

use crate::channel::{CallError, CallRefusal};

/// A step on the way to a file system.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EstablishStep {
    /// EXCHANGE_ID.
    Client,
    /// CREATE_SESSION.
    Session,
    /// The path, from the server's root on.
    Path(Vec<u8>),
}

/// Why there is no file system.
#[derive(Debug, Clone)]
pub enum EstablishError {
    /// There is no answer.
    Call(EstablishStep, CallError),
    /// There is no answer in time.
    Silent(EstablishStep, Duration),
    /// The server refuses.
    Refused(EstablishStep, Status),
    /// The server has referred the path to these places (`host:/path`), the best one first.
    Moved(EstablishStep, Vec<String>),
    /// The root cannot be looked at.
    Root(EstablishStep, FsError),
    /// The reply is not what the protocol says.
    Malformed(EstablishStep),
    /// It speaks none of these minor versions.
    MinorVersion(&'static str),
    /// Long handles cannot be kept.
    Handles {
        /// The file, unless they were to be kept in memory.
        file: Option<PathBuf>,
        /// Why.
        cause: Arc<io::Error>,
    },
    /// It takes too few operations in one compound.
    FewOperations {
        /// How many.
        granted: u32,
        /// How many are needed.
        needed: u32,
    },
}

impl EstablishError {
    pub(super) fn handle_file(file: Option<&Path>, cause: io::Error) -> Self {
        Self::Handles { file: file.map(Path::to_owned), cause: Arc::new(cause) }
    }

    /// Whether nothing there speaks this version of the protocol, or nothing answers.
    pub fn is_other_version(&self) -> bool {
        matches!(self, Self::Call(..) | Self::Silent(..) | Self::MinorVersion(_))
    }

    /// Whether another process keeps its long handles in the same file.
    pub fn is_handle_file_in_use(&self) -> bool {
        matches!(self, Self::Handles { cause, .. } if cause.kind() == io::ErrorKind::WouldBlock)
    }

    /// What the server's stream begins with, if that is another protocol than RPC.
    pub fn not_rpc(&self) -> Option<FirstBytes> {
        match self {
            Self::Call(_, cause) => cause.not_rpc(),
            _ => None,
        }
    }
}

impl fmt::Display for EstablishStep {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Client => write!(formatter, "asking for NFSv4 (EXCHANGE_ID)"),
            Self::Session => write!(formatter, "making an NFSv4 session (CREATE_SESSION)"),
            Self::Path(path) => write!(formatter, "looking up {} (NFSv4)", Shown(path)),
        }
    }
}

impl fmt::Display for EstablishError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Call(step, cause) => {
                let is_unknown = matches!(cause, CallError::Refused(CallRefusal::NotRun(_)));
                write!(formatter, "{step}: {cause}{}", if is_unknown { "; use version=3" } else { "" })
            }
            Self::Silent(step, waited) => {
                write!(
                    formatter,
                    "{step}: no answer within {waited:?}; does an NFS server listen on that port?"
                )
            }
            Self::Refused(step, status) => {
                write!(formatter, "{step}: refused with {status}{}", hint(*status))
            }
            Self::Moved(step, places) => match places.split_first() {
                Some((first, [])) => write!(formatter, "{step}: it is on another server: use {first}"),
                Some((first, more)) => {
                    write!(formatter, "{step}: it is on other servers: use {first}, or {}", more.join(", "))
                }
                None => write!(formatter, "{step}: it is on another server, which this one does not name"),
            },
            Self::Root(step, refusal) => write!(formatter, "{step}: {refusal}"),
            Self::Malformed(step) => {
                write!(formatter, "{step}: the server's reply makes no sense; see the log")
            }
            Self::MinorVersion(asked) => write!(
                formatter,
                "the server does not speak {asked}; try version=4, which takes 4.2 or 4.1, or version=3"
            ),
            Self::Handles { file: Some(file), cause } => {
                write!(formatter, "opening the file of NFSv4 handles {}: {cause}", file.display())
            }
            Self::Handles { file: None, cause } => write!(formatter, "asking for random bytes: {cause}"),
            Self::FewOperations { granted, needed } => write!(
                formatter,
                "the server takes {granted} operations in one call, and {needed} are needed; use version=3"
            ),
        }
    }
}

fn hint(status: Status) -> &'static str {
    match status {
        Status::WRONGSEC | Status::ACCESS | Status::PERM => {
            "; is it exported to this client, with this sec=, and to ports that anybody may use (its option `insecure`)?"
        }
        Status::CLID_INUSE => "; another user has a client of the same name there",
        _ => "",
    }
}

impl std::error::Error for EstablishError {}

#[cfg(test)]
mod tests {
    use howdah_wire::rpc::Accepted;

    use super::*;

    #[test]
    fn a_server_without_nfs4_is_to_be_asked_for_version_3() {
        let said = |cause| EstablishError::Call(EstablishStep::Client, cause).to_string();
        let mismatch = CallRefusal::NotRun(Accepted::ProgramMismatch { low: 3, high: 3 });
        let text = said(CallError::Refused(mismatch));
        assert!(text.ends_with("of this program only; use version=3"), "{text}");
        assert!(!said(CallError::TimedOut).contains("version=3"));
    }
}
