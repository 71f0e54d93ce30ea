//! GETACL: the ACLs of a node.

use howdah_vfs::{Acl, AclKind, Attributes, FileSystem, FsError, Result as FsResult};
use howdah_wire::nfs3::{Refused, Status};
use howdah_wire::nfsacl::AclSelection;
use howdah_wire::nfsacl::getacl::{Arguments, Reply as Answer, Success};
use howdah_wire::xdr::Decode;

use super::acl_entries::{SelectedAcl, selects};
use super::acl_program::NfsAcl;
use super::context::{Context, Object, nothing_known};
use super::convert;
use crate::{Refusal, Reply, Request};

/// Answers a call.
pub fn run(acls: &NfsAcl, request: &mut Request<'_, '_>, reply: &mut Reply) -> Result<(), Refusal> {
    let exports = acls.nfs3.exports();
    let context = Context::new(&acls.nfs3, &exports, request)?;
    let arguments = Arguments::decode(&mut request.arguments)?;
    let selection = arguments.selection;
    match read(&context, &arguments) {
        Ok((attributes, [access, default])) => {
            let (access, default, attributes) = (access.as_wire(), default.as_wire(), Some(attributes));
            reply.write(&Answer::Ok(Success { attributes, selection, access, default }));
        }
        Err(refused) => reply.write(&Answer::Err(refused)),
    }
    Ok(())
}

/// What is read: attributes of the node, its access ACL, its default ACL.
type Found = (howdah_wire::nfs3::Attributes, [SelectedAcl; 2]);

fn read(
    context: &Context<'_>,
    arguments: &Arguments<'_>,
) -> Result<Found, Refused<Option<howdah_wire::nfs3::Attributes>>> {
    let node = context.open(arguments.node).map_err(nothing_known)?;
    let refused = |status| Refused { status, detail: node.attributes() };
    if arguments.selection.intersects(AclSelection(!AclSelection::ALL.0)) {
        return Err(refused(Status::Invalid));
    }
    let found = read_selected(&node, arguments.selection);
    let (attributes, acls) = found.map_err(|error| refused(convert::status(error)))?;
    Ok((node.tell(&attributes), acls))
}

fn read_selected(node: &Object<'_>, selection: AclSelection) -> FsResult<(Attributes, [SelectedAcl; 2])> {
    let attributes = node.file_system.attributes(&node.caller, &node.handle)?;
    let read = |kind| read_one(node, &attributes, selection, kind);
    Ok((attributes, [read(AclKind::Access)?, read(AclKind::Default)?]))
}

fn read_one(
    node: &Object<'_>,
    attributes: &Attributes,
    selection: AclSelection,
    kind: AclKind,
) -> FsResult<SelectedAcl> {
    let (entries, count) = selects(kind);
    if !selection.intersects(entries.and(count)) {
        return Ok(SelectedAcl::default());
    }
    let acl = match kind {
        AclKind::Access => found_acl(node, kind)?.or_else(|| Some(Acl::from_mode(attributes.mode))),
        AclKind::Default => found_acl(node, kind)?,
    };
    let selected = |acl| SelectedAcl::new(acl, kind, attributes, selection.intersects(entries));
    Ok(acl.map(selected).unwrap_or_default())
}

/// The ACL of a node; none where there are no ACLs. Clients remember that, and would ask again before each file that they make if this
/// were refused.
fn found_acl(node: &Object<'_>, kind: AclKind) -> FsResult<Option<Acl>> {
    match node.acls().map(|acls| acls.get_acl(&node.caller, &node.handle, kind)) {
        None | Some(Err(FsError::NotSupported)) => Ok(None),
        Some(found) => found,
    }
}
