//! ACCESS: what the caller may do with the current node.

use howdah_vfs::{Access, FileSystem};
use howdah_wire::nfs4::access::{Arguments, EXECUTE, LOOKUP, READ, Success};
use howdah_wire::xdr::{Decode, Decoder};

use super::compound::{Compound, Outcome};
use super::node::CurrentNode;
use crate::Reply;

/// Answers it.
pub fn run(compound: &mut Compound<'_>, arguments: &mut Decoder<'_>, reply: &mut Reply) -> Outcome {
    let Arguments { wanted } = Arguments::decode(arguments)?;
    let supported = Access::from_bits(wanted);
    let granted = match compound.node()? {
        CurrentNode::Pseudo(_) => supported.bits() & (READ | LOOKUP | EXECUTE),
        CurrentNode::Exported(object) => {
            object.file_system.access(&object.caller, &object.handle, supported)?.0.bits()
        }
    };
    reply.write(&Success { supported: supported.bits(), granted: granted & supported.bits() });
    Ok(())
}
