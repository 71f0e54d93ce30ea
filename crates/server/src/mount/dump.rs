//! DUMP: who has mounted what (RFC 1813 5.2.2).

use howdah_wire::mount::dump::{Mount, Reply as Answer};
use howdah_wire::mount::{DirectoryPath, HostName};

use super::MountProtocol;
use crate::program::Refusal;
use crate::{Reply, Request};

/// Answers DUMP.
pub fn run(mount: &MountProtocol, _: &mut Request<'_, '_>, reply: &mut Reply) -> Result<(), Refusal> {
    let list = mount.mounts.list();
    let lines: Vec<_> = list.iter().map(|mount| (mount.client.to_string(), &mount.path)).collect();
    let mounts = lines
        .iter()
        .map(|(client, path)| Mount { host: HostName(client.as_bytes()), path: DirectoryPath(path) })
        .collect();
    reply.write(&Answer { mounts });
    Ok(())
}
