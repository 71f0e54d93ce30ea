//! The figures of a copy, as they grow.

use std::sync::atomic::{AtomicU64, Ordering};

macro_rules! figures {
    ($($(#[doc = $doc:literal])* $name:ident,)*) => {
        /// Counters that any thread may read while the copy runs.
        #[derive(Debug, Default)]
        pub struct Tally {
            $(pub(super) $name: AtomicU64,)*
        }

        /// The figures of a copy at one moment.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
        pub struct Figures {
            $($(#[doc = $doc])* pub $name: u64,)*
        }

        impl Tally {
            /// What it is now.
            pub fn figures(&self) -> Figures {
                Figures { $($name: self.$name.load(Ordering::Relaxed),)* }
            }
        }

        impl Figures {
            /// Each figure with its name.
            pub fn iter(&self) -> impl Iterator<Item = (&'static str, u64)> {
                [$((stringify!($name), self.$name)),*].into_iter()
            }
        }
    };
}

figures! {
    /// Bytes of file data that are to be copied, as far as the tree is known.
    found_bytes,
    /// Nodes that were found.
    found_nodes,
    /// Whether all of the tree is known: 1 or 0.
    found_all,
    /// Bytes of file data that were read from the source and are at the destination.
    copied_bytes,
    /// Of these, bytes of zeros that were not written.
    hole_bytes,
    /// Of the bytes copied, those that one server copied from file to file by itself.
    server_bytes,
    /// Bytes that earlier, interrupted copies had committed.
    resumed_bytes,
    /// Bytes that a restart of the server lost and that were sent again.
    resent_bytes,
    /// Bytes of files that were there already.
    kept_bytes,
    /// Files copied.
    files,
    /// Of these, files that went on where an earlier copy stopped.
    resumed_files,
    /// Files, links and special files that were there already and stay.
    kept,
    /// Names that are left out by a pattern.
    excluded,
    /// Names that were listed and gone when they were to be copied.
    vanished,
    /// Of the files copied, those that grew meanwhile: the copy has what was there at the start.
    grown,
    /// Names removed that the source does not have.
    removed,
    /// Directories made or brought up to date.
    directories,
    /// Further names of files copied.
    hard_links,
    /// Symbolic links made.
    symbolic_links,
    /// Devices, sockets and pipes made.
    special_files,
    /// Files read back from both sides and found equal.
    verified_files,
    /// Bytes of these.
    verified_bytes,
    /// Files whose set-user-ID and set-group-ID bits were left out, as was asked for.
    left_out_set_id,
    /// Devices that were left out, as was asked for.
    left_out_devices,
    /// What could not be copied.
    errors,
}

impl Figures {
    /// Bytes of file data that are dealt with.
    pub fn settled_bytes(&self) -> u64 {
        self.copied_bytes.saturating_sub(self.resent_bytes) + self.resumed_bytes + self.kept_bytes
    }
}

/// One more.
pub(super) fn count(counter: &AtomicU64) {
    add(counter, 1);
}

pub(super) fn add(counter: &AtomicU64, more: u64) {
    counter.fetch_add(more, Ordering::Relaxed);
}
