//! The client: its channel, what it knows of the server, and who it acts as.

use std::any::Any;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use howdah_vfs::{Caller, FsError, Handle, Node, Result};
use howdah_wire::nfs3::{self, fsinfo};

use super::convert::attributes;
use super::sizes;
use crate::channel::{Channel, ProcedureReport, Transport};
use crate::common::{Identity, Verifiers, Wanted, machine_name};
use crate::{Remote, Sizes};

/// How a client acts.
#[derive(Debug, Clone, Default)]
pub struct Settings {
    /// The user that calls name.
    pub identity: Identity,
    /// Sizes that the user asked for.
    pub wanted: Wanted,
    /// After so long of "not now" from a server, the call fails; `None`: never.
    pub patience: Option<Duration>,
}

/// An export of a server, or a directory below it, as a file system.
pub struct Nfs3 {
    pub(super) channel: Arc<Channel>,
    pub(super) root: Handle,
    /// The server does not know the root any more.
    has_lost_root: AtomicBool,
    pub(super) identity: Identity,
    pub(super) machine: Vec<u8>,
    pub(super) verifiers: Verifiers,
    /// Whether the server has no READDIRPLUS.
    pub(super) lists_names_only: AtomicBool,
    /// Whether the server does not serve NFSACL.
    pub(super) has_no_acls: AtomicBool,
    pub(super) sizes: Sizes,
    /// The server's reply to FSINFO of the root.
    pub(super) told: Option<fsinfo::Success>,
    patience: Option<Duration>,
    below_root: Vec<Vec<u8>>,
    /// What the first of them led to.
    first_below: Option<Result<Node>>,
    mount_calls: Vec<ProcedureReport>,
    /// What must live as long as this: the mount. Dropped last.
    _keep: Option<Box<dyn Any + Send + Sync>>,
}

impl Nfs3 {
    /// The directory of this handle as a file system, and the names below it that lead to what is wanted. Asks the server, as
    /// `caller`, for the sizes it takes, and looks up the first of the names meanwhile.
    ///
    /// # Errors
    /// What FSINFO is refused with: the handle is not the server's, or the caller may not.
    pub fn new(
        channel: Arc<Channel>,
        transport: Transport,
        (root, below_root): (Handle, Vec<Vec<u8>>),
        caller: &Caller,
        settings: Settings,
    ) -> Result<Self> {
        let mut client = Self {
            channel,
            root,
            has_lost_root: AtomicBool::new(false),
            identity: settings.identity,
            machine: machine_name(),
            verifiers: Verifiers::default(),
            lists_names_only: AtomicBool::new(false),
            has_no_acls: AtomicBool::new(false),
            sizes: sizes::UNTOLD,
            told: None,
            patience: settings.patience,
            below_root,
            first_below: None,
            mount_calls: Vec::new(),
            _keep: None,
        };
        let look_up = || {
            let name = client.below_root.first()?;
            Some(client.look_up(caller, &root, name).map(|found| found.node))
        };
        let (information, first_below) = client.information(caller, &root, look_up)?;
        client.first_below = first_below;
        client.sizes = sizes::of(&information, &settings.wanted, transport);
        client.told = Some(information);
        tracing::debug!(sizes = ?client.sizes, "the server announced its sizes");
        Ok(client)
    }

    /// Remembers what was called to mount it.
    pub fn with_mount_calls(self, calls: Vec<ProcedureReport>) -> Self {
        Self { mount_calls: calls, ..self }
    }

    /// Keeps `guard` until this is dropped.
    pub fn with_keep(self, guard: impl Any + Send + Sync) -> Self {
        Self { _keep: Some(Box::new(guard)), ..self }
    }

    /// Notes what an answer about a node says of the root.
    pub(super) fn note_root<T>(&self, node: &Handle, outcome: Result<T>) -> Result<T> {
        if *node == self.root && matches!(outcome, Err(FsError::Stale | FsError::BadHandle)) {
            self.has_lost_root.store(true, Ordering::Relaxed);
        }
        outcome
    }

    pub(super) fn patience(&self) -> Option<Duration> {
        self.patience
    }
}

impl Remote for Nfs3 {
    fn channel(&self) -> &Arc<Channel> {
        &self.channel
    }

    fn protocol(&self) -> &'static str {
        "NFSv3"
    }

    fn program(&self) -> (u32, u32) {
        (nfs3::PROGRAM, nfs3::VERSION)
    }

    fn sizes(&self) -> Sizes {
        self.sizes
    }

    fn has_lost_root(&self) -> bool {
        self.has_lost_root.load(Ordering::Relaxed)
    }

    fn root_at_connect(&self) -> Option<Node> {
        let information = self.told.as_ref()?.attributes.as_ref()?;
        Some(Node { handle: self.root, attributes: attributes(information) })
    }

    fn below_root(&self) -> &[Vec<u8>] {
        &self.below_root
    }

    fn first_below_at_connect(&self) -> Option<Result<Node>> {
        self.first_below
    }

    fn connect_calls(&self) -> &[ProcedureReport] {
        &self.mount_calls
    }
}
