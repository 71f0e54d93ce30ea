//! FSSTAT, FSINFO and PATHCONF.

use howdah_vfs::{Handle, Limits, Result, Statistics};
use rustix::fs::fstatvfs;

use super::errno::refusal;
use super::open_nodes::OpenNodes;
use super::tree::Tree;

/// FSSTAT. What is available leaves out what the file system keeps for the superuser.
pub(super) fn get_statistics(nodes: &OpenNodes, handle: &Handle) -> Result<Statistics> {
    let node = nodes.node(handle)?;
    let found = fstatvfs(node.descriptor()).map_err(refusal)?;
    let bytes = |blocks: u64| blocks.saturating_mul(found.f_frsize);
    Ok(Statistics {
        total_bytes: bytes(found.f_blocks),
        free_bytes: bytes(found.f_bfree),
        available_bytes: bytes(found.f_bavail),
        // CephFS says how many there are, and that any number is free.
        total_files: found.f_files.max(found.f_ffree),
        free_files: found.f_ffree,
        available_files: found.f_favail,
    })
}

/// FSINFO and PATHCONF.
pub(super) fn get_limits(nodes: &OpenNodes, handle: &Handle, tree: &Tree, clones: bool) -> Result<Limits> {
    let node = nodes.node(handle)?;
    let found = fstatvfs(node.descriptor()).map_err(refusal)?;
    let kind = KINDS.iter().find(|kind| kind.magic == tree.kind()).unwrap_or(&ORDINARY);
    Ok(Limits {
        largest_file: kind.largest_file(found.f_bsize),
        longest_name: u32::try_from(found.f_namemax).unwrap_or(u32::MAX),
        most_links: kind.most_links,
        time_step_nanoseconds: kind.time_step_nanoseconds,
        hard_links: kind.links,
        symbolic_links: kind.links,
        chown_restricted: true,
        case_insensitive: kind.case_insensitive,
        case_preserving: true,
        // Linux locks a file for each buffered write of it.
        parallel_writes: false,
        passes_files: false,
        clone_block: clones.then(|| u32::try_from(found.f_bsize).ok()).flatten(),
    })
}

/// What the kernel does not report of a kind of file system (from its sources: `s_max_links`, `s_time_gran`, `s_maxbytes`).
struct Kind {
    magic: u64,
    most_links: u32,
    time_step_nanoseconds: u32,
    /// The largest file in blocks; `None` for as large as an offset.
    most_blocks: Option<u64>,
    links: bool,
    case_insensitive: bool,
}

/// One of which nothing special is known.
const ORDINARY: Kind = Kind {
    magic: 0,
    // What Linux says of itself (`LINK_MAX` of pathconf).
    most_links: 127,
    time_step_nanoseconds: 1,
    most_blocks: None,
    links: true,
    case_insensitive: false,
};

const KINDS: [Kind; 6] = [
    // ext4: 2^32 blocks less one.
    Kind { magic: 0xef53, most_links: 65_000, most_blocks: Some(u32::MAX as u64), ..ORDINARY },
    // xfs.
    Kind { magic: 0x5846_5342, most_links: i32::MAX as u32, ..ORDINARY },
    // btrfs: of one node within one directory.
    Kind { magic: 0x9123_683e, most_links: 65_535, ..ORDINARY },
    // tmpfs.
    Kind { magic: 0x0102_1994, most_links: u32::MAX, ..ORDINARY },
    // f2fs.
    Kind { magic: 0xf2f5_2010, most_links: u32::MAX, ..ORDINARY },
    // vfat: 4 GiB less one byte, and no links of any kind.
    Kind {
        magic: 0x4d44,
        most_links: 1,
        time_step_nanoseconds: 2_000_000_000,
        links: false,
        case_insensitive: true,
        ..ORDINARY
    },
];

impl Kind {
    fn largest_file(&self, block: u64) -> u64 {
        match self.most_blocks {
            _ if self.magic == 0x4d44 => u64::from(u32::MAX),
            Some(blocks) => blocks.saturating_mul(block),
            None => i64::MAX as u64,
        }
    }
}
