//! SEEK: where the next data or hole of the current file begins.

use howdah_state::IoKind;
use howdah_vfs::{SeekOutcome, SeekTarget};
use howdah_wire::nfs4::Status;
use howdah_wire::nfs4::seek::{Arguments, DATA, HOLE, Success};
use howdah_wire::xdr::{Decode, Decoder};

use super::compound::{Compound, Outcome};
use super::read::{of_kind, refusal};
use crate::Reply;

/// Answers it.
pub fn run(compound: &mut Compound<'_>, arguments: &mut Decoder<'_>, reply: &mut Reply) -> Outcome {
    let Arguments { state, offset, what } = Arguments::decode(arguments)?;
    let target = match what {
        DATA => SeekTarget::Data,
        HOLE => SeekTarget::Hole,
        _ => return Err(Status::UNION_NOTSUPP.into()),
    };
    let file = compound.object(Status::ISDIR)?;
    let ranges = file.ranges()?;
    compound.check_io(file, state, IoKind::Read).map_err(|status| of_kind(file, status))?;
    let found = ranges.seek(&file.caller, &file.handle, offset, target);
    let SeekOutcome { offset, end } = found.map_err(|error| refusal(file, error))?;
    reply.write(&Success { end, offset });
    Ok(())
}
