//! Why nothing was mounted.

use std::fmt;

use howdah_vfs::Shown;
use howdah_wire::mount::Status;

use super::Place;
use crate::channel::{CallError, Transport};

/// How many exports are named in an error.
const NAMED_MAX: usize = 8;

/// Why nothing was mounted.
#[derive(Debug, Clone)]
pub enum MountError {
    /// MOUNT does not answer there.
    Unreachable {
        /// Where it was looked for.
        place: Place,
        /// Why there is no answer.
        cause: CallError,
    },
    /// The server says no.
    Refused {
        /// What was to be mounted.
        path: Vec<u8>,
        /// Why not.
        status: Status,
        /// What the server exports, if it says.
        exports: Option<Vec<Vec<u8>>>,
    },
}

impl fmt::Display for MountError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreachable { place: Place { address, transport }, cause } => {
                let transport = if *transport == Transport::Udp { "UDP" } else { "TCP" };
                write!(formatter, "asking MOUNT at {address} over {transport}: {cause}")
            }
            Self::Refused { path, status, exports } => {
                write!(formatter, "mounting {}: {}", Shown(path), reason(*status))?;
                exports.as_ref().map_or(Ok(()), |exports| name(exports, formatter))
            }
        }
    }
}

fn reason(status: Status) -> &'static str {
    match status {
        Status::NotPermitted => {
            "not permitted; the server may want calls from ports that only root may use (its option `secure`)"
        }
        Status::NotFound => "there is no such export",
        Status::AccessDenied => "access denied; is it exported, and to this client?",
        Status::NotDirectory => "not a directory",
        Status::Io => "the server failed to read it",
        Status::Invalid => "the server takes it for no path",
        Status::NameTooLong => "the path is too long",
        Status::NotSupported => "the server does not do this",
        Status::ServerFault => "the server has a problem of its own",
    }
}

fn name(exports: &[Vec<u8>], formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
    if exports.is_empty() {
        return formatter.write_str("; the server exports nothing");
    }
    let named: Vec<_> = exports.iter().take(NAMED_MAX).map(|path| Shown(path).to_string()).collect();
    let more = if exports.len() > NAMED_MAX { ", and more" } else { "" };
    write!(formatter, "; the server exports {}{more} (`showmount -e` tells to whom)", named.join(", "))
}

impl std::error::Error for MountError {}
