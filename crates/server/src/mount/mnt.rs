//! MNT: the handle of an exported directory (RFC 1813 5.2.1).

use std::time::Instant;

use howdah_vfs::{FsError, Shown};
use howdah_wire::mount::Status;
use howdah_wire::mount::mnt::{Arguments, Reply as Answer, Reply1 as Answer1, Success};
use howdah_wire::xdr::Decode;

use super::MountProtocol;
use crate::exports::{MountedPath, ResolveError};
use crate::program::Refusal;
use crate::{Reply, Request};

/// Answers MNT of version 3.
pub fn run(mount: &MountProtocol, request: &mut Request<'_, '_>, reply: &mut Reply) -> Result<(), Refusal> {
    let path = Arguments::decode(&mut request.arguments)?.path.0;
    let exports = mount.exports();
    let identity =
        exports.identify(&request.header.credentials, request.principal).map_err(Refusal::Authentication)?;
    let (client, shown) = (request.peer.ends.client, Shown(path));
    // MOUNT has no word for "ask again later".
    if request.is_put_off {
        reply.write(&Answer::Err(Status::ServerFault));
        return Ok(());
    }
    match exports.resolve(path, request.peer, &identity) {
        Ok(MountedPath { handle, flavors }) => {
            if mount.mounts.add(client.ip(), path) && mount.mounts.news.is_due(Instant::now()) {
                tracing::info!(%client, path = %shown, "mounted");
            }
            let flavors = flavors.as_slice().iter().map(|flavor| flavor.number()).collect();
            reply.write(&Answer::Ok(Success { handle: handle.as_wire(), flavors }));
        }
        // Clients probe: a copy to a new name asks for its path first.
        Err(error) if is_no_directory(error) => {
            let what = match error {
                ResolveError::Refused(FsError::NotDirectory) => {
                    "it is a file or a symbolic link: mount the directory that the link leads to"
                }
                _ => "there is no such directory",
            };
            tracing::debug!(%client, path = %shown, "nothing to mount: {what}");
            reply.write(&Answer::Err(status(error)));
        }
        Err(ResolveError::Gone) => {
            if mount.mounts.refusals.is_due(Instant::now()) {
                let why = exports.find_path(path).and_then(|(export, _)| export.gone()).unwrap_or_default();
                tracing::info!(%client, path = %shown, "mount refused: {why}");
            }
            reply.write(&Answer::Err(status(ResolveError::Gone)));
        }
        Err(error) => {
            if mount.mounts.refusals.is_due(Instant::now()) {
                tracing::info!(%client, path = %shown, "mount refused: {}", why(error));
            }
            reply.write(&Answer::Err(status(error)));
        }
    }
    Ok(())
}

/// Answers MNT of version 1: its handles of 32 bytes belong to NFS version 2, which is not served, and ours are longer.
pub fn run_version_1(
    mount: &MountProtocol,
    request: &mut Request<'_, '_>,
    reply: &mut Reply,
) -> Result<(), Refusal> {
    let path = Arguments::decode(&mut request.arguments)?.path.0;
    if mount.mounts.refusals.is_due(Instant::now()) {
        let (client, shown) = (request.peer.ends.client, Shown(path));
        tracing::info!(%client, path = %shown, "mount refused: NFSv2 is not supported");
    }
    reply.write(&Answer1::Err(Status::AccessDenied));
    Ok(())
}

/// Whether an export that the client may mount has no directory of that name.
fn is_no_directory(error: ResolveError) -> bool {
    matches!(error, ResolveError::Refused(FsError::NotFound | FsError::NotDirectory))
}

/// Why a path is not mounted, for the log.
fn why(error: ResolveError) -> String {
    match error {
        ResolveError::NoExport => {
            "no export has this path, or none that this client may mount (howdah exports lists both)"
                .to_owned()
        }
        ResolveError::Gone => "the directory of the export is gone".to_owned(),
        ResolveError::Refused(FsError::Delay) => {
            "nobody can tell now who the client or its user is; it may try again (is a DNS server or user database down?)"
                .to_owned()
        }
        ResolveError::Refused(error) => error.to_string(),
    }
}

/// The status for a path that leads nowhere.
fn status(error: ResolveError) -> Status {
    match error {
        ResolveError::NoExport | ResolveError::Gone => Status::NotFound,
        ResolveError::Refused(error) => match error {
            FsError::NotPermitted => Status::NotPermitted,
            FsError::NotFound | FsError::Stale => Status::NotFound,
            FsError::Io => Status::Io,
            FsError::AccessDenied => Status::AccessDenied,
            FsError::NotDirectory => Status::NotDirectory,
            FsError::Invalid => Status::Invalid,
            FsError::NameTooLong => Status::NameTooLong,
            FsError::NotSupported => Status::NotSupported,
            _ => Status::ServerFault,
        },
    }
}
