//! A compound while it runs: who asks, in which session, and the current node of its operations (RFC 8881 16.2).

use std::cell::OnceCell;
use std::sync::Arc;
use std::time::Duration;

use howdah_state::{ClientId, IoKind, IoPermit, LiveSession, SessionId, StateError};
use howdah_vfs::Handle;
use howdah_wire::nfs4::{FileHandle, StateId, Status};
use howdah_wire::xdr::{DecodeError, DecodeProblem, Decoder};

use super::Nfs4;
use super::convert;
use super::flavors;
use super::node::{CurrentNode, ExportedNode, FlavorAccess};
use super::pseudo::{Behind, PseudoDirectory, PseudoTree};
use super::purpose::Purpose;
use super::sequence::Sequence;
use crate::counts::at_export;
use crate::exports::{Export, Exports, Identity, NotAdmitted, SecurityFlavors};
use crate::handle::HandleKey;
use crate::outline::CompoundOpening;
use crate::request::{BulkData, Token};
use crate::states::{Changer, FileKey, SessionData, State, StateCaller};
use crate::{Peer, Reply, Request, SealedHandle};

/// A compound while it runs.
pub struct Compound<'c> {
    /// The program.
    pub nfs4: &'c Nfs4,
    /// The exports as they were when the call came.
    pub exports: &'c Arc<Exports>,
    /// Who asks, and where.
    pub peer: &'c Peer,
    /// The connection that it came over.
    pub line: Option<Token>,
    /// Who asks, as the credentials say.
    pub identity: &'c Identity,
    /// 1 or 2.
    pub minor_version: u32,
    /// How many operations it has, and how many of them come after the one that runs.
    pub operations: u32,
    pub left: u32,
    /// What the door has decoded already: each of it is taken when it runs.
    pub opening: CompoundOpening<'c>,
    /// The slot that it runs in, from SEQUENCE on.
    pub sequence: Option<Sequence>,
    /// The current node.
    pub current: Option<CurrentNode<'c>>,
    /// The current stateid (RFC 8881 16.2.3.1.2).
    pub stateid: Option<StateId>,
    /// What SAVEFH saved.
    pub saved: Option<(CurrentNode<'c>, Option<StateId>)>,
    /// The data of a WRITE that is still in the socket: then the arguments end right before it.
    pub waiting: Option<&'c mut dyn BulkData>,
    /// The arguments behind that data.
    pub behind: Option<Vec<u8>>,
    /// What it is made for.
    pub purpose: Purpose,
    tree: OnceCell<Arc<PseudoTree>>,
    is_put_off: bool,
    /// The reply is signed or encrypted, and so must be in memory.
    pub is_protected: bool,
}

/// An operation that is refused.
#[derive(Debug)]
pub enum Refused {
    /// With this status alone.
    Alone(Status),
    /// With this status, and a body behind it.
    With(Status, Vec<u8>),
}

/// What an operation answers.
pub type Outcome = Result<(), Refused>;

/// How a compound went: what the reply's head says.
pub struct CompoundEnd {
    /// That of the last operation.
    pub status: Status,
    /// How many operations were answered.
    pub results: u32,
}

impl<'c> Compound<'c> {
    /// One that has done nothing yet.
    pub fn new(
        nfs4: &'c Nfs4,
        exports: &'c Arc<Exports>,
        identity: &'c Identity,
        opening: CompoundOpening<'c>,
        request: &'c mut Request<'_, '_>,
    ) -> Self {
        Self {
            nfs4,
            exports,
            peer: request.peer,
            line: request.line,
            identity,
            minor_version: opening.head.minor_version,
            operations: opening.head.operations,
            left: 0,
            opening,
            sequence: None,
            current: None,
            stateid: None,
            saved: None,
            waiting: request.waiting.as_deref_mut().map(|waiting| waiting as &mut dyn BulkData),
            behind: None,
            purpose: Purpose::default(),
            tree: OnceCell::new(),
            is_put_off: request.is_put_off,
            is_protected: request.is_protected,
        }
    }

    /// The tree above the exports.
    pub fn tree(&self) -> &PseudoTree {
        self.tree.get_or_init(|| self.nfs4.tree_of(self.exports))
    }

    /// The current node.
    ///
    /// # Errors
    /// There is none, or it does not take the flavor of the call.
    pub fn node(&self) -> Result<&CurrentNode<'c>, Status> {
        self.node_with(|access| access == FlavorAccess::Full)
    }

    /// The current node, to be looked at.
    ///
    /// # Errors
    /// There is none, or it takes other flavors, and so does all that is below it.
    pub fn looked_at(&self) -> Result<&CurrentNode<'c>, Status> {
        self.node_with(|access| access != FlavorAccess::None)
    }

    fn node_with(&self, is_good: impl Fn(FlavorAccess) -> bool) -> Result<&CurrentNode<'c>, Status> {
        let node = self.node_of_any_flavor()?;
        if is_good(node.flavor_access()) {
            return Ok(node);
        }
        self.log_flavor(node);
        Err(Status::WRONGSEC)
    }

    /// The current node, whatever the flavor of the call: whoever asks for it judges that.
    ///
    /// # Errors
    /// There is none.
    pub fn node_of_any_flavor(&self) -> Result<&CurrentNode<'c>, Status> {
        self.current.as_ref().ok_or(Status::NOFILEHANDLE)
    }

    /// Says that a call is refused for its flavor.
    pub fn log_flavor(&self, node: &CurrentNode<'_>) {
        if let CurrentNode::Exported(object) = node {
            object.export().log_flavor(self.peer, self.identity.flavor());
        }
    }

    /// The current node, which must be of an export.
    ///
    /// # Errors
    /// There is none, or it is a pseudo directory: then `pseudo`.
    pub fn object(&self, pseudo: Status) -> Result<&ExportedNode<'c>, Status> {
        match self.node()? {
            CurrentNode::Exported(object) => Ok(object),
            CurrentNode::Pseudo(_) => Err(pseudo),
        }
    }

    /// The current node, which is to be changed.
    ///
    /// # Errors
    /// There is none, or it is a pseudo directory.
    pub fn changed(&self) -> Result<&ExportedNode<'c>, Status> {
        self.object(Status::ROFS)
    }

    /// Makes a node the current one; it has no stateid (RFC 8881 16.2.3.1.2).
    pub fn put(&mut self, node: CurrentNode<'c>) {
        self.current = Some(node);
        self.stateid = None;
    }

    /// What a client gets for the handle of a node.
    pub fn seal(&self, node: &CurrentNode<'_>) -> SealedHandle {
        match node {
            CurrentNode::Exported(object) => object.seal(self.exports),
            CurrentNode::Pseudo(directory) => self.tree().seal(self.exports, *directory),
        }
    }

    /// What a handle names. It is judged on every call: that we gave it out, that its export is still there, and that this
    /// client may use it.
    ///
    /// # Errors
    /// BADHANDLE, STALE, ACCESS, PERM, DELAY; WRONGSEC if it must be encrypted otherwise. By its flavor it is judged when it is used.
    pub fn open_handle(&self, handle: FileHandle<'_>) -> Result<CurrentNode<'c>, Status> {
        let Some((id, inner)) = self.exports.open(howdah_wire::nfs3::FileHandle(handle.0)) else {
            let may_be_of_another = HandleKey::may_be_of_another(handle.0);
            return Err(if may_be_of_another { Status::STALE } else { Status::BADHANDLE });
        };
        if PseudoTree::has(id) {
            return self.tree().open(&inner).map(CurrentNode::Pseudo).map_err(|_| Status::STALE);
        }
        self.exported(id, |_| inner)
    }

    /// The node behind a name of the pseudo file system, or its root.
    ///
    /// # Errors
    /// The export's rules refuse the client, or its calls are not encrypted as they must be; DELAY.
    pub fn behind(&self, behind: Behind) -> Result<CurrentNode<'c>, Status> {
        let Behind::Export(id, _) = behind else { return Ok(CurrentNode::Pseudo(behind.directory())) };
        self.exported(id, |export| *export.root())
    }

    fn exported(&self, id: u32, node: impl FnOnce(&Export) -> Handle) -> Result<CurrentNode<'c>, Status> {
        let export = self.exports.find(id).ok_or(Status::STALE)?;
        at_export(export.place());
        if self.is_put_off {
            return Err(Status::DELAY);
        }
        if !export.takes(self.peer) {
            return Err(Status::WRONGSEC);
        }
        let (admission, is_of_wrong_flavor) = match export.admit(self.peer, self.identity) {
            Ok(admission) => (admission, false),
            Err(NotAdmitted::Refused(error)) => return Err(convert::status(error)),
            Err(NotAdmitted::WrongFlavor) => {
                (export.admit_unproved(self.peer).map_err(convert::status)?, true)
            }
        };
        let node = ExportedNode::new(export, admission, self.changer(export), node(export));
        if !is_of_wrong_flavor {
            return Ok(CurrentNode::Exported(node));
        }
        let leads_on = self.flavors_of(&node).contains(self.identity.flavor());
        let access = if leads_on { FlavorAccess::OnTheWay } else { FlavorAccess::None };
        Ok(CurrentNode::Exported(node.with_flavor_access(access)))
    }

    /// The flavors that a node takes: what SECINFO lists, and what this compound is judged by.
    pub fn flavors(&self, node: &CurrentNode<'_>) -> SecurityFlavors {
        match node {
            CurrentNode::Pseudo(_) => flavors::of_pseudo(self.exports),
            CurrentNode::Exported(object) => self.flavors_of(object),
        }
    }

    fn flavors_of(&self, object: &ExportedNode<'_>) -> SecurityFlavors {
        let covered = self.covered(object);
        flavors::of_export((self.exports, self.tree()), self.peer, object.export(), covered)
    }

    /// Makes a node that was named by its handle the current one. `behind`: the operations that follow.
    ///
    /// # Errors
    /// WRONGSEC: it takes other flavors, and what follows would use it.
    pub fn put_by_handle(&mut self, node: CurrentNode<'c>, behind: &Decoder<'_>) -> Result<(), Status> {
        let access = node.flavor_access();
        if access != FlavorAccess::Full && flavors::is_refused_when_put(access, self.left, behind.clone()) {
            self.log_flavor(&node);
            return Err(Status::WRONGSEC);
        }
        self.put(node);
        Ok(())
    }

    /// Makes a node that was found by its name the current one.
    ///
    /// # Errors
    /// WRONGSEC: it takes other flavors, and so does all that is below it.
    pub fn put_by_name(&mut self, node: CurrentNode<'c>) -> Result<(), Status> {
        if node.flavor_access() == FlavorAccess::None {
            self.log_flavor(&node);
            return Err(Status::WRONGSEC);
        }
        self.put(node);
        Ok(())
    }

    fn changer(&self, export: &'c Export) -> Option<Changer<'c>> {
        Changer::of(Some(&self.nfs4.states), export, self.client().ok())
    }

    /// Whether this client is shown what stands behind a name of the pseudo file system.
    pub fn is_shown(&self, behind: Behind) -> bool {
        self.tree().is_shown(self.exports, behind, self.peer, self.identity)
    }

    /// The pseudo directory that the root of an export covers.
    pub fn covered(&self, object: &ExportedNode<'_>) -> Option<PseudoDirectory> {
        object.is_root().then(|| self.tree().covered_by(object.export().id())).flatten()
    }

    /// The saved node, which must be of an export.
    ///
    /// # Errors
    /// There is none, it does not take the flavor of the call, or it is a pseudo directory: then `pseudo`.
    pub fn saved_object(&self, pseudo: Status) -> Result<&ExportedNode<'c>, Status> {
        match self.saved.as_ref() {
            Some((node, _)) if node.flavor_access() != FlavorAccess::Full => {
                self.log_flavor(node);
                Err(Status::WRONGSEC)
            }
            Some((CurrentNode::Exported(object), _)) => Ok(object),
            Some((CurrentNode::Pseudo(_), _)) => Err(pseudo),
            None => Err(Status::NOFILEHANDLE),
        }
    }

    /// The session that this runs in.
    ///
    /// # Errors
    /// It runs in none.
    pub fn session(&self) -> Result<&LiveSession<SessionData>, Status> {
        self.sequence.as_ref().map(Sequence::session).ok_or(Status::OP_NOT_IN_SESSION)
    }

    /// Refuses the name of a session that this peer did not make, or not protected as now.
    ///
    /// # Errors
    /// There is none that is this peer's.
    pub fn refuse_other_session(&self, session: SessionId) -> Result<(), Status> {
        let is_its = self.nfs4.states.sessions().with(session, |session| session.data().takes(self.peer));
        if is_its.unwrap_or(false) { Ok(()) } else { Err(Status::BADSESSION) }
    }

    /// The client whose session this runs in.
    ///
    /// # Errors
    /// It runs in none.
    pub fn client(&self) -> Result<ClientId, Status> {
        self.session().map(LiveSession::client)
    }

    /// Whether the reply may grow by so many bytes.
    ///
    /// # Errors
    /// It would be too big for the session, or too big to be kept.
    pub fn room(&self, reply: &Reply, more: usize) -> Result<(), Status> {
        self.sequence.as_ref().map_or(Ok(()), |sequence| sequence.room(reply, more))
    }

    /// Who calls about a client, outside of any session of it.
    pub fn caller(&self) -> StateCaller {
        StateCaller::new(self.identity, self.peer)
    }

    /// Refuses peers of which no export takes a call, before anything is kept for them.
    ///
    /// # Errors
    /// It is one.
    pub fn refuse_strangers(&self) -> Result<(), Status> {
        if self.exports.admit_somewhere(self.peer, self.identity) {
            return Ok(());
        }
        self.nfs4.log_stranger(self.peer);
        Err(Status::PERM)
    }

    /// The largest reply of the session, in bytes.
    pub fn most_reply(&self) -> usize {
        self.session().map_or(0, |session| session.data().fore.response as usize)
    }

    /// Asks the state on behalf of a client, whose opens of files that are gone are in the way of nothing.
    ///
    /// # Errors
    /// Why the state refuses.
    pub fn without_gone_files<T>(
        &self,
        client: ClientId,
        call: impl Fn(&mut State, Duration) -> Result<T, StateError>,
    ) -> Result<T, Status> {
        let has_lost =
            |file: &FileKey| self.exports.find(file.export).is_none_or(|export| export.has_lost(&file.node));
        self.nfs4.states.judge_without_gone_files(client, has_lost, call)
    }

    /// Whether I/O on a file may run by a stateid.
    ///
    /// # Errors
    /// The stateid is none of this file, or its open was not for this, or a deny mode forbids it.
    pub fn check_io(&self, file: &ExportedNode<'_>, sent: StateId, kind: IoKind) -> Result<IoPermit, Status> {
        let (client, stateid) = (self.client()?, convert::asked(self.stateid_of(sent)?));
        self.nfs4.states.check_io(client, stateid, &file.key(), kind)
    }

    /// Refuses what must wait until clients of an earlier run have reclaimed what they had.
    ///
    /// # Errors
    /// They still may.
    pub fn refuse_in_grace(&self) -> Result<(), Status> {
        if self.nfs4.states.is_grace() { Err(Status::GRACE) } else { Ok(()) }
    }

    /// A stateid as a client sent it, or the current one where it says so.
    ///
    /// # Errors
    /// There is no current one.
    pub fn stateid_of(&self, sent: StateId) -> Result<StateId, Status> {
        if sent == StateId::CURRENT { self.stateid.ok_or(Status::BAD_STATEID) } else { Ok(sent) }
    }

    /// A stateid of the saved file: the current one is what was saved with it (RFC 7862 15.2.3).
    ///
    /// # Errors
    /// There is none.
    pub fn saved_stateid_of(&self, sent: StateId) -> Result<StateId, Status> {
        let saved = || self.saved.as_ref().and_then(|(_, stateid)| *stateid).ok_or(Status::BAD_STATEID);
        if sent == StateId::CURRENT { saved() } else { Ok(sent) }
    }
}

impl From<Status> for Refused {
    fn from(status: Status) -> Self {
        Self::Alone(status)
    }
}

impl From<DecodeError> for Refused {
    fn from(error: DecodeError) -> Self {
        // What is longer than any can be is well formed all the same.
        Self::Alone(match (error.what, error.problem) {
            ("file name", DecodeProblem::TooLong { .. }) => Status::NAMETOOLONG,
            ("value of an extended attribute", DecodeProblem::TooLong { .. }) => Status::XATTR2BIG,
            _ => Status::BADXDR,
        })
    }
}

impl From<howdah_vfs::FsError> for Refused {
    fn from(error: howdah_vfs::FsError) -> Self {
        Self::Alone(convert::status(error))
    }
}
