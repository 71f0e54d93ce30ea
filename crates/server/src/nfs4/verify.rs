//! VERIFY and NVERIFY: go on only if attributes of the current node are these, or are not.

use howdah_wire::nfs4::Status;
use howdah_wire::nfs4::attributes::{RDATTR_ERROR, Values};
use howdah_wire::nfs4::verify::Arguments;
use howdah_wire::xdr::{Decode, Decoder, Encoder};

use super::attributes;
use super::compound::{Compound, Outcome};
use crate::Reply;

/// Answers VERIFY.
pub fn run(compound: &mut Compound<'_>, arguments: &mut Decoder<'_>, _: &mut Reply) -> Outcome {
    let Arguments { attributes } = Arguments::decode(arguments)?;
    if is_same(compound, &attributes)? { Ok(()) } else { Err(Status::NOT_SAME.into()) }
}

/// Answers NVERIFY.
pub fn run_not(compound: &mut Compound<'_>, arguments: &mut Decoder<'_>, _: &mut Reply) -> Outcome {
    let Arguments { attributes } = Arguments::decode(arguments)?;
    if is_same(compound, &attributes)? { Err(Status::SAME.into()) } else { Ok(()) }
}

fn is_same(compound: &Compound<'_>, sent: &Values<'_>) -> Result<bool, Status> {
    let node = compound.looked_at()?;
    let wanted = sent.attributes;
    if sent.has_unknown || !wanted.without(attributes::supported(compound.minor_version)).is_empty() {
        return Err(Status::ATTRNOTSUPP);
    }
    // They are no property of the node (RFC 8881 18.31.3).
    if wanted.contains(RDATTR_ERROR) || wanted.intersects(attributes::ONLY_SET) {
        return Err(Status::INVAL);
    }
    let mut own = Vec::new();
    attributes::write(compound, node, None, wanted, &mut Encoder::new(&mut own))?;
    let own = Values::decode(&mut Decoder::new(&own)).map_err(|_| Status::SERVERFAULT)?;
    if own.attributes != wanted {
        return Err(Status::ATTRNOTSUPP);
    }
    Ok(own.bytes == sent.bytes)
}
