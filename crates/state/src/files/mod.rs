//! Files of which somebody has something: who has them open, and who has locked what or waits for it. The same tables for NFSv4 and NLM.
//! Know no stateids and no leases: whether a client's lease has passed is an argument.

mod deadlocks;
mod host_files;
mod lapsed;
mod lock_table;
mod lock_wish;
mod range_locks;
mod range_set;
mod range_table;
mod share_table;
mod shares;
mod usage;
mod views;
mod wait_table;
mod waiters;

pub use lock_table::LockTable;
pub use lock_wish::LockWish;
pub use range_table::RangeTable;
pub use share_table::ShareTable;
pub use shares::{ShareHolder, ShareMode};
pub use usage::Party;
pub use views::{LockView, WaitView};
