//! What listings ahead share with the layer.

use std::sync::Arc;
use std::time::Duration;

use howdah_vfs::FileSystem;
use howdah_vfs::layer::Stopwatch;
use parking_lot::{Condvar, Mutex};

use super::walk::Walks;
use crate::AttributeCache;

/// So many of the last answers count.
pub const ANSWERS: usize = 8;

/// What listings ahead share with the layer.
pub struct Shared {
    pub cache: Arc<AttributeCache>,
    pub stopwatch: Stopwatch,
    pub walks: Mutex<Walks>,
    /// How long the last answers of the server took.
    pub answers: Mutex<([Duration; ANSWERS], usize)>,
    /// A listing ahead is over.
    pub over: Condvar,
}

impl Shared {
    /// The cache as a file system.
    pub fn files(&self) -> &dyn FileSystem {
        &*self.cache
    }

    pub fn now(&self) -> Duration {
        (self.stopwatch)()
    }
}
