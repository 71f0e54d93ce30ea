//! COMPOUND (RFC 8881 16.2): operations one after the other, until one is refused. Each is decoded, run and answered before the
//! next is looked at.

use std::cell::OnceCell;
use std::sync::Arc;

use howdah_state::{ClientId, IoKind, IoPermit};
use howdah_wire::nfs4::compound::{Head, ReplyPlace, ResultPlace};
use howdah_wire::nfs4::operation::{self, ILLEGAL};
use howdah_wire::nfs4::{FileHandle, StateId, Status, sequence};
use howdah_wire::xdr::{Decode, DecodeError, DecodeProblem, Decoder};

use super::Nfs4;
use super::lock;
use super::node::{Node, Object};
use super::pseudo::{Behind, PseudoDirectory, PseudoTree};
use super::session::{Begun, Sequence, Session};
use super::table::{self, Operation, Place};
use super::{convert, session};
use crate::counts::at_export;
use crate::exports::{Exports, Identity};
use crate::request::BulkData;
use crate::{Peer, Refusal, Reply, Request, SealedHandle};

/// The most bytes of a result that changes something and names no data: a reply must have room for it before it runs.
const CHANGE_RESULT_MAX: usize = 2 << 10;

/// A compound while it runs.
pub struct Compound<'c> {
    /// The program.
    pub nfs4: &'c Nfs4,
    /// The exports as they were when the call came.
    pub exports: &'c Arc<Exports>,
    /// Who asks, and where.
    pub peer: &'c Peer,
    /// Who asks, as the credentials say.
    pub identity: &'c Identity,
    /// 1 or 2.
    pub minor_version: u32,
    /// How many operations it has.
    pub operations: u32,
    /// The session that it runs in, from SEQUENCE on.
    pub session: Option<Session>,
    /// The current node.
    pub current: Option<Node<'c>>,
    /// The current stateid (RFC 8881 16.2.3.1.2).
    pub stateid: Option<StateId>,
    /// What SAVEFH saved.
    pub saved: Option<(Node<'c>, Option<StateId>)>,
    /// The data of a WRITE that is still in the socket: then the arguments end right before it.
    pub waiting: Option<&'c mut dyn BulkData>,
    /// The arguments behind that data.
    pub behind: Option<Vec<u8>>,
    tree: OnceCell<Arc<PseudoTree>>,
    is_put_off: bool,
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
pub struct Ending {
    /// That of the last operation.
    pub status: Status,
    /// How many operations were answered.
    pub results: u32,
}

/// Answers COMPOUND.
///
/// # Errors
/// Its credentials are not taken, or its head makes no sense.
pub fn run(nfs4: &Nfs4, request: &mut Request<'_, '_>, reply: &mut Reply) -> Result<(), Refusal> {
    let exports = nfs4.exports();
    let identity = exports.identify(&request.header.credentials).map_err(Refusal::Authentication)?;
    let Head { tag, minor_version, operations } = Head::decode(&mut request.arguments)?;
    let place = ReplyPlace::begin(&mut reply.encoder(), tag);
    let mut compound = Compound {
        nfs4,
        exports: &exports,
        peer: request.peer,
        identity: &identity,
        minor_version,
        operations,
        session: None,
        current: None,
        stateid: None,
        saved: None,
        waiting: request.waiting.as_deref_mut().map(|waiting| waiting as &mut dyn BulkData),
        behind: None,
        tree: OnceCell::new(),
        is_put_off: request.is_put_off,
    };
    let ending = match minor_version {
        1 | 2 => compound.answer(&mut request.arguments, reply),
        _ => Ending { status: Status::MINOR_VERS_MISMATCH, results: 0 },
    };
    place.finish(&mut reply.encoder(), ending.status, ending.results);
    Ok(())
}

impl<'c> Compound<'c> {
    fn answer(&mut self, arguments: &mut Decoder<'_>, reply: &mut Reply) -> Ending {
        if self.operations == 0 {
            return Ending { status: Status::OK, results: 0 };
        }
        let first = arguments.clone().u32("operation").unwrap_or(ILLEGAL);
        if first != sequence::OPERATION {
            return self.without_session(first, arguments, reply);
        }
        let _ = arguments.u32("operation");
        let result = ResultPlace::begin(&mut reply.encoder(), first);
        match session::begin(self, arguments, reply) {
            Ok(Begun::New(sequence)) => self.in_session(sequence, arguments, reply),
            Ok(Begun::Replay(kept)) => kept.append_to(reply),
            Err(status) => {
                result.refuse(&mut reply.encoder(), status);
                Ending { status, results: 1 }
            }
        }
    }

    /// The operations behind SEQUENCE.
    fn in_session(&mut self, sequence: Sequence, arguments: &mut Decoder<'_>, reply: &mut Reply) -> Ending {
        let kept_from = reply.message().len();
        self.session = Some(sequence.session());
        let mut ending = Ending { status: Status::OK, results: 1 };
        self.steps(&sequence, arguments, reply, &mut ending);
        if let Some(behind) = self.behind.take() {
            self.steps(&sequence, &mut Decoder::new(&behind), reply, &mut ending);
        }
        sequence.finish(reply, kept_from, ending.status, ending.results);
        ending
    }

    /// Carries out operations until one is refused, or the arguments go on elsewhere.
    fn steps(
        &mut self,
        sequence: &Sequence,
        arguments: &mut Decoder<'_>,
        reply: &mut Reply,
        ending: &mut Ending,
    ) {
        while ending.status == Status::OK && ending.results < self.operations && self.behind.is_none() {
            ending.status = self.step(sequence, arguments, reply);
            ending.results += 1;
        }
    }

    fn step(&mut self, sequence: &Sequence, arguments: &mut Decoder<'_>, reply: &mut Reply) -> Status {
        let Ok(number) = arguments.u32("operation") else {
            ResultPlace::begin(&mut reply.encoder(), ILLEGAL).refuse(&mut reply.encoder(), Status::BADXDR);
            return Status::BADXDR;
        };
        let found = self.find(number, Place::InSession);
        let shown = if matches!(found, Err(Status::OP_ILLEGAL)) { ILLEGAL } else { number };
        let result = ResultPlace::begin(&mut reply.encoder(), shown);
        let outcome = found.map_err(Refused::Alone).and_then(|found| {
            if found.changes {
                sequence.room(reply, CHANGE_RESULT_MAX)?;
            }
            (found.run)(self, arguments, reply)?;
            if !found.changes {
                sequence.room(reply, 0)?;
            }
            Ok(())
        });
        refused(outcome, result, reply)
    }

    /// An operation that makes or ends sessions, alone.
    fn without_session(&mut self, number: u32, arguments: &mut Decoder<'_>, reply: &mut Reply) -> Ending {
        let _ = arguments.u32("operation");
        let found = self.find(number, Place::Alone);
        let shown = if matches!(found, Err(Status::OP_ILLEGAL)) { ILLEGAL } else { number };
        let result = ResultPlace::begin(&mut reply.encoder(), shown);
        let outcome = found.map_err(Refused::Alone).and_then(|found| {
            if self.operations > 1 {
                return Err(Status::NOT_ONLY_OP.into());
            }
            (found.run)(self, arguments, reply)
        });
        Ending { status: refused(outcome, result, reply), results: 1 }
    }

    fn find(&self, number: u32, place: Place) -> Result<&'static Operation, Status> {
        if !operation::exists(number, self.minor_version) {
            return Err(Status::OP_ILLEGAL);
        }
        if number == sequence::OPERATION {
            return Err(Status::SEQUENCE_POS);
        }
        let found = table::find(number);
        match (place, found) {
            (Place::Alone, Some(found)) if found.makes_sessions => Ok(found),
            (Place::Alone, _) => Err(Status::OP_NOT_IN_SESSION),
            (Place::InSession, Some(found)) if found.is_alone => Err(Status::NOT_ONLY_OP),
            (Place::InSession, Some(found)) => Ok(found),
            (Place::InSession, None) => Err(Status::NOTSUPP),
        }
    }

    /// The tree above the exports.
    pub fn tree(&self) -> &PseudoTree {
        self.tree.get_or_init(|| self.nfs4.tree_of(self.exports))
    }

    /// The current node.
    ///
    /// # Errors
    /// There is none.
    pub fn node(&self) -> Result<&Node<'c>, Status> {
        self.current.as_ref().ok_or(Status::NOFILEHANDLE)
    }

    /// The current node, which must be of an export.
    ///
    /// # Errors
    /// There is none, or it is a pseudo directory: then `pseudo`.
    pub fn object(&self, pseudo: Status) -> Result<&Object<'c>, Status> {
        match self.node()? {
            Node::Exported(object) => Ok(object),
            Node::Pseudo(_) => Err(pseudo),
        }
    }

    /// The current node, which is to be changed.
    ///
    /// # Errors
    /// There is none, or it is a pseudo directory.
    pub fn changed(&self) -> Result<&Object<'c>, Status> {
        self.object(Status::ROFS)
    }

    /// Makes a node the current one; it has no stateid (RFC 8881 16.2.3.1.2).
    pub fn put(&mut self, node: Node<'c>) {
        self.current = Some(node);
        self.stateid = None;
    }

    /// What a client gets for the handle of a node.
    pub fn seal(&self, node: &Node<'_>) -> SealedHandle {
        match node {
            Node::Exported(object) => object.seal(self.exports),
            Node::Pseudo(directory) => self.tree().seal(self.exports, *directory),
        }
    }

    /// What a handle names. It is judged on every call: that we gave it out, that its export is still there, and that this
    /// client may use it.
    ///
    /// # Errors
    /// BADHANDLE, STALE, ACCESS, PERM, DELAY.
    pub fn open_handle(&self, handle: FileHandle<'_>) -> Result<Node<'c>, Status> {
        let (id, inner) =
            self.exports.open(howdah_wire::nfs3::FileHandle(handle.0)).ok_or(Status::BADHANDLE)?;
        if PseudoTree::has(id) {
            return self.tree().open(&inner).map(Node::Pseudo).map_err(|_| Status::STALE);
        }
        let export = self.exports.find(id).ok_or(Status::STALE)?;
        at_export(export.place());
        if self.is_put_off {
            return Err(Status::DELAY);
        }
        let admission = export.admit(self.peer, self.identity).map_err(convert::status)?;
        Ok(Node::Exported(Object::new(export, admission, inner)))
    }

    /// The node behind a name of the pseudo file system, or its root.
    ///
    /// # Errors
    /// The export's rules refuse the client.
    pub fn behind(&self, behind: Behind) -> Result<Node<'c>, Status> {
        let Behind::Export(id, _) = behind else { return Ok(Node::Pseudo(behind.directory())) };
        let export = self.exports.find(id).ok_or(Status::STALE)?;
        at_export(export.place());
        let admission = export.admit(self.peer, self.identity).map_err(convert::status)?;
        Ok(Node::Exported(Object::new(export, admission, *export.root())))
    }

    /// Whether this client is shown what stands behind a name of the pseudo file system.
    pub fn is_shown(&self, behind: Behind) -> bool {
        self.tree().is_shown(self.exports, behind, self.peer, self.identity)
    }

    /// The pseudo directory that the root of an export covers.
    pub fn covered(&self, object: &Object<'_>) -> Option<PseudoDirectory> {
        object.is_root().then(|| self.tree().covered_by(object.export().id())).flatten()
    }

    /// The saved node, which must be of an export.
    ///
    /// # Errors
    /// There is none, or it is a pseudo directory: then `pseudo`.
    pub fn saved_object(&self, pseudo: Status) -> Result<&Object<'c>, Status> {
        match self.saved.as_ref() {
            Some((Node::Exported(object), _)) => Ok(object),
            Some((Node::Pseudo(_), _)) => Err(pseudo),
            None => Err(Status::NOFILEHANDLE),
        }
    }

    /// The client whose session this runs in.
    ///
    /// # Errors
    /// It runs in none.
    pub fn client(&self) -> Result<ClientId, Status> {
        self.session.as_ref().map(|session| session.client()).ok_or(Status::OP_NOT_IN_SESSION)
    }

    /// The largest reply of the session, in bytes.
    pub fn most_reply(&self) -> usize {
        self.session.as_ref().map_or(0, |session| session.data().fore.response as usize)
    }

    /// Whether I/O on a file may run by a stateid.
    ///
    /// # Errors
    /// The stateid is none of this file, or its open was not for this, or a deny mode forbids it.
    pub fn check_io(&self, file: &Object<'_>, sent: StateId, kind: IoKind) -> Result<IoPermit, Status> {
        let (client, stateid) = (self.client()?, lock::asked(self.stateid_of(sent)?));
        let key = file.key();
        self.nfs4.states.judge(|state, now| state.check_io(now, client, stateid, &key, kind))
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

fn refused(outcome: Outcome, result: ResultPlace, reply: &mut Reply) -> Status {
    let (status, body) = match outcome {
        Ok(()) => return Status::OK,
        Err(Refused::Alone(status)) => (status, Vec::new()),
        Err(Refused::With(status, body)) => (status, body),
    };
    reply.forget_content_from(result.body());
    result.refuse(&mut reply.encoder(), status);
    reply.bytes_mut().extend_from_slice(&body);
    status
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
