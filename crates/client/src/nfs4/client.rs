//! The client: what it sends compounds by, and what it knows of the server.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use howdah_vfs::{Caller, FsError, Handle, Node, Result};
use howdah_wire::nfs4;
use howdah_wire::nfs4::attributes::NUMLINKS;

use super::compound::Compound;
use super::delegations::ClientDelegations;
use super::exchange::CompoundCalls;
use super::making::Making;
use super::open_states::OpenStates;
use super::operation::Operation;
use super::results::Results;
use super::server_facts::ServerFacts;
use super::xattr_support::XattrSupport;
use crate::channel::{Channel, Payload, Pending, ProcedureReport, ReceiveInto};
use crate::common::{Verifiers, Wanted};
use crate::{Remote, SessionGrant, Sizes};

/// A directory of a server, by NFSv4.1 or 4.2, as a file system. It opens only files that are locked: data of others is read and written by
/// handles, as with NFSv3.
pub struct Nfs4Client {
    pub(super) calls: CompoundCalls,
    pub(super) root: Node,
    /// The server does not know the root any more.
    has_lost_root: AtomicBool,
    pub(super) verifiers: Verifiers,
    pub(super) sizes: Sizes,
    pub(super) facts: ServerFacts,
    /// Which file systems have extended attributes.
    pub(super) xattr_support: XattrSupport,
    /// How files are made.
    pub(super) making: Making,
    /// Files that are open because something of them is locked.
    pub(super) opens: Arc<OpenStates>,
    /// Directories that nobody else changes unnoticed.
    pub(super) delegations: Arc<ClientDelegations>,
    /// Where the server is, and who it says that it is.
    server: String,
    below_root: Vec<Vec<u8>>,
    first_below: Option<Result<Node>>,
}

/// Where a path of a server leads.
pub(super) struct Walked {
    /// The last directory that there is.
    pub(super) root: Node,
    /// How many names lead to it.
    pub(super) depth: usize,
    /// The names below it.
    pub(super) below: Vec<Vec<u8>>,
    /// What the first of them leads to.
    pub(super) first_below: Option<Result<Node>>,
    /// What the server says of the file system there.
    pub(super) facts: ServerFacts,
}

impl Nfs4Client {
    /// Of what was found at the end of a path.
    pub(super) fn new(
        calls: CompoundCalls,
        (opens, delegations): (Arc<OpenStates>, Arc<ClientDelegations>),
        (server, walked): (String, Walked),
        wanted: &Wanted,
    ) -> Self {
        let sizes = walked.facts.sizes(calls.session.sizes(), wanted);
        let can_verify = walked.facts.attributes.contains(NUMLINKS);
        Self {
            calls,
            root: walked.root,
            has_lost_root: AtomicBool::new(false),
            verifiers: Verifiers::default(),
            sizes,
            facts: walked.facts,
            xattr_support: XattrSupport::new(walked.root.handle, walked.root.attributes.file_system),
            making: Making::new(can_verify),
            opens,
            delegations,
            server,
            below_root: walked.below,
            first_below: walked.first_below,
        }
    }

    /// Makes a node the current one. Stale if its handle is a number that is not known.
    pub(super) fn put(&self, node: &Handle) -> Result<Operation<'static>> {
        self.calls.handles.to_wire(node).map(Operation::PutHandle)
    }

    /// Makes a call, and makes it again while its session is lost or the server says "not now".
    pub(super) fn call(&self, caller: &Caller, compound: &Compound<'_>) -> Result<Results> {
        self.calls.call(caller, compound)
    }

    /// Starts a call.
    pub(super) fn start(
        &self,
        caller: &Caller,
        compound: &Compound<'_>,
        payload: Option<Payload>,
        receive: Option<ReceiveInto>,
    ) -> Pending {
        self.calls.start(caller, compound, payload, receive)
    }

    /// Notes what an answer about a node says of the root.
    pub(super) fn note_root<T>(&self, node: &Handle, outcome: Result<T>) -> Result<T> {
        if *node == self.root.handle && matches!(outcome, Err(FsError::Stale | FsError::BadHandle)) {
            self.has_lost_root.store(true, Ordering::Relaxed);
        }
        outcome
    }
}

impl Remote for Nfs4Client {
    fn channel(&self) -> &Arc<Channel> {
        &self.calls.channel
    }

    fn protocol(&self) -> &'static str {
        if self.calls.session.minor_version() == 1 { "NFSv4.1" } else { "NFSv4.2" }
    }

    fn program(&self) -> (u32, u32) {
        (nfs4::PROGRAM, nfs4::VERSION)
    }

    fn sizes(&self) -> Sizes {
        self.sizes
    }

    fn has_lost_root(&self) -> bool {
        self.has_lost_root.load(Ordering::Relaxed)
    }

    fn root_at_connect(&self) -> Option<Node> {
        Some(self.root)
    }

    fn below_root(&self) -> &[Vec<u8>] {
        &self.below_root
    }

    fn first_below_at_connect(&self) -> Option<Result<Node>> {
        self.first_below
    }

    fn server_identity(&self) -> Option<&str> {
        Some(&self.server)
    }

    fn session_grant(&self) -> Option<SessionGrant> {
        let sizes = self.calls.session.sizes();
        Some(SessionGrant {
            minor_version: self.calls.session.minor_version(),
            slots: sizes.slots,
            operations: sizes.operations,
            request: sizes.request,
            response: sizes.response,
            kept_response: sizes.kept_response,
            lease: self.facts.lease,
        })
    }

    fn sync_handles(&self) -> io::Result<()> {
        self.calls.handles.sync()
    }

    fn leave(&self) {
        self.calls.session.end();
    }

    fn connect_calls(&self) -> &[ProcedureReport] {
        &[]
    }
}
