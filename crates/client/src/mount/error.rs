//! Why nothing was mounted.

use std::fmt;

use howdah_rpc::client::FirstBytes;
use howdah_vfs::Shown;
use howdah_wire::mount::Status;

use super::Place;
use crate::channel::{CallError, ChannelReport};

/// How many exports are named in an error.
const NAMED_MAX: usize = 8;

/// How far calls came that have no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Contact {
    /// Nobody took a connection, as far as that is known.
    #[default]
    None,
    /// A connection was taken, and nothing came on it.
    Silent,
    /// Connections were taken, and closed without a word.
    Closes,
}

impl Contact {
    /// Of a channel.
    pub(super) fn of(report: &ChannelReport) -> Self {
        let Some(lane) = report.lanes.first().filter(|lane| lane.connections > 0 && lane.received == 0)
        else {
            return Self::None;
        };
        if lane.connections > 1 || lane.local.is_none() { Self::Closes } else { Self::Silent }
    }

    /// What the place does, in words; none if nothing is known of it.
    pub(crate) fn told(self) -> Option<&'static str> {
        match self {
            Self::None => None,
            Self::Silent => Some("accepts a connection, but does not answer"),
            Self::Closes => Some("accepts connections, but closes them without an answer, as TLS may"),
        }
    }
}

/// Why nothing was mounted.
#[derive(Debug, Clone)]
pub enum MountError {
    /// MOUNT does not answer there.
    Unreachable {
        /// Where it was looked for.
        place: Place,
        /// Why there is no answer.
        cause: CallError,
        /// How far it came.
        contact: Contact,
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

impl MountError {
    /// Whether TLS does not begin.
    pub fn is_tls(&self) -> bool {
        matches!(self, Self::Unreachable { cause, .. } if cause.is_tls())
    }

    /// What the server's stream begins with, if that is another protocol than RPC.
    pub fn not_rpc(&self) -> Option<FirstBytes> {
        match self {
            Self::Unreachable { cause, .. } => cause.not_rpc(),
            Self::Refused { .. } => None,
        }
    }
}

impl fmt::Display for MountError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreachable { place: Place { address, transport }, cause, .. } => {
                write!(formatter, "asking MOUNT at {address} over {transport}: {cause}")
            }
            Self::Refused { path, status, exports } => {
                let exports = exports.as_deref();
                write!(formatter, "mounting {}: ", Shown(path))?;
                match exports.and_then(|exports| export_around(path, exports)) {
                    Some((export, true)) if *status == Status::NotFound => {
                        return write!(
                            formatter,
                            "the server exports {}, but does not find its directory; see its log",
                            Shown(export)
                        );
                    }
                    Some((export, false)) if *status == Status::NotFound => {
                        write!(formatter, "there is no such directory in export {}", Shown(export))?;
                    }
                    _ => formatter.write_str(reason(*status))?,
                }
                exports.map_or(Ok(()), |exports| name(exports, formatter))
            }
        }
    }
}

fn reason(status: Status) -> &'static str {
    match status {
        Status::NotPermitted => {
            "not permitted; the server may want calls from ports that only root may use (option `secure` of Linux, `privileged_ports` of howdah)"
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

/// The export that a path leads into, with the longest name, and whether the path is that name.
fn export_around<'e>(path: &[u8], exports: &'e [Vec<u8>]) -> Option<(&'e [u8], bool)> {
    let around = exports.iter().filter(|export| parts(path).take(parts(export).count()).eq(parts(export)));
    let longest = around.max_by_key(|export| parts(export).count())?;
    Some((longest, parts(longest).eq(parts(path))))
}

fn parts(path: &[u8]) -> impl Iterator<Item = &[u8]> {
    path.split(|byte| *byte == b'/').filter(|part| !part.is_empty())
}

fn name(exports: &[Vec<u8>], formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
    if exports.is_empty() {
        return formatter.write_str("; the server exports nothing");
    }
    let named: Vec<_> = exports.iter().take(NAMED_MAX).map(|path| Shown(path).to_string()).collect();
    let more = if exports.len() > NAMED_MAX { ", and more" } else { "" };
    write!(
        formatter,
        "; the server exports {}{more} (`showmount -e` lists the allowed clients)",
        named.join(", ")
    )
}

impl std::error::Error for MountError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_found_is_told_apart() {
        let said = |path: &str, exports: Option<&[&str]>| {
            let exports = exports.map(|names| names.iter().map(|name| name.as_bytes().to_vec()).collect());
            MountError::Refused { path: path.into(), status: Status::NotFound, exports }.to_string()
        };
        for (path, exports, expected) in [
            ("/x", None, "there is no such export"),
            ("/x", Some(&["/data"][..]), "there is no such export; the server exports /data"),
            ("/database", Some(&["/data"]), "there is no such export"),
            ("/data/", Some(&["/", "/data"]), "the server exports /data, but does not find its directory"),
            ("/", Some(&["/"]), "the server exports /, but does not find its directory"),
            ("/data/x/y", Some(&["/", "/data"]), "there is no such directory in export /data; the server"),
        ] {
            let said = said(path, exports);
            assert!(said.contains(expected), "{said}");
        }
    }
}
