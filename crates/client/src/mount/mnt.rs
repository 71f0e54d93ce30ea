//! MNT: the handle of a directory by its path. Which part of a path is an export, only the server knows: the longest is
//! tried first, then shorter ones, and what was cut off is looked up as names below.

use std::time::Duration;

use howdah_tls::ClientTls;
use howdah_vfs::{Caller, Handle};
use howdah_wire::mount::{self, DirectoryPath, Status, mnt};
use howdah_wire::rpc::AuthFlavor;
use howdah_wire::xdr::{Decode, DecodeError, Decoder};

use super::export::exports;
use super::service::{Service, results};
use super::{Contact, MountError, Mounted, Place};
use crate::channel::{CallError, Pending, ProcedureReport};
use crate::url::join;

/// A directory of a server.
pub struct Mount {
    /// Names it.
    pub handle: Handle,
    /// How calls may be authenticated, as far as the server says.
    pub flavors: Vec<AuthFlavor>,
    /// The names of the path that are not part of what was mounted.
    pub below: Vec<Vec<u8>>,
    /// What was called to mount it.
    pub calls: Vec<ProcedureReport>,
    /// Takes it back when it is dropped.
    pub mounted: Mounted,
}

/// A directory in a reply to MNT.
struct Told {
    handle: Handle,
    flavors: Vec<AuthFlavor>,
}

/// Mounts as much of a path as the server exports, asking at `place`, over TLS if it is to be. A path that
/// `may_be_none` is often no directory, but a file or new: its parent is asked for beside it, which saves a round trip.
pub fn mount(
    place: Place,
    (path, may_be_none): (&[Vec<u8>], bool),
    caller: Caller,
    patience: Duration,
    tls: Option<ClientTls>,
) -> Result<Mount, MountError> {
    let program = (mount::PROGRAM, mount::VERSION_3);
    let service =
        Service::open(place.address, place.transport, program, caller.clone(), patience, tls.clone())
            .map_err(|error| MountError::Unreachable {
                place,
                cause: error.into(),
                contact: Contact::None,
            })?;
    let unreachable =
        |cause: CallError| MountError::Unreachable { place, cause, contact: Contact::of(&service.report()) };
    let mut refusal = None;
    let first = ask(&service, &join(path));
    let parent = path.split_last().filter(|_| may_be_none).map(|(_, parent)| join(parent));
    let second = parent.as_deref().map(|parent| ask(&service, parent));
    let mut asked = std::iter::once(first).chain(second);
    for length in (0..=path.len()).rev() {
        let (export, below) = path.split_at(length);
        let export = join(export);
        let pending = asked.next().unwrap_or_else(|| ask(&service, &export));
        match results(pending, reply).map_err(unreachable)? {
            Ok(Told { handle, flavors }) => {
                let unused = parent.filter(|_| below.is_empty());
                if let Some(pending) = asked.next() {
                    // UMNT must not overtake the call that it takes back. What that was answered does not matter.
                    let _ = results(pending, reply);
                }
                let mounted = Mounted::new(place, (export, unused), caller, tls);
                let calls = service.procedures();
                return Ok(Mount { handle, flavors, below: below.to_vec(), calls, mounted });
            }
            Err(status) => refusal = Some(worse(refusal, status)),
        }
    }
    let status = refusal.unwrap_or(Status::NotFound);
    Err(MountError::Refused { path: join(path), status, exports: exports(&service).ok() })
}

/// How many names of a path, from its start, MNT can be asked for: the others are looked up below what was mounted.
pub(crate) fn mountable(path: &[Vec<u8>]) -> usize {
    let fits = |count: &usize| join(&path[..*count]).len() <= mount::PATH_MAX as usize;
    (0..=path.len()).rev().find(fits).unwrap_or_default()
}

fn ask(service: &Service, path: &[u8]) -> Pending {
    service.start(mnt::PROCEDURE, &mnt::Arguments { path: DirectoryPath(path) })
}

fn reply(decoder: &mut Decoder<'_>) -> Result<Result<Told, Status>, DecodeError> {
    Ok(mnt::Reply::decode(decoder)?.and_then(|reply| {
        let handle = Handle::new(reply.handle.0).map_err(|_| Status::ServerFault)?;
        Ok(Told { handle, flavors: reply.flavors })
    }))
}

/// The refusal that says more: that something may not be mounted, rather than that some part of the path is no export.
fn worse(so_far: Option<Status>, next: Status) -> Status {
    match so_far {
        None | Some(Status::NotFound | Status::NotDirectory) => next,
        Some(status) => status,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_that_mnt_cannot_carry_is_cut() {
        for (names, length, expected) in [(0, 1, 0), (4, 255, 4), (5, 255, 4), (600, 1, 512)] {
            assert_eq!(mountable(&vec![vec![b'a'; length]; names]), expected, "{names} x {length}");
        }
    }

    #[test]
    fn being_forbidden_says_more_than_not_being_there() {
        for (statuses, expected) in [
            (&[Status::NotFound, Status::AccessDenied, Status::NotFound][..], Status::AccessDenied),
            (&[Status::AccessDenied, Status::NotPermitted], Status::AccessDenied),
            (&[Status::NotDirectory, Status::NotFound], Status::NotFound),
        ] {
            let said = statuses.iter().fold(None, |so_far, &next| Some(worse(so_far, next)));
            assert_eq!(said, Some(expected));
        }
    }
}
