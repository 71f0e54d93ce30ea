//! What a compound is about, seen from its first bytes: nearly all are SEQUENCE, PUTFH, and one operation that matters.

use howdah_wire::nfs4::compound::Head;
use howdah_wire::nfs4::{operation, putfh, sequence};
use howdah_wire::xdr::{Decode, Decoder};

use crate::program::Pace;

/// The handle of the first node that it names.
pub fn node(arguments: Decoder<'_>) -> Option<&[u8]> {
    to_node(arguments).map(|(node, _)| node)
}

/// Whether it may keep its worker waiting.
pub fn pace(arguments: Decoder<'_>) -> Pace {
    let Some((_, mut rest)) = to_node(arguments) else { return Pace::Quick };
    match rest.u32("operation").ok().and_then(operation::name) {
        Some("COMMIT" | "COPY" | "CLONE" | "ALLOCATE" | "DEALLOCATE") => Pace::Slow,
        Some("READDIR") => Pace::Dear,
        _ => Pace::Quick,
    }
}

/// The first node that it names, and what stands behind.
fn to_node(mut arguments: Decoder<'_>) -> Option<(&[u8], Decoder<'_>)> {
    Head::decode(&mut arguments).ok()?;
    if arguments.u32("operation").ok()? != sequence::OPERATION {
        return None;
    }
    sequence::Arguments::decode(&mut arguments).ok()?;
    if arguments.u32("operation").ok()? != putfh::OPERATION {
        return None;
    }
    let putfh::Arguments { node } = putfh::Arguments::decode(&mut arguments).ok()?;
    Some((node.0, arguments))
}
