//! GETATTR: attributes of the current node.

use howdah_wire::nfs4::getattr::Arguments;
use howdah_wire::xdr::{Decode, Decoder};

use super::attributes;
use super::compound::{Compound, Outcome};
use super::flavors;
use crate::Reply;

/// Answers it.
pub fn run(compound: &mut Compound<'_>, arguments: &mut Decoder<'_>, reply: &mut Reply) -> Outcome {
    let Arguments { wanted } = Arguments::decode(arguments)?;
    let is_of_server = flavors::asks_server_alone(wanted);
    let node = if is_of_server { compound.node_of_any_flavor()? } else { compound.looked_at()? };
    attributes::write(compound, node, None, wanted, &mut reply.encoder())?;
    Ok(())
}
