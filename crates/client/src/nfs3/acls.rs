//! GETACL and SETACL of NFSACL, on the connections of NFS.

use std::sync::atomic::Ordering;

use howdah_vfs::{
    Acl, AclEntry, AclKind, Attributes, Caller, Change, FileKind, FsError, Handle, PosixAcls, Result, SetAcl,
};
use howdah_wire::nfs3;
use howdah_wire::nfsacl::{self, AclEntryOnWire, AclOnWire, AclSelection, getacl, setacl};
use howdah_wire::xdr::{Array, Encode};

use super::client::Nfs3;
use super::convert::{attributes, file_handle};
use super::exchange::{Results, success};
use super::procedure::Procedure;
use crate::channel::{Class, Request};

const GET: Procedure = Procedure::idempotent(getacl::PROCEDURE, "GETACL", Class::Attributes).optional();
const SET: Procedure = Procedure::once(setacl::PROCEDURE, "SETACL").optional();

/// The ACLs and attributes of a node, from one answer.
struct NodeAcls {
    attributes: Attributes,
    access: Option<Acl>,
    default: Option<Acl>,
}

impl PosixAcls for Nfs3 {
    fn get_acl(&self, caller: &Caller, node: &Handle, kind: AclKind) -> Result<Option<Acl>> {
        match kind {
            AclKind::Access => {
                let found = self.get_acls(caller, node, AclSelection::ACCESS)?.access;
                Ok(found.filter(|acl| !acl.is_minimal()))
            }
            AclKind::Default => Ok(self.get_acls(caller, node, AclSelection::DEFAULT)?.default),
        }
    }

    /// Servers may drop an ACL of a directory that a call does not set, so both are set.
    fn set_acl(
        &self,
        caller: &Caller,
        SetAcl { node, kind, acl }: SetAcl<'_>,
        change: &mut Change,
    ) -> Result<()> {
        let found = self.get_acls(caller, node, AclSelection::ACCESS.and(AclSelection::DEFAULT))?;
        let mode = || Acl::from_mode(found.attributes.mode);
        let acl = acl.cloned();
        let (access, default) = match kind {
            AclKind::Access => (acl.unwrap_or_else(mode), found.default),
            AclKind::Default => (found.access.unwrap_or_else(mode), acl),
        };
        let is_directory = found.attributes.kind == FileKind::Directory;
        let selection = match kind {
            _ if is_directory => AclSelection::ACCESS.and(AclSelection::DEFAULT),
            AclKind::Access => AclSelection::ACCESS,
            AclKind::Default => AclSelection::DEFAULT,
        };
        self.set_acls(caller, node, selection, (&access, default.as_ref()), change)
    }
}

impl Nfs3 {
    /// Whether the server may have ACLs: it was not asked yet, or has answered.
    pub(super) fn may_have_acls(&self) -> bool {
        !self.has_no_acls.load(Ordering::Relaxed)
    }

    fn get_acls(&self, caller: &Caller, node: &Handle, selection: AclSelection) -> Result<NodeAcls> {
        let arguments = getacl::Arguments { node: file_handle(node), selection };
        let results = self.call_acls(caller, GET, &arguments)?;
        let found = success(results.decode::<getacl::Reply<'_>>(GET)?, |_| {})?;
        let attributes = self.told(caller, node, found.attributes.as_ref())?;
        Ok(NodeAcls { attributes, access: received(&found.access)?, default: received(&found.default)? })
    }

    fn set_acls(
        &self,
        caller: &Caller,
        node: &Handle,
        selection: AclSelection,
        (access, default): (&Acl, Option<&Acl>),
        change: &mut Change,
    ) -> Result<()> {
        let access = sent(Some(access), 0);
        let default = sent(default, AclEntryOnWire::DEFAULT);
        let arguments = setacl::Arguments {
            node: file_handle(node),
            selection,
            access: AclOnWire { count: access.len() as u32, entries: Array::of(&access) },
            default: AclOnWire { count: default.len() as u32, entries: Array::of(&default) },
        };
        let results = self.call_acls(caller, SET, &arguments)?;
        let note = |reply: &Option<nfs3::Attributes>| reply.as_ref().map(attributes);
        let mut after = None;
        let outcome = success(results.decode::<setacl::Reply>(SET)?, |reply| after = note(reply));
        let outcome = outcome.map(|done| after = note(&done.attributes));
        change.after = after;
        outcome
    }

    /// Makes a call of the other program. A server without it is not asked again.
    fn call_acls(&self, caller: &Caller, procedure: Procedure, arguments: &dyn Encode) -> Result<Results> {
        if !self.may_have_acls() {
            return Err(FsError::NotSupported);
        }
        let request = || Request {
            program: nfsacl::PROGRAM,
            version: nfsacl::VERSION,
            ..self.request(caller, procedure, arguments, None, None)
        };
        let answer = self.insist(procedure, None, request);
        if answer.as_ref().is_err_and(|error| *error == FsError::NotSupported) {
            self.has_no_acls.store(true, Ordering::Relaxed);
        }
        Ok(answer?.into())
    }
}

/// The ACL in an answer.
fn received(acl: &AclOnWire<'_>) -> Result<Option<Acl>> {
    if acl.entries.is_empty() {
        return Ok(None);
    }
    let entry = |sent: AclEntryOnWire| {
        AclEntry::from_parts(sent.tag & !AclEntryOnWire::DEFAULT, sent.id, sent.rights)
    };
    let entries: Result<Vec<_>> = acl.entries.iter().map(entry).collect();
    // What the server sends is no list: it is at fault, not its caller.
    let acl = entries.and_then(Acl::new).map_err(|_| FsError::ServerFault)?;
    Ok(Some(acl.without_equal_mask()))
}

/// An ACL for the server, which knows the ids of the owner and the owning group itself.
fn sent(acl: Option<&Acl>, flag: u32) -> Vec<AclEntryOnWire> {
    let Some(acl) = acl else { return Vec::new() };
    let entry = |entry: &AclEntry| AclEntryOnWire {
        tag: u32::from(entry.tag()) | flag,
        id: entry.id().unwrap_or(0),
        rights: entry.rights.into(),
    };
    acl.clone().with_mask().entries().iter().map(entry).collect()
}
