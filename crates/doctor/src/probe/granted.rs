//! What an NFSv4 server granted our client, and what its file system has.

use std::sync::Arc;

use howdah_client::Remote;
use howdah_client::channel::GrowthReason;
use howdah_vfs::{Caller, FsError, Handle, ReadFile, SeekTarget};

use crate::facts::ServerSessionFacts;

/// Nothing with NFSv3. `file`: one that may be read.
pub(super) fn granted(
    client: &dyn Remote,
    caller: &Caller,
    file: Option<&Handle>,
) -> Option<ServerSessionFacts> {
    let grant = client.session_grant()?;
    let delegations = client.directory_delegations();
    let delegates_directories = delegations.is_some_and(|delegations| {
        delegations.watch(Arc::new(|_| {}));
        let root = client.root();
        delegations.look(caller, &root).is_ok() && delegations.holds(&root)
    });
    let seek = |file| Some(client.ranges()?.seek(caller, file, 0, SeekTarget::Data));
    let report = client.channel().report();
    // All calls of this client go without an open.
    let read = |file| client.read(caller, ReadFile::new(file, 0, 1), &mut Vec::new()).is_ok();
    Some(ServerSessionFacts {
        minor_version: grant.minor_version,
        slots: grant.slots,
        operations: grant.operations,
        request_bytes: grant.request.into(),
        reply_bytes: grant.response.into(),
        kept_bytes: grant.kept_response.into(),
        lease_seconds: grant.lease.as_secs_f64(),
        connections: report.lanes.len() as u32,
        has_one_connection: report.why_so_many == GrowthReason::NotShared,
        reads_without_open: file.map(read),
        calls_back: delegations.is_some(),
        delegates_directories,
        has_xattrs: client.xattrs().is_some(),
        has_seek: file.and_then(seek).map(|found| found != Err(FsError::NotSupported)),
    })
}
