//! Who this process is.

use howdah_vfs::{Caller, GroupList};

/// User, group and further groups of this process.
pub fn own_caller() -> Caller {
    let groups = rustix::process::getgroups().unwrap_or_default();
    Caller {
        user: rustix::process::geteuid().as_raw(),
        group: rustix::process::getegid().as_raw(),
        groups: GroupList::new(groups.into_iter().map(|group| group.as_raw())),
    }
}
