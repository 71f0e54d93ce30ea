//! COPY: a range of the saved file goes into the current one. Always from start to end, and before it is answered; less than
//! was asked for if that would take long, and the client asks for the rest. Other servers are not copied from.

use howdah_vfs::{Change, CopyRange};
use howdah_wire::nfs4::copy::{Arguments, Requirements, Success};
use howdah_wire::nfs4::{Status, Verifier};
use howdah_wire::xdr::{Decode, Decoder};

use super::compound::{Compound, Outcome};
use super::convert;
use super::pair::Pair;
use crate::Reply;

/// Answers it.
pub fn run(compound: &mut Compound<'_>, arguments: &mut Decoder<'_>, reply: &mut Reply) -> Outcome {
    let arguments = Arguments::decode(arguments)?;
    if !arguments.servers.is_empty() {
        return Err(Status::NOTSUPP.into());
    }
    let pair = Pair::of(compound, arguments.source, arguments.destination)?;
    let (offset, count) = (arguments.source_offset, arguments.count);
    // RFC 7862 15.2.3: the range must lie in the source.
    let size = pair.source.attributes()?.size;
    if offset.checked_add(count).is_none_or(|end| end > size) {
        return Err(pair.refusal(howdah_vfs::FsError::Invalid).into());
    }
    let (from, to) = (pair.from(offset), pair.to(arguments.destination_offset));
    let copied =
        pair.ranges.copy_range(&pair.target.caller, CopyRange { from, to, count }, &mut Change::default());
    let copied = copied.map_err(|error| pair.refusal(error))?;
    reply.write(&Success {
        state: None,
        count: copied.count as u64,
        committed: convert::told_stability(copied.stability),
        verifier: Verifier(copied.verifier),
        requirements: Requirements { consecutive: true, synchronous: true },
    });
    Ok(())
}
