//! GETXATTR, SETXATTR, LISTXATTRS and REMOVEXATTR (RFC 8276): the extended attributes of the current node.

use std::ops::ControlFlow;

use howdah_vfs::{Change, SetXattr, SetXattrMode, XattrName};
use howdah_wire::nfs4::listxattrs::NameWriter;
use howdah_wire::nfs4::{ChangeInfo, Name, Status, getxattr, listxattrs, removexattr, setxattr};
use howdah_wire::xdr::{Decode, Decoder};

use super::compound::{Compound, Outcome};
use super::convert;
use super::node::ExportedNode;
use crate::Reply;

/// Answers GETXATTR.
pub fn get(compound: &mut Compound<'_>, arguments: &mut Decoder<'_>, reply: &mut Reply) -> Outcome {
    let getxattr::Arguments { name } = getxattr::Arguments::decode(arguments)?;
    let node = compound.object(Status::NOTSUPP)?;
    let xattrs = node.xattrs()?;
    let buffer = reply.bytes_mut();
    // The value is appended in its place, behind its length.
    let start = buffer.len() + 4;
    buffer.resize(start, 0);
    xattrs.get_xattr(&node.caller, &node.handle, XattrName::parse(name.0)?, buffer)?;
    let length = buffer.len() - start;
    let length_on_wire = u32::try_from(length).map_err(|_| Status::XATTR2BIG)?;
    buffer[start - 4..start].copy_from_slice(&length_on_wire.to_be_bytes());
    reply.encoder().pad(length);
    if reply.message_length() > compound.most_reply() { Err(Status::XATTR2BIG.into()) } else { Ok(()) }
}

/// Answers SETXATTR.
pub fn set(compound: &mut Compound<'_>, arguments: &mut Decoder<'_>, reply: &mut Reply) -> Outcome {
    let setxattr::Arguments { how, name, value } = setxattr::Arguments::decode(arguments)?;
    let mode = match how {
        setxattr::EITHER => SetXattrMode::Either,
        setxattr::CREATE => SetXattrMode::Create,
        setxattr::REPLACE => SetXattrMode::Replace,
        _ => return Err(Status::INVAL.into()),
    };
    let node = compound.object(Status::NOTSUPP)?;
    let (xattrs, name) = (node.xattrs()?, XattrName::parse(name.0)?);
    compound.refuse_in_grace()?;
    let mut change = Change::default();
    xattrs.set_xattr(&node.caller, SetXattr::new(&node.handle, name, value.0, mode), &mut change)?;
    reply.write(&setxattr::Success { node: changed(node, &change) });
    Ok(())
}

/// Answers REMOVEXATTR.
pub fn remove(compound: &mut Compound<'_>, arguments: &mut Decoder<'_>, reply: &mut Reply) -> Outcome {
    let removexattr::Arguments { name } = removexattr::Arguments::decode(arguments)?;
    let node = compound.object(Status::NOTSUPP)?;
    let (xattrs, name) = (node.xattrs()?, XattrName::parse(name.0)?);
    compound.refuse_in_grace()?;
    let mut change = Change::default();
    xattrs.remove_xattr(&node.caller, &node.handle, name, &mut change)?;
    reply.write(&removexattr::Success { node: changed(node, &change) });
    Ok(())
}

fn changed(node: &ExportedNode<'_>, change: &Change) -> ChangeInfo {
    convert::change_info(change, || node.attributes().ok())
}

/// Answers LISTXATTRS.
pub fn list(compound: &mut Compound<'_>, arguments: &mut Decoder<'_>, reply: &mut Reply) -> Outcome {
    let listxattrs::Arguments { cookie, count } = listxattrs::Arguments::decode(arguments)?;
    let node = compound.object(Status::NOTSUPP)?;
    let xattrs = node.xattrs()?;
    let left = compound.most_reply().saturating_sub(reply.message_length());
    let limit = left.min(count as usize);
    if limit < listxattrs::EMPTY {
        return Err(Status::TOOSMALL.into());
    }
    let mut writer = NameWriter::new(reply.bytes_mut(), limit);
    let mut last = cookie;
    let end = xattrs.list_xattrs(&node.caller, &node.handle, cookie, &mut |name, cookie| {
        writer.add(Name(name.as_bytes()))?;
        last = cookie;
        ControlFlow::Continue(())
    })?;
    // A client that went on from here would never get further.
    if !end && writer.count() == 0 {
        return Err(Status::TOOSMALL.into());
    }
    writer.finish(last, end);
    Ok(())
}
