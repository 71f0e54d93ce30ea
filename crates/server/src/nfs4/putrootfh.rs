//! PUTROOTFH, and PUTPUBFH, whose public node is the root here: makes the root of all exports the current node.

use howdah_wire::xdr::Decoder;

use super::compound::{Compound, Outcome};
use crate::Reply;

/// Answers it.
pub fn run(compound: &mut Compound<'_>, arguments: &mut Decoder<'_>, _: &mut Reply) -> Outcome {
    let root = compound.tree().root();
    let node = compound.behind(root)?;
    compound.put_by_handle(node, arguments)?;
    Ok(())
}
