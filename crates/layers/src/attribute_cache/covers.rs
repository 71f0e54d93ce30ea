//! Directories whose files nobody else changes unnoticed: each time that this begins for one it gets a number, by which what is known of
//! its files is believed until it ends.

use std::collections::{HashMap, HashSet};

use howdah_vfs::Handle;

/// The directories.
#[derive(Default)]
pub struct Covers {
    by_directory: HashMap<Handle, u64>,
    live: HashSet<u64>,
    last: u64,
}

impl Covers {
    /// The number of a covered directory. One that was not covered before gets the next number.
    pub fn number(&mut self, directory: &Handle) -> u64 {
        if let Some(number) = self.by_directory.get(directory) {
            return *number;
        }
        self.last += 1;
        self.by_directory.insert(*directory, self.last);
        self.live.insert(self.last);
        self.last
    }

    /// Whether it is so still.
    pub fn is_live(&self, number: u64) -> bool {
        self.live.contains(&number)
    }

    /// It is so no more for a directory.
    pub fn end(&mut self, directory: &Handle) {
        if let Some(number) = self.by_directory.remove(directory) {
            self.live.remove(&number);
        }
    }

    /// For none.
    pub fn end_all(&mut self) {
        self.by_directory.clear();
        self.live.clear();
    }
}
