//! CLONE: a range of the current file shares the storage of a range of the saved one. The result holds nothing.

use howdah_vfs::{Change, CopyRange};
use howdah_wire::nfs4::clone::Arguments;
use howdah_wire::xdr::{Decode, Decoder};

use super::compound::{Compound, Outcome};
use super::pair::Pair;
use crate::Reply;

/// Answers it.
pub fn run(compound: &mut Compound<'_>, arguments: &mut Decoder<'_>, _: &mut Reply) -> Outcome {
    let arguments = Arguments::decode(arguments)?;
    let pair = Pair::of(compound, arguments.source, arguments.destination)?;
    let (from, to) = (pair.from(arguments.source_offset), pair.to(arguments.destination_offset));
    pair.ranges
        .clone_range(&pair.target.caller, CopyRange::new(from, to, arguments.count), &mut Change::default())
        .map_err(|error| pair.refusal(error).into())
}
