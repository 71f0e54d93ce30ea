//! ALLOCATE and DEALLOCATE: space for a range of the current file is reserved, or given back. Their results hold nothing.

use howdah_state::IoKind;
use howdah_vfs::{Change, FileExtent};
use howdah_wire::nfs4::{StateId, Status, allocate, deallocate};
use howdah_wire::xdr::{Decode, Decoder};

use super::compound::{Compound, Outcome};
use super::node::ExportedNode;
use super::read::{of_kind, refusal};
use crate::Reply;

/// Answers ALLOCATE.
pub fn run(compound: &mut Compound<'_>, arguments: &mut Decoder<'_>, _: &mut Reply) -> Outcome {
    let allocate::Arguments { state, offset, length } = allocate::Arguments::decode(arguments)?;
    let file = to_change(compound, state)?;
    file.ranges()?
        .allocate(&file.caller, FileExtent::new(&file.handle, offset, length), &mut Change::default())
        .map_err(|error| refusal(file, error).into())
}

/// Answers DEALLOCATE.
pub fn deallocate(compound: &mut Compound<'_>, arguments: &mut Decoder<'_>, _: &mut Reply) -> Outcome {
    let deallocate::Arguments { state, offset, length } = deallocate::Arguments::decode(arguments)?;
    let file = to_change(compound, state)?;
    file.ranges()?
        .deallocate(&file.caller, FileExtent::new(&file.handle, offset, length), &mut Change::default())
        .map_err(|error| refusal(file, error).into())
}

/// The current file, which may be written by a stateid.
fn to_change<'f, 'c>(compound: &'f Compound<'c>, state: StateId) -> Result<&'f ExportedNode<'c>, Status> {
    let file = compound.object(Status::ISDIR)?;
    file.ranges()?;
    compound.check_io(file, state, IoKind::Write).map_err(|status| of_kind(file, status))?;
    Ok(file)
}
