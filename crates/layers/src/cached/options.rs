//! How much is cached, and for how long.

use std::time::Duration;

use howdah_tune::flight::Expected;

use crate::{AttributeCacheOptions, ReadAheadOptions, WriteBehindOptions};

/// Memory for data: as much of what is written behind as of what is read ahead, each twice what a path of 10 Gb/s and 100 ms
/// holds.
const MEMORY: usize = 512 << 20;

/// A server that prefers less has its blocks read and written in several calls each.
const BLOCK_MIN: usize = 4 << 10;

/// Everything that can be set. The defaults suit a server that is far away.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CachingOptions {
    /// For how long attributes, names and rights are believed.
    pub attributes: AttributeCacheOptions,
    /// Bytes of data that may be held in all: half of them of what is read ahead, half of what is written and not durable.
    pub memory_budget: usize,
    /// Bytes of one READ: the server's preferred size.
    pub read_size: usize,
    /// Bytes of one WRITE: the server's preferred size.
    pub write_size: usize,
    /// What the path is expected to carry from the server, and to it.
    pub expected: [Option<Expected>; 2],
    /// The most writes that are answered only when their data is durable: for a server whose clients have many under way.
    pub waiting_answers: usize,
    /// How long a call waits for data that is written behind while no call to the server ends; then it is refused with
    /// [`FsError::Delay`](howdah_vfs::FsError). `None`: for ever.
    pub patience: Option<Duration>,
}

impl Default for CachingOptions {
    fn default() -> Self {
        Self {
            attributes: AttributeCacheOptions::default(),
            memory_budget: MEMORY,
            read_size: 1 << 20,
            write_size: 1 << 20,
            expected: [None, None],
            waiting_answers: 0,
            patience: None,
        }
    }
}

impl CachingOptions {
    /// The options of the read-ahead.
    pub(super) fn read_ahead(&self) -> ReadAheadOptions {
        let default = ReadAheadOptions::default();
        ReadAheadOptions {
            block: self.read_size.max(BLOCK_MIN),
            believed: self.attributes.file_min,
            expected: self.expected[0],
            memory_budget: self.memory_budget / 2,
            ..default
        }
    }

    /// The options of the write-behind.
    pub(super) fn write_behind(&self) -> WriteBehindOptions {
        let default = WriteBehindOptions::default();
        WriteBehindOptions {
            block: self.write_size.max(BLOCK_MIN),
            expected: self.expected[1],
            waiting_answers: self.waiting_answers,
            patience: self.patience,
            memory_budget: self.memory_budget / 2,
            ..default
        }
    }
}
