//! SETACL: sets ACLs of a node.

use howdah_vfs::{AclKind, Change, SetAcl};
use howdah_wire::nfs3::{Refused, Status};
use howdah_wire::nfsacl::AclSelection;
use howdah_wire::nfsacl::setacl::{Arguments, Reply as Answer, Success};
use howdah_wire::xdr::Decode;

use super::acl_entries::{acl_to_set, selects};
use super::acl_program::NfsAcl;
use super::context::{Context, Object, nothing_known};
use super::convert;
use crate::{Refusal, Reply, Request};

/// Answers a call.
pub fn run(acls: &NfsAcl, request: &mut Request<'_, '_>, reply: &mut Reply) -> Result<(), Refusal> {
    let exports = acls.nfs3.exports();
    let context = Context::new(&acls.nfs3, &exports, request)?;
    let arguments = Arguments::decode(&mut request.arguments)?;
    reply.write(&answer(&context, &arguments));
    Ok(())
}

fn answer(context: &Context<'_>, arguments: &Arguments<'_>) -> Answer {
    let node = context.open(arguments.node).map_err(nothing_known)?;
    let mut change = Change::default();
    let outcome = set(&node, arguments, &mut change);
    let attributes = node.attributes_or(change.after.as_ref());
    match outcome {
        Ok(()) => Ok(Success { attributes }),
        Err(status) => Err(Refused { status, detail: attributes }),
    }
}

/// Both lists must make sense before one is set. An ACL that is not selected stays as it is.
fn set(node: &Object<'_>, arguments: &Arguments<'_>, change: &mut Change) -> Result<(), Status> {
    if arguments.selection.intersects(AclSelection(!AclSelection::ALL.0)) {
        return Err(Status::Invalid);
    }
    let sent = [(AclKind::Access, &arguments.access), (AclKind::Default, &arguments.default)];
    let [access, default] = sent.map(|(kind, acl)| {
        let is_selected = arguments.selection.intersects(selects(kind).0);
        is_selected.then(|| acl_to_set(acl)).transpose().map(|acl| (kind, acl))
    });
    let acls = node.acls().ok_or(Status::NotSupported)?;
    for (kind, acl) in [access?, default?] {
        let Some(acl) = acl else { continue };
        let set = SetAcl::new(&node.handle, kind, acl.as_ref());
        acls.set_acl(&node.caller, set, change).map_err(convert::status)?;
    }
    Ok(())
}
