//! Mounts: options in mount(8)'s spelling, the layers of a mount, the process that keeps it, and asking those that run.

mod asked;
mod daemon;
mod journals;
mod negotiated;
mod noted;
mod options;
mod options_table;
mod prepared;
mod remount;
mod running;
mod stack;
mod status;
mod users;

pub use asked::{AskedMount, FlushAnswer, find_mount, lost_lines, mount_of_process, mounts, refused_lines};
pub use daemon::{MountRequest, root, run};
pub use journals::{FoundJournal, find_journal, found_journals, journals_directory};
pub use noted::KIND;
pub use options::MountSettings;
pub use remount::remounted;
pub use running::READY;
pub use stack::{Layers, connect_for_mount};
pub use status::MountStatus;
pub use users::users_of;
