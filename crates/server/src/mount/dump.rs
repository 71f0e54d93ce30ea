//! DUMP: who has mounted what (RFC 1813 5.2.2).

use howdah_wire::mount::dump::{Mount, Reply as Answer};
use howdah_wire::mount::{DirectoryPath, HostName};

use crate::limits::LIST_IN_DATAGRAM_MAX;
use crate::program::Refusal;
use crate::service::Service;
use crate::{Reply, Request, Transport};

/// What an entry takes beside its texts, in bytes: three words, and padding twice.
const OVERHEAD: usize = 18;

/// Answers DUMP.
pub fn run(service: &Service, request: &mut Request<'_, '_>, reply: &mut Reply) -> Result<(), Refusal> {
    let room = if request.peer.transport == Transport::Udp { LIST_IN_DATAGRAM_MAX } else { usize::MAX };
    let list = service.mounts.list();
    let lines: Vec<_> = list.iter().map(|mount| (mount.client.to_string(), &mount.path)).collect();
    let mut length = 0;
    let fitting = lines.iter().take_while(|(client, path)| {
        length += client.len() + path.len() + OVERHEAD;
        length <= room
    });
    let mounts = fitting
        .map(|(client, path)| Mount { host: HostName(client.as_bytes()), path: DirectoryPath(path) })
        .collect();
    reply.write(&Answer { mounts });
    Ok(())
}
