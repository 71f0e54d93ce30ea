//! How a file system is mounted.

use std::time::Duration;

use howdah_vfs::{Caller, Handle};

/// How a file system is mounted.
#[derive(Debug, Clone)]
pub struct MountOptions {
    /// What `mount` and `df` show as the device.
    pub source: String,
    /// Whether every write is refused by the kernel.
    pub read_only: bool,
    /// The directory to show; none is the root.
    pub root: Option<Handle>,
    /// Whether other users may use the mount.
    pub allow_other: bool,
    /// The user of all calls; none: each call acts as the user who makes it.
    pub caller: Option<Caller>,
    /// How long the kernel believes attributes without asking this process.
    pub attributes: Duration,
    /// How long the kernel believes names without asking this process. With `allow_other` it never does, since it would let
    /// a user pass directories that another user looked into.
    pub names: Duration,
    /// Whether nobody else changes the tree: the kernel believes all answers for ever, names not with `allow_other`, until
    /// [`FuseMount::distrust`](crate::FuseMount::distrust).
    pub alone: bool,
    /// Whether set-user-ID and set-group-ID bits count.
    pub set_id: bool,
    /// Whether devices can be opened.
    pub devices: bool,
    /// Whether every write is durable before it is answered.
    pub synchronous: bool,
    /// Whether programs may be run from it.
    pub executable: bool,
    /// Whether locks hold on this host only, although the file system has locks of its server.
    pub local_locks: bool,
    /// Whether programs see and set POSIX ACLs. Each look at one is a call.
    pub acls: bool,
}

impl Default for MountOptions {
    fn default() -> Self {
        Self {
            source: "howdah".to_owned(),
            read_only: false,
            root: None,
            allow_other: false,
            caller: Some(Caller::ROOT),
            attributes: Duration::from_secs(1),
            names: Duration::from_secs(1),
            alone: false,
            set_id: false,
            devices: false,
            synchronous: false,
            executable: true,
            local_locks: false,
            acls: false,
        }
    }
}
