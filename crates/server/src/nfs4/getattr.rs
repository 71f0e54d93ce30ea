//! GETATTR: attributes of the current node.

use howdah_wire::nfs4::getattr::Arguments;
use howdah_wire::xdr::{Decode, Decoder};

use super::attributes;
use super::compound::{Compound, Outcome};
use crate::Reply;

/// Answers it.
pub fn run(compound: &mut Compound<'_>, arguments: &mut Decoder<'_>, reply: &mut Reply) -> Outcome {
    let Arguments { wanted } = Arguments::decode(arguments)?;
    attributes::write(compound, compound.looked_at()?, None, wanted, &mut reply.encoder())?;
    Ok(())
}
