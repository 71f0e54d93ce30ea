//! What the lock-free pieces are made of. Their models (`tests/models`) compile the same files with another `sync`, whose every
//! interleaving is tried; so those files use nothing else that threads share.

pub use std::sync::atomic;

pub use parking_lot::{Condvar, Mutex};
