//! A `/sys` that shows the interfaces of the caller's own network namespace. One that is mounted shows those of the namespace
//! that mounted it.

use std::io;

use nix::sched::{CloneFlags, unshare};
use rustix::fs::CWD;
use rustix::mount::{
    MountFlags, MountPropagationFlags, MoveMountFlags, OpenTreeFlags, mount, mount_change, move_mount,
    open_tree,
};

/// Gives the calling thread a mount namespace of its own, with a `/sys` of its network namespace. Other mounts are as they
/// were, and spread as they did. Makes system calls alone and allocates nothing: it may be called between fork and exec.
pub fn own_sysfs() -> io::Result<()> {
    unshare(CloneFlags::CLONE_NEWNS)?;
    let private = MountPropagationFlags::REC | MountPropagationFlags::PRIVATE;
    // What is mounted over a private mount is seen by nobody else. If nothing is mounted there, nothing is shown there.
    if mount_change(c"/sys", private).is_err() {
        return Ok(());
    }
    // Limits of memory are read there.
    let clone =
        OpenTreeFlags::OPEN_TREE_CLONE | OpenTreeFlags::OPEN_TREE_CLOEXEC | OpenTreeFlags::AT_RECURSIVE;
    let groups = open_tree(CWD, c"/sys/fs/cgroup", clone);
    let plain = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
    let sysfs = |flags| mount(c"sysfs", c"/sys", c"sysfs", flags, None);
    // A container whose `/sys` is read-only may have no other, and one that hides parts of it may have none at all.
    if sysfs(plain).or_else(|_| sysfs(plain | MountFlags::RDONLY)).is_ok()
        && let Ok(groups) = groups
    {
        let _ = move_mount(groups, c"", CWD, c"/sys/fs/cgroup", MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH);
    }
    Ok(())
}
