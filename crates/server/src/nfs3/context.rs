//! From the handle and the credentials of a call to the file system behind them, and back. Every handle that a
//! client sends passes here, so this is where exports are guarded.

use std::time::Instant;

use howdah_state::IoKind;
use howdah_vfs::{Attributes, Caller, Change, FileSystem, Handle, PosixAcls};
use howdah_wire::nfs3::{self, FileHandle, Refused, Status, WeakCacheConsistency};
use howdah_wire::rpc::AuthStatus;

use super::Nfs3Program;
use super::convert;
use crate::counts::at_export;
use crate::exports::{Admission, Export, Exports, Identity, NotAdmitted, SecurityFlavor};
use crate::handle::HandleKey;
use crate::states::{Changer, FileKey, Recalling};
use crate::{Peer, Refusal, Request, SealedHandle};

/// Who calls, and the exports as they were when the call came.
pub struct Context<'c> {
    nfs3: &'c Nfs3Program,
    exports: &'c Exports,
    /// Who asks, and where.
    pub peer: &'c Peer,
    identity: Identity,
    /// Clients ask so while they mount.
    is_of_mount: bool,
    is_put_off: bool,
    is_protected: bool,
}

/// Procedures by which clients look at the root of an export while they mount it.
const OF_MOUNTS: [u32; 4] =
    [nfs3::getattr::PROCEDURE, nfs3::fsstat::PROCEDURE, nfs3::fsinfo::PROCEDURE, nfs3::pathconf::PROCEDURE];

/// A node that a client named by its handle, and the way to it.
pub struct Object<'c> {
    /// The file system it lives in, as this client may see it.
    pub file_system: Recalling<'c>,
    /// Who the call acts as.
    pub caller: Caller,
    /// The node.
    pub handle: Handle,
    exports: &'c Exports,
    export: &'c Export,
}

impl<'c> Context<'c> {
    /// The context of a call.
    pub fn new<'p: 'c>(
        nfs3: &'c Nfs3Program,
        exports: &'c Exports,
        request: &Request<'p, '_>,
    ) -> Result<Self, Refusal> {
        let first = request.outline.node.map(FileHandle);
        let (peer, flavor) = (request.peer, SecurityFlavor::of(&request.header.credentials));
        let is_of_mount =
            request.header.program == nfs3::PROGRAM && OF_MOUNTS.contains(&request.header.procedure);
        let is_refused = |first| !exports.take(first, peer, flavor, is_of_mount);
        if exports.judge_security(flavor) && first.is_some_and(is_refused) {
            return Err(Refusal::Authentication(AuthStatus::TooWeak));
        }
        let identity = exports
            .identify(&request.header.credentials, request.principal)
            .map_err(Refusal::Authentication)?;
        let (is_put_off, is_protected) = (request.is_put_off, request.is_protected);
        Ok(Self { nfs3, exports, peer, identity, is_of_mount, is_put_off, is_protected })
    }

    /// Whether a READ's data must be in memory: a datagram leaves in one piece, a file that cannot be sent as a range is refused
    /// only while nothing of the reply has gone, and what is signed must not change meanwhile.
    pub fn copies_reads(&self) -> bool {
        self.is_protected || self.peer.transport.is_datagrams() || self.nfs3.ranges.are_doubted()
    }

    /// Lets data of a file be read or changed, unless the open of an NFSv4 client denies it to others. NFSv3 has no status for that;
    /// who gets JUKEBOX asks again until the open ends.
    pub fn permits(&self, file: &Object<'_>, kind: IoKind) -> Result<(), Status> {
        self.permits_node(file, file.handle, kind)
    }

    /// The same of a node in the same export.
    pub fn permits_node(&self, beside: &Object<'_>, node: Handle, kind: IoKind) -> Result<(), Status> {
        let key = || FileKey { export: beside.export.id(), node };
        if self.nfs3.permits(key, kind) { Ok(()) } else { Err(Status::Jukebox) }
    }

    /// Whether clients of NFSv4 deny anything to others now: else nobody need be asked for permission.
    pub fn is_restricted(&self) -> bool {
        self.nfs3.states().is_some_and(|states| states.is_restricted())
    }

    /// Whether no other client was told that it made this file with this verifier.
    pub fn is_first_maker(&self, directory: &Object<'_>, file: &Handle, verifier: [u8; 8]) -> bool {
        let (export, client) = (directory.export.id(), self.peer.ends.client.ip());
        self.nfs3.makers.is_first(export, file, verifier, client, Instant::now())
    }

    /// What a handle names. It is judged on every call: that we gave it out, that its export is still there, and
    /// that this client may use it.
    pub fn open(&self, handle: FileHandle<'_>) -> Result<Object<'c>, Status> {
        let Some((id, handle)) = self.exports.open(handle) else {
            let may_be_of_another = HandleKey::may_be_of_another(handle.0);
            return Err(if may_be_of_another { Status::Stale } else { Status::BadHandle });
        };
        let export = self.exports.find(id).ok_or(Status::Stale)?;
        at_export(export.place());
        if self.is_put_off {
            return Err(Status::Jukebox);
        }
        // The second handle of a call: by the first one it was judged as a whole.
        if !export.takes(self.peer) {
            return Err(Status::AccessDenied);
        }
        let Admission { file_system, caller, .. } = match export.admit(self.peer, &self.identity) {
            Err(NotAdmitted::WrongFlavor)
                if self.is_of_mount && export.is_open_at(&handle, self.identity.flavor()) =>
            {
                export.admit_unproved(self.peer).map_err(convert::status)?
            }
            // Only of a second handle, as above.
            Err(NotAdmitted::WrongFlavor) => {
                export.log_flavor(self.peer, self.identity.flavor());
                return Err(Status::AccessDenied);
            }
            Err(NotAdmitted::Refused(error)) => return Err(convert::status(error)),
            Ok(admission) => admission,
        };
        let changer = Changer::of(self.nfs3.states(), export, None);
        let file_system = Recalling::around(file_system, changer);
        Ok(Object { file_system, caller, handle, exports: self.exports, export })
    }
}

impl Object<'_> {
    /// Whether both are of one export.
    pub fn is_beside(&self, other: &Self) -> bool {
        self.export.id() == other.export.id()
    }

    /// The ACLs of this object's file system. Those of another host stay there: clients ask for the ACL of each file that they list, which
    /// would cost a round trip each.
    pub fn acls(&self) -> Option<&dyn PosixAcls> {
        if self.export.waits() { None } else { FileSystem::acls(&self.file_system) }
    }

    /// What the client gets for a handle of this object's file system.
    pub fn seal(&self, handle: &Handle) -> SealedHandle {
        self.exports.seal(self.export, handle)
    }

    /// Attributes of this object's file system as clients see them.
    pub fn tell(&self, attributes: &Attributes) -> nfs3::Attributes {
        convert::attributes(attributes, self.export.visible_file_system(attributes.file_system))
    }

    /// The object's attributes now, if they can be had: what `post_op_attr` wants.
    pub fn attributes(&self) -> Option<nfs3::Attributes> {
        self.file_system.attributes(&self.caller, &self.handle).ok().map(|attributes| self.tell(&attributes))
    }

    /// Attributes that came with an answer, or else those now.
    pub fn attributes_or(&self, known: Option<&Attributes>) -> Option<nfs3::Attributes> {
        known.map_or_else(|| self.attributes(), |attributes| Some(self.tell(attributes)))
    }

    /// The object before and after a call that changed it, or failed to. What it was before is told only if the
    /// file system knows; what it is after is asked for if need be.
    pub fn consistency(&self, change: &Change) -> WeakCacheConsistency {
        WeakCacheConsistency {
            before: change.before.as_ref().map(convert::before),
            after: self.attributes_or(change.after.as_ref()),
        }
    }
}

/// A refusal with nothing known beside it: the handle led nowhere.
pub fn nothing_known<T: Default>(status: Status) -> Refused<T> {
    Refused { status, detail: T::default() }
}
