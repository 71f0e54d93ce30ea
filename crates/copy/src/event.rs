//! What a copy reports while it runs.

use super::CopyError;

/// Something that happened. Paths are as people know them.
#[derive(Debug)]
pub enum Event<'a> {
    /// A file is complete under its final name.
    Copied {
        /// Which.
        path: &'a [u8],
        /// Its size.
        bytes: u64,
    },
    /// A directory, link or special file was made.
    Made {
        /// Which.
        path: &'a [u8],
    },
    /// One more name of a file that was copied.
    Linked {
        /// The name.
        path: &'a [u8],
    },
    /// The source does not have it, and it is gone from the destination.
    Removed {
        /// Which, at the destination.
        path: &'a [u8],
    },
    /// The source had it when it was listed, and has it no more.
    Vanished {
        /// Which.
        path: &'a [u8],
    },
    /// A file that was copied grew meanwhile: the copy has what was there at the start.
    Grown {
        /// Which.
        path: &'a [u8],
        /// So much.
        bytes: u64,
    },
    /// It was there already and stays.
    Kept {
        /// Which.
        path: &'a [u8],
    },
    /// An earlier copy goes on where it stopped.
    Resumed {
        /// Of which file.
        path: &'a [u8],
        /// Bytes that need not be copied again.
        bytes: u64,
        /// Of so many.
        of: u64,
    },
    /// An earlier copy of a file cannot go on.
    StartedOver {
        /// Of which file.
        path: &'a [u8],
        /// Why.
        why: &'static str,
    },
    /// Data that was written and lost before it was committed is sent again: the server restarted.
    SentAgain {
        /// Of which file.
        path: &'a [u8],
        /// How much.
        bytes: u64,
    },
    /// Something could not be preserved here; said once per copy.
    Note(&'static str),
    /// Something was not copied.
    Failed(&'a CopyError),
}

/// Who listens to a copy; called from many threads.
pub trait Observer: Send + Sync {
    /// Something happened.
    fn on_event(&self, event: &Event<'_>);
}

impl<F: Fn(&Event<'_>) + Send + Sync> Observer for F {
    fn on_event(&self, event: &Event<'_>) {
        self(event);
    }
}
