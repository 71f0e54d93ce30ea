//! Files of which somebody has something: who has them open, who has locked what, who waits. One table for NFSv4 and NLM. Knows no
//! stateids and no leases: whether a client's lease has passed is an argument.

mod deadlocks;
mod file;
mod locking;
mod range_locks;
mod range_set;
mod shares;
mod sharing;
mod table;
mod usage;
mod waiters;
mod waiting;

pub use file::NfsFile;
pub use locking::LockWish;
pub use range_locks::RangeLocks;
pub use range_set::RangeSet;
pub use shares::{FileShares, ShareHolder, ShareMode};
pub use table::{FileTable, Lapsed};
pub use usage::{Party, Usage};
pub use waiters::Waiters;
