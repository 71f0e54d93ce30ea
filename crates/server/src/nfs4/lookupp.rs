//! LOOKUPP: makes the directory above the current one the current node.

use howdah_wire::xdr::Decoder;

use super::compound::{Compound, Outcome};
use super::lookup;
use crate::Reply;

/// Answers it.
pub fn run(compound: &mut Compound<'_>, _: &mut Decoder<'_>, _: &mut Reply) -> Outcome {
    let parent = lookup::parent(compound, compound.node_of_any_flavor()?)?;
    compound.put_by_name(parent)?;
    Ok(())
}
