//! POSIX ACLs and extended attributes of a copy.

use std::ops::ControlFlow;

use howdah_vfs::{
    Acl, AclKind, Change, FileKind, FsError, Node, Result, SetAcl, SetXattr, SetXattrMode, XattrName,
};

use super::context::Context;
use super::side::Side;

/// Gives a file or directory at the destination the ACLs and extended attributes of its source, as far as they are asked for and
/// both sides have them. After its mode, which an ACL sets too.
pub(super) fn give_extras(context: &Context, source: &Side, node: &Node, copy: &Node) -> Result<()> {
    if !matches!(node.attributes.kind, FileKind::Regular | FileKind::Directory) {
        return Ok(());
    }
    let preserve = &context.options.preserve;
    if preserve.xattrs {
        unless_unsupported(
            context,
            give_xattrs(context, source, node, copy),
            "the source or the destination has no extended attributes: none are copied",
        )?;
    }
    if preserve.acls {
        unless_unsupported(
            context,
            give_acls(context, source, node, copy),
            "the source or the destination has no POSIX ACLs: none are copied",
        )?;
    }
    Ok(())
}

fn unless_unsupported(context: &Context, outcome: Result<()>, note: &'static str) -> Result<()> {
    match outcome {
        Err(FsError::NotSupported) => {
            context.note(note);
            Ok(())
        }
        outcome => outcome,
    }
}

fn give_acls(context: &Context, source: &Side, node: &Node, copy: &Node) -> Result<()> {
    give_acl(context, source, node, copy, AclKind::Access)?;
    match node.attributes.kind {
        FileKind::Directory => give_acl(context, source, node, copy, AclKind::Default),
        _ => Ok(()),
    }
}

/// Sets an ACL unless the copy has it already, perhaps from a directory's default.
fn give_acl(context: &Context, source: &Side, node: &Node, copy: &Node, kind: AclKind) -> Result<()> {
    let acl = source.file_system.require_acls()?.get_acl(&source.caller, &node.handle, kind)?;
    let (acls, caller) = (context.destination.file_system.require_acls()?, &context.destination.caller);
    if acls.get_acl(caller, &copy.handle, kind)? == acl {
        return Ok(());
    }
    let of_mode = || Acl::from_mode(node.attributes.mode);
    let acl = acl.or_else(|| (kind == AclKind::Access).then(of_mode));
    acls.set_acl(caller, SetAcl::new(&copy.handle, kind, acl.as_ref()), &mut Change::default())
}

fn give_xattrs(context: &Context, source: &Side, node: &Node, copy: &Node) -> Result<()> {
    let from = source.file_system.require_xattrs()?;
    let (to, caller) = (context.destination.file_system.require_xattrs()?, &context.destination.caller);
    for name in names(source, node)? {
        let (name, mut value, mut there) = (XattrName::parse(&name)?, Vec::new(), Vec::new());
        match from.get_xattr(&source.caller, &node.handle, name, &mut value) {
            // It was removed meanwhile.
            Err(FsError::NoXattr) => continue,
            found => found?,
        }
        if to.get_xattr(caller, &copy.handle, name, &mut there).is_ok() && there == value {
            continue;
        }
        let set = SetXattr::new(&copy.handle, name, &value, SetXattrMode::Either);
        to.set_xattr(caller, set, &mut Change::default())?;
    }
    Ok(())
}

/// The names of a node's extended attributes.
fn names(side: &Side, node: &Node) -> Result<Vec<Vec<u8>>> {
    let xattrs = side.file_system.require_xattrs()?;
    let (mut names, mut last) = (Vec::new(), 0);
    while !xattrs.list_xattrs(&side.caller, &node.handle, last, &mut |name, cookie| {
        names.push(name.as_bytes().to_vec());
        last = cookie;
        ControlFlow::Continue(())
    })? {}
    Ok(names)
}
