//! Read delegations of files and directories (RFC 8881 10.4): who has them, and which are recalled. Knows nothing of opens, locks
//! and stateids.

mod change_watch;
mod delegated_children;
mod table;

pub use change_watch::{ChangeWatch, Changing, UnnamedChange};
pub use table::DelegationTable;
