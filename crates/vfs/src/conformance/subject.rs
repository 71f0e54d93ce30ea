//! What is judged, and what it says it cannot do.

use std::any::Any;
use std::sync::Arc;

use crate::{Caller, FileSystem};

/// The user as which a file system carries out a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ActsAs {
    /// As the caller that the call names.
    Caller,
    /// As this one, no matter who calls: a server without privilege.
    Always(Caller),
}

/// What a subject can do, where file systems differ by their privilege or their storage.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Abilities {
    /// The user as which it acts.
    pub acts_as: ActsAs,
    /// Whether the superuser may make block and character devices.
    pub device_nodes: bool,
    /// Whether holes take no storage and `used` says so.
    pub sparse_files: bool,
    /// Whether a name may hold any bytes but slash and NUL (some file systems want UTF-8).
    pub any_bytes_in_names: bool,
    /// The longest target of a symbolic link, in bytes.
    pub longest_link_target: usize,
    /// Whether a name that another node takes over during a listing stays in its place, and so is surely listed. On
    /// tmpfs (Linux 6.14 and later) it goes to the front, where the listing may have been already.
    pub replaced_names_keep_their_place: bool,
    /// How many entries a large directory has: less where each call takes long.
    pub many_entries: usize,
}

impl Default for Abilities {
    /// Those of a privileged server on a usual Linux file system.
    fn default() -> Self {
        Self {
            acts_as: ActsAs::Caller,
            device_nodes: true,
            sparse_files: true,
            any_bytes_in_names: true,
            longest_link_target: 4095,
            replaced_names_keep_their_place: true,
            many_entries: 10_000,
        }
    }
}

/// A file system under test, which may be empty or not.
pub struct Subject {
    /// The file system.
    pub fs: Arc<dyn FileSystem>,
    /// What it can do.
    pub abilities: Abilities,
    /// What must live as long as it: a temporary directory, a server. Dropped last.
    keep: Option<Box<dyn Any>>,
}

impl Subject {
    /// A file system and what it can do.
    pub fn new(fs: Arc<dyn FileSystem>, abilities: Abilities) -> Self {
        Self { fs, abilities, keep: None }
    }

    /// Keeps `guard` until the file system is dropped.
    pub fn with_keep(mut self, guard: impl Any) -> Self {
        self.keep = Some(Box::new((self.keep.take(), guard)));
        self
    }

    /// Who does what needs no particular user: the superuser where that is possible.
    pub fn main_caller(&self) -> Caller {
        match &self.abilities.acts_as {
            ActsAs::Caller => Caller::ROOT,
            ActsAs::Always(caller) => caller.clone(),
        }
    }
}
