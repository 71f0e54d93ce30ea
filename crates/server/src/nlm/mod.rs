//! NLM version 4: locks for NFSv3 clients, in the same table as those of NFSv4. One file per procedure, and what calls clients back.
//!
//! A handler finds the file and the owner of a lock, asks the state, and answers. The procedures that end in `_MSG` are
//! answered by calls of ours; so is a client's wait for a lock.

mod callbacks;
mod context;
mod convert;
mod granting;
mod no_locks;
mod pending;
mod program;
mod table;

mod cancel;
mod free_all;
mod lock;
mod share;
mod test;
mod unlock;
mod unshare;

#[cfg(test)]
mod tests;

pub use callbacks::Callbacks;
pub use granting::Granting;
pub use no_locks::NoLocks;
pub use program::Nlm;
