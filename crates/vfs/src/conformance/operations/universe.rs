//! The small worlds that operations choose from.

use crate::{Caller, GroupList, Stability};

/// Slots for nodes that operations have met; the first always holds the directory that all happens in.
pub(super) const SLOTS: usize = 8;

/// Few names, so that operations meet; odd and long ones among them.
pub(super) const NAMES: [&[u8]; 6] = [b"a", b"b", b"c", b"d", "\u{1f40e} \n".as_bytes(), &[b'n'; 255]];

/// Targets of symbolic links: right, dangling, leading out.
pub(super) const TARGETS: [&[u8]; 4] = [b"a", b"../b", b"/etc/passwd", &[b't'; 1000]];

/// The edges of pages, and of 32 bits.
pub(super) const OFFSETS: [u64; 8] = [0, 1, 4_095, 4_096, 10_000, 100_000, (1 << 32) - 2, 1 << 33];

/// Lengths of reads and writes, in bytes.
pub(super) const LENGTHS: [usize; 6] = [0, 1, 5, 100, 4_096, 8_191];

/// Modes of files.
pub(super) const FILE_MODES: [u32; 9] = [0o644, 0o600, 0o666, 0o777, 0o000, 0o444, 0o6755, 0o2775, 0o711];

/// Modes of directories. Who may write may search too: what writing alone means differs.
pub(super) const DIRECTORY_MODES: [u32; 8] = [0o777, 0o755, 0o700, 0o1777, 0o555, 0o711, 0o775, 0o744];

/// Set on directories later: MKDIR itself treats set-group-id differently from kernel to kernel.
pub(super) const SET_GROUP_MODE: u32 = 0o2775;

/// Users and groups that SETATTR may give a node to.
pub(super) const OWNERS: [u32; 4] = [0, 1001, 1002, 1003];

pub(super) const STABILITIES: [Stability; 3] =
    [Stability::Unstable, Stability::DataSync, Stability::FileSync];

/// The superuser; a user; one who is in her group too; one who is a stranger.
pub(super) fn caller(number: usize) -> Caller {
    match number {
        0 => Caller::ROOT,
        1 => Caller::new(1001, 1001),
        2 => Caller { groups: GroupList::new([1001, 7]), ..Caller::new(1002, 1002) },
        _ => Caller::new(1003, 1003),
    }
}

/// How many callers there are.
pub(super) const CALLERS: usize = 4;
