//! ACCESS: what the caller may do with the current node.

use howdah_vfs::{Access, FileSystem};
use howdah_wire::nfs4::access::{
    Arguments, EXECUTE, LIST_XATTRS, LOOKUP, READ, READ_XATTRS, Success, WRITE_XATTRS,
};
use howdah_wire::xdr::{Decode, Decoder};

use super::compound::{Compound, Outcome};
use super::node::CurrentNode;
use crate::Reply;

/// Rights to extended attributes, each with the right to the node that gives it.
const OF_XATTRS: [(u32, Access); 3] =
    [(READ_XATTRS, Access::READ), (WRITE_XATTRS, Access::MODIFY), (LIST_XATTRS, Access::READ)];

/// Answers it.
pub fn run(compound: &mut Compound<'_>, arguments: &mut Decoder<'_>, reply: &mut Reply) -> Outcome {
    let Arguments { wanted } = Arguments::decode(arguments)?;
    let of_node = Access::from_bits(wanted);
    let (supported, granted) = match compound.looked_at()? {
        CurrentNode::Pseudo(_) => (of_node.bits(), of_node.bits() & (READ | LOOKUP | EXECUTE)),
        CurrentNode::Exported(object) => {
            let has_xattrs = compound.minor_version >= 2 && object.xattrs().is_ok();
            let of_xattrs = || OF_XATTRS.into_iter().filter(|(right, _)| has_xattrs && wanted & right != 0);
            let asked = of_xattrs().fold(of_node, |all, (_, by)| all | by);
            let granted = object.file_system.access(&object.caller, &object.handle, asked)?.0;
            let bits = |rights: &mut dyn Iterator<Item = (u32, Access)>| {
                rights.fold(0, |all, (right, _)| all | right)
            };
            (
                of_node.bits() | bits(&mut of_xattrs()),
                (granted & of_node).bits() | bits(&mut of_xattrs().filter(|(_, by)| granted.contains(*by))),
            )
        }
    };
    reply.write(&Success { supported, granted });
    Ok(())
}
