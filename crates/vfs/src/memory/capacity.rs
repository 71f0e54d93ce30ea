//! FSSTAT, FSINFO and PATHCONF.

use super::pages::PAGE;
use super::tables::Tables;
use crate::{Limits, Name, Statistics};

/// The largest file: what a signed 64-bit offset reaches, as for every kernel.
pub(super) const LARGEST_FILE: u64 = i64::MAX as u64;
/// What clones are multiples of.
pub(super) const CLONE_BLOCK: u64 = PAGE as u64;

/// The size reported when there is no budget: large, and far from every overflow.
const NOMINAL_BYTES: u64 = 1 << 50;

/// How many nodes there can be, as reported: nothing but memory bounds them.
const NOMINAL_FILES: u64 = 1 << 32;

pub(super) fn statistics(tables: &Tables) -> Statistics {
    let total_bytes = tables.budget.unwrap_or(NOMINAL_BYTES);
    let free_bytes = total_bytes.saturating_sub(tables.used);
    let free_files = NOMINAL_FILES.saturating_sub(tables.nodes.len() as u64);
    Statistics {
        total_bytes,
        free_bytes,
        available_bytes: free_bytes,
        total_files: NOMINAL_FILES,
        free_files,
        available_files: free_files,
    }
}

pub(super) fn limits(tables: &Tables) -> Limits {
    Limits {
        largest_file: LARGEST_FILE,
        longest_name: Name::MAX as u32,
        most_links: tables.most_links,
        time_step_nanoseconds: 1,
        hard_links: true,
        symbolic_links: true,
        chown_restricted: true,
        case_insensitive: false,
        case_preserving: true,
        parallel_writes: false,
        passes_files: false,
        clone_block: Some(CLONE_BLOCK as u32),
    }
}
