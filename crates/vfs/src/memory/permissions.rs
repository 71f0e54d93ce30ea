//! The rules of POSIX, as Linux follows them: who may do what with a node. Pure functions; they change nothing.

use super::node::Node;
use crate::{Access, Caller, FsError, Result};

/// Read permission, as one octal digit of a mode.
pub(super) const READ: u32 = 0o4;
/// Write permission.
pub(super) const WRITE: u32 = 0o2;
/// Execute or search permission.
pub(super) const EXECUTE: u32 = 0o1;

/// Set-user-id.
pub(super) const SET_USER: u32 = 0o4000;
/// Set-group-id.
pub(super) const SET_GROUP: u32 = 0o2000;
/// Sticky: only owners remove.
pub(super) const STICKY: u32 = 0o1000;
/// The group may execute.
const GROUP_EXECUTE: u32 = 0o010;
/// Anybody may execute.
const ANY_EXECUTE: u32 = 0o111;

pub(super) fn is_superuser(caller: &Caller) -> bool {
    caller.user == 0
}

pub(super) fn owns(caller: &Caller, node: &Node) -> bool {
    is_superuser(caller) || caller.user == node.user
}

/// Whether the permission bits give the caller all of `wanted`. The first class that fits decides: an owner without
/// the right does not get it as a member of the group.
pub(super) fn allows(caller: &Caller, node: &Node, wanted: u32) -> bool {
    if is_superuser(caller) {
        return wanted & EXECUTE == 0 || node.is_directory() || node.mode & ANY_EXECUTE != 0;
    }
    let digit = if caller.user == node.user {
        node.mode >> 6
    } else if caller.is_member(node.group) {
        node.mode >> 3
    } else {
        node.mode
    };
    digit & wanted == wanted
}

/// As [`allows`], refusing.
pub(super) fn require(caller: &Caller, node: &Node, wanted: u32) -> Result<()> {
    if allows(caller, node, wanted) { Ok(()) } else { Err(FsError::AccessDenied) }
}

/// The owner reads and writes whatever the bits say: the bits were judged when the file was opened, and the protocol has no
/// opens (RFC 1813 4.4).
pub(super) fn require_or_owner(caller: &Caller, node: &Node, wanted: u32) -> Result<()> {
    if caller.user == node.user { Ok(()) } else { require(caller, node, wanted) }
}

/// Whether the caller may read the file; who may execute it may, since a client reads what it executes
/// (RFC 1813 4.4).
pub(super) fn require_reading(caller: &Caller, node: &Node) -> Result<()> {
    require_or_owner(caller, node, READ).or_else(|_| require(caller, node, EXECUTE))
}

/// Whether the caller may take `node` out of `directory`.
pub(super) fn require_removal(caller: &Caller, directory: &Node, node: &Node) -> Result<()> {
    require(caller, directory, WRITE | EXECUTE)?;
    if directory.mode & STICKY != 0 && !owns(caller, node) && !owns(caller, directory) {
        return Err(FsError::NotPermitted);
    }
    Ok(())
}

/// The rights of RFC 1813 3.3.4 (`ACCESS3_*`) that the caller has.
pub(super) fn access(caller: &Caller, node: &Node) -> Access {
    let mut granted = Access::NONE;
    let mut grant = |wanted, access| {
        if allows(caller, node, wanted) {
            granted = granted | access;
        }
    };
    grant(READ, Access::READ);
    if node.is_directory() {
        grant(EXECUTE, Access::LOOKUP);
        grant(WRITE | EXECUTE, Access::MODIFY | Access::EXTEND | Access::DELETE);
    } else {
        grant(EXECUTE, Access::EXECUTE);
        grant(WRITE, Access::MODIFY | Access::EXTEND);
    }
    granted
}

/// The mode after somebody other than the superuser wrote to the file.
pub(super) fn mode_after_write(caller: &Caller, node: &Node) -> u32 {
    if is_superuser(caller) { node.mode } else { without_set_id(caller, node) }
}

/// The mode after the owner or group changed: for the superuser too, since the bits were meant for the old owner.
pub(super) fn mode_after_chown(caller: &Caller, node: &Node) -> u32 {
    if node.is_directory() { node.mode } else { without_set_id(caller, node) }
}

/// Set-group-id without group execution is no privilege (it used to mean mandatory locking); who is a member may
/// keep it.
fn without_set_id(caller: &Caller, node: &Node) -> u32 {
    let keeps_group = node.mode & GROUP_EXECUTE == 0 && may_set_group_id(caller, node.group);
    let cleared = if keeps_group { SET_USER } else { SET_USER | SET_GROUP };
    node.mode & !cleared
}

/// Whether the caller may put set-group-id on a file of that group.
pub(super) fn may_set_group_id(caller: &Caller, group: u32) -> bool {
    is_superuser(caller) || caller.is_member(group)
}
