//! FSSTAT, FSINFO and PATHCONF.

use howdah_vfs::{Caller, Handle, Limits, Result, Statistics};
use nfs3_types::nfs3::{
    FSF3_LINK, FSF3_SYMLINK, FSINFO3args, FSINFO3res, FSINFO3resok, FSSTAT3args, FSSTAT3res, NFS_PROGRAM,
    PATHCONF3args, PATHCONF3res,
};

use super::OtherClient;
use super::client::success;
use super::convert::timestamp;

impl OtherClient {
    pub(super) fn file_system_information(&self, caller: &Caller, node: &Handle) -> Result<FSINFO3resok> {
        let arguments = FSINFO3args { fsroot: self.handles.give(node) };
        let result: FSINFO3res = self.call(caller, NFS_PROGRAM::NFSPROC3_FSINFO, &arguments);
        success(result, |_| {})
    }

    pub(super) fn told_statistics(&self, caller: &Caller, node: &Handle) -> Result<Statistics> {
        let arguments = FSSTAT3args { fsroot: self.handles.give(node) };
        let result: FSSTAT3res = self.call(caller, NFS_PROGRAM::NFSPROC3_FSSTAT, &arguments);
        let reply = success(result, |_| {})?;
        Ok(Statistics {
            total_bytes: reply.tbytes,
            free_bytes: reply.fbytes,
            available_bytes: reply.abytes,
            total_files: reply.tfiles,
            free_files: reply.ffiles,
            available_files: reply.afiles,
        })
    }

    pub(super) fn told_limits(&self, caller: &Caller, node: &Handle) -> Result<Limits> {
        let information = self.file_system_information(caller, node)?;
        let arguments = PATHCONF3args { object: self.handles.give(node) };
        let result: PATHCONF3res = self.call(caller, NFS_PROGRAM::NFSPROC3_PATHCONF, &arguments);
        let paths = success(result, |_| {})?;
        let step = timestamp(information.time_delta);
        Ok(Limits {
            largest_file: information.maxfilesize,
            longest_name: paths.name_max,
            most_links: paths.linkmax,
            time_step_nanoseconds: step.seconds as u32 * 1_000_000_000 + step.nanoseconds,
            hard_links: information.properties & FSF3_LINK != 0,
            symbolic_links: information.properties & FSF3_SYMLINK != 0,
            chown_restricted: paths.chown_restricted,
            case_insensitive: paths.case_insensitive,
            case_preserving: paths.case_preserving,
            parallel_writes: true,
            passes_files: false,
            clone_block: None,
        })
    }
}
