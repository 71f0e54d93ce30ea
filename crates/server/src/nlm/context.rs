//! From a call to the file and the host that it is of.

use std::sync::Arc;
use std::time::Duration;

use howdah_state::{HostId, LockGrant, NlmOwner, StateError};
use howdah_vfs::{Access, FileKind, FileSystem};
use howdah_wire::nfs3::FileHandle;
use howdah_wire::nlm::{Lock, Status};

use super::Nlm;
use super::convert;
use crate::counts::at_export;
use crate::exports::{Admission, Exports, Identity};
use crate::room::one_client;
use crate::states::{FileKey, LocalLock, LockHost, State};
use crate::{Peer, Refusal, Request};

/// A call, and the exports as they were when it came.
pub struct NlmContext<'c> {
    /// What answers it.
    pub nlm: &'c Nlm,
    exports: Arc<Exports>,
    peer: &'c Peer,
    identity: Identity,
    is_put_off: bool,
}

impl<'c> NlmContext<'c> {
    /// The context of a call.
    ///
    /// # Errors
    /// The credentials do not do.
    pub fn new<'p: 'c>(nlm: &'c Nlm, request: &Request<'p, '_>) -> Result<Self, Refusal> {
        let exports = nlm.exports();
        let identity = exports
            .identify(&request.header.credentials, request.principal)
            .map_err(Refusal::Authentication)?;
        Ok(Self { nlm, exports, peer: request.peer, identity, is_put_off: request.is_put_off })
    }

    /// Whether any export takes calls of this client. No other is called back.
    pub fn is_admitted(&self) -> bool {
        self.exports.admit_somewhere(self.peer, &self.identity)
    }

    /// The file that may be locked: as every call of NFS it is judged by the rules of its export. A lock that excludes others takes the
    /// right to write the file, another one the right to read or write it; its owner has both.
    ///
    /// # Errors
    /// The handle leads to no file, or to none that this client may lock.
    pub fn file(&self, handle: FileHandle<'_>, excludes: bool) -> Result<FileKey, Status> {
        let key = self.named(handle)?;
        let export = self.exports.find(key.export).ok_or(Status::Stale)?;
        at_export(export.place());
        if export.refuses_locks() {
            return Err(Status::NoLocks);
        }
        if self.is_put_off {
            // Clients come again after some seconds.
            return Err(Status::Grace);
        }
        let admission = export.admit_lock(self.peer, &self.identity).map_err(convert::refusal)?;
        let Admission { file_system, caller, read_only, .. } = admission;
        if excludes && read_only {
            return Err(Status::ReadOnly);
        }
        let writing = Access::MODIFY | Access::EXTEND;
        let wanted = if excludes { writing } else { writing | Access::READ };
        let access = file_system.access(&caller, &key.node, wanted);
        let (granted, attributes) = access.map_err(convert::refusal)?;
        let may_lock = granted.bits() != 0 || attributes.user == caller.user;
        if attributes.kind == FileKind::Regular && may_lock { Ok(key) } else { Err(Status::Failed) }
    }

    /// The file of a lock that is let go, no matter who may lock it now.
    ///
    /// # Errors
    /// The handle was never given out, or its export asks for another protection of calls.
    pub fn named(&self, handle: FileHandle<'_>) -> Result<FileKey, Status> {
        let (export, node) = self.exports.open(handle).ok_or(Status::Stale)?;
        // Not by the authentication of RPC, as NFSv3 is refused: calls whose answer is another call have no word for that.
        let judges = self.exports.judge_security(self.identity.flavor());
        if judges && self.exports.find(export).is_some_and(|export| !export.takes_locks(self.peer)) {
            return Err(Status::Failed);
        }
        Ok(FileKey { export, node })
    }

    /// Asks the state for a host.
    ///
    /// # Errors
    /// Why the state refuses.
    pub fn ask<T>(
        &self,
        caller: &[u8],
        call: impl Fn(&mut State, Duration, HostId) -> Result<T, StateError>,
    ) -> Result<T, StateError> {
        self.nlm.states.ask(self.for_host(caller, None, call))
    }

    /// Asks the state for a host that lets go of something. A host that is not known has nothing: then `nothing`. So has a caller whose
    /// port any user may use, where the host's locks came from a port of its root.
    ///
    /// # Errors
    /// Why the state refuses.
    pub fn release<T>(
        &self,
        caller: &[u8],
        nothing: T,
        call: impl Fn(&mut State, Duration, HostId) -> Result<T, StateError>,
    ) -> Result<T, StateError> {
        let host = LockHost::new(caller, &self.peer.ends);
        let name = host.to_bytes();
        let known = self.nlm.states.look(|state| state.hosts().find(&name));
        let hosts = self.nlm.states.hosts();
        match known.filter(|id| hosts.get(*id).is_some_and(|known| known.takes(self.peer))) {
            Some(id) => self.nlm.states.ask(|state, now| call(state, now, id)),
            None => Ok(nothing),
        }
    }

    /// Asks the state and the kernel for a lock. `number`: that of the host's status monitor, if it said so.
    ///
    /// # Errors
    /// Why it is refused.
    pub fn lock(
        &self,
        caller: &[u8],
        number: Option<u32>,
        file: &FileKey,
        call: impl Fn(&mut State, Duration, HostId) -> Result<LockGrant<FileKey>, StateError>,
    ) -> Result<LockGrant<FileKey>, StateError> {
        self.nlm.states.lock(file, self.for_host(caller, number, call))
    }

    /// Asks the state and the kernel whether a lock could be had.
    ///
    /// # Errors
    /// Why it could not.
    pub fn test(
        &self,
        caller: &[u8],
        file: &FileKey,
        wish: LocalLock,
        call: impl Fn(&mut State, Duration, HostId) -> Result<(), StateError>,
    ) -> Result<(), StateError> {
        self.nlm.states.test_lock(file, wish, self.for_host(caller, None, call))
    }

    /// The call of a host, which has a number from then on.
    fn for_host<T>(
        &self,
        caller: &[u8],
        number: Option<u32>,
        call: impl Fn(&mut State, Duration, HostId) -> Result<T, StateError>,
    ) -> impl Fn(&mut State, Duration) -> Result<T, StateError> {
        let host = LockHost::new(caller, &self.peer.ends);
        let name = host.to_bytes();
        let is_served = self.nlm.states.serve_address(host.server);
        move |state, now| {
            is_served.clone()?;
            let hosts = self.nlm.states.hosts();
            let may = match state.hosts().find(&name) {
                // An ordinary user of the host would change what its root locked.
                Some(id) => hosts.get(id).is_none_or(|known| known.takes(self.peer)),
                None => hosts.has_room(host.client),
            };
            if !may {
                return Err(StateError::NoSpace);
            }
            let id = state.nlm(now).host(&name, one_client(host.client))?;
            hosts.note(id, &host, self.peer, number);
            call(state, now, id)
        }
    }
}

/// Who locks.
pub fn owner(host: HostId, lock: &Lock<'_>) -> NlmOwner {
    NlmOwner { host, svid: lock.process, oh: lock.owner.0.into() }
}
