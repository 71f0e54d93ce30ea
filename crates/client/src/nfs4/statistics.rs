//! How full a file system is: GETATTR of space.

use howdah_vfs::{Caller, Handle, Result, Statistics};
use howdah_wire::nfs4::attributes::Space;

use super::client::Nfs4Client;

impl Nfs4Client {
    /// A server that counts no files, such as one of a cloud, has as many as there can be.
    pub(super) fn told_statistics(&self, caller: &Caller, node: &Handle) -> Result<Statistics> {
        self.with_values(caller, node, Space::ALL, |values| {
            let Space { files_available, files_free, files_total, .. } = values.space;
            let Space { bytes_available, bytes_free, bytes_total, .. } = values.space;
            let total_bytes = bytes_total.unwrap_or(u64::MAX);
            let free_bytes = bytes_free.or(bytes_available).unwrap_or(total_bytes);
            let total_files = files_total.unwrap_or(u64::MAX);
            let free_files = files_free.or(files_available).unwrap_or(total_files);
            Statistics {
                total_bytes,
                free_bytes,
                available_bytes: bytes_available.unwrap_or(free_bytes),
                total_files,
                free_files,
                available_files: files_available.unwrap_or(free_files),
            }
        })
    }
}
