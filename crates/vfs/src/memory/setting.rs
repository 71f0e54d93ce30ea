//! The rules of SETATTR: which caller may set what, and what follows from it. It does not know where nodes are kept.

use super::capacity::LARGEST_FILE;
use super::node::{Body, Node};
use super::permissions::{self, SET_GROUP, WRITE};
use crate::{Caller, FsError, NewAttributes, Result, SetTime, Timestamp};

/// Refuses what the caller may not set.
pub(super) fn permit(caller: &Caller, node: &Node, new: &NewAttributes) -> Result<()> {
    permit_size(caller, node, new)?;
    let owns = permissions::owns(caller, node);
    if new.mode.is_some() && !owns {
        return Err(FsError::NotPermitted);
    }
    permit_owners(caller, node, new)?;
    match (new.accessed, new.modified) {
        (SetTime::Keep, SetTime::Keep) => Ok(()),
        _ if owns => Ok(()),
        (SetTime::To(_), _) | (_, SetTime::To(_)) => Err(FsError::NotPermitted),
        _ => permissions::require(caller, node, WRITE),
    }
}

fn permit_size(caller: &Caller, node: &Node, new: &NewAttributes) -> Result<()> {
    let Some(size) = new.size else { return Ok(()) };
    node.regular()?;
    permissions::require_or_owner(caller, node, WRITE)?;
    if size > LARGEST_FILE { Err(FsError::TooBig) } else { Ok(()) }
}

/// Only the superuser gives a file away; its owner may give it to a group of its own.
fn permit_owners(caller: &Caller, node: &Node, new: &NewAttributes) -> Result<()> {
    if permissions::is_superuser(caller) {
        return Ok(());
    }
    let owner = caller.user == node.user;
    let user_stays = new.user.is_none_or(|user| owner && user == node.user);
    let group_fits = new.group.is_none_or(|group| owner && (group == node.group || caller.is_member(group)));
    if user_stays && group_fits { Ok(()) } else { Err(FsError::NotPermitted) }
}

/// What a node is to become, worked out before anything changes.
pub(super) struct Settings {
    mode: u32,
    user: u32,
    group: u32,
    accessed: Timestamp,
    modified: Timestamp,
    changed: Timestamp,
}

impl Settings {
    pub(super) fn new(caller: &Caller, node: &Node, new: &NewAttributes, now: Timestamp) -> Self {
        let user = new.user.unwrap_or(node.user);
        let group = new.group.unwrap_or(node.group);
        let modified = if new.size.is_some() { now } else { node.modified };
        let changed = if *new == NewAttributes::default() { node.changed } else { now };
        Self {
            mode: mode(caller, node, new, group),
            user,
            group,
            accessed: time(new.accessed, node.accessed, now),
            modified: time(new.modified, modified, now),
            changed,
        }
    }

    pub(super) fn apply(self, node: &mut Node) {
        let Self { mode, user, group, accessed, modified, changed } = self;
        (node.mode, node.user, node.group) = (mode, user, group);
        (node.accessed, node.modified, node.changed) = (accessed, modified, changed);
    }
}

fn time(set: SetTime, old: Timestamp, now: Timestamp) -> Timestamp {
    match set {
        SetTime::Keep => old,
        SetTime::Now => now,
        SetTime::To(time) => time,
    }
}

fn mode(caller: &Caller, node: &Node, new: &NewAttributes, group: u32) -> u32 {
    match new.mode {
        // A symbolic link has no mode of its own.
        _ if matches!(node.body, Body::Link(_)) => node.mode,
        Some(mode) if permissions::may_set_group_id(caller, group) => mode & 0o7777,
        Some(mode) => mode & 0o7777 & !SET_GROUP,
        None if new.user.is_some() || new.group.is_some() => permissions::mode_after_chown(caller, node),
        None if new.size.is_some() => permissions::mode_after_write(caller, node),
        None => node.mode,
    }
}
