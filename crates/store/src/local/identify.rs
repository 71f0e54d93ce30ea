//! What distinguishes a node from all others, as the kernel sees it.

use std::os::fd::BorrowedFd;

use howdah_vfs::Timestamp;
use rustix::fs::{AtFlags, Statx, StatxFlags, statx};

use super::known::Identification;

/// What is asked of `statx`.
pub(super) const WANTED: StatxFlags = StatxFlags::BASIC_STATS.union(StatxFlags::BTIME);

/// What distinguishes an open node from all others.
pub(super) fn identify(node: BorrowedFd<'_>) -> rustix::io::Result<Identification> {
    statx(node, "", AtFlags::EMPTY_PATH, WANTED).map(|found| identification(&found))
}

/// What a `statx` says of it.
pub(super) fn identification(found: &Statx) -> Identification {
    let has_birth = found.stx_mask & StatxFlags::BTIME.bits() != 0;
    Identification {
        file: found.stx_ino,
        device: rustix::fs::makedev(found.stx_dev_major, found.stx_dev_minor),
        birth: has_birth.then(|| time(found.stx_btime.tv_sec, found.stx_btime.tv_nsec)),
    }
}

/// A time of `statx`.
pub(super) fn time(seconds: i64, nanoseconds: u32) -> Timestamp {
    Timestamp { seconds, nanoseconds }
}
