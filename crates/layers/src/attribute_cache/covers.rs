//! Directories whose files nobody else changes unnoticed: each time that this begins for one it gets a number, by which what is known of
//! its files is believed until it ends.

use std::collections::{HashMap, HashSet};

use howdah_vfs::Handle;

use super::chain::Moment;

/// The directories.
#[derive(Default)]
pub struct Covers {
    by_directory: HashMap<Handle, (u64, Moment)>,
    live: HashSet<u64>,
    last: u64,
}

impl Covers {
    /// It is so for a directory, and was when calls started from this moment on.
    pub fn begin(&mut self, directory: &Handle, from: Moment) {
        if !self.by_directory.contains_key(directory) {
            self.last += 1;
            self.by_directory.insert(*directory, (self.last, from));
            self.live.insert(self.last);
        }
    }

    /// The number of a directory of which it is so, and was when a call started.
    pub fn number(&self, directory: &Handle, since: Moment) -> Option<u64> {
        let (number, from) = self.by_directory.get(directory)?;
        (since >= *from).then_some(*number)
    }

    /// Whether it is so still.
    pub fn is_live(&self, number: u64) -> bool {
        self.live.contains(&number)
    }

    /// It is so no more for a directory.
    pub fn end(&mut self, directory: &Handle) {
        if let Some((number, _)) = self.by_directory.remove(directory) {
            self.live.remove(&number);
        }
    }

    /// For none.
    pub fn end_all(&mut self) {
        self.by_directory.clear();
        self.live.clear();
    }
}
