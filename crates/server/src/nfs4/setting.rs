//! Attributes that a client sets, checked before they are read.

use howdah_vfs::NewAttributes;
use howdah_wire::nfs4::attributes::Values;
use howdah_wire::nfs4::{Bitmap, Status};

use super::{attributes, convert};

/// What is to be set, and which attributes those are.
///
/// # Errors
/// ATTRNOTSUPP, INVAL for what can only be read, BADXDR, BADOWNER.
pub fn of(values: &Values<'_>, minor_version: u32) -> Result<(NewAttributes, Bitmap), Status> {
    let set = values.attributes;
    if values.has_unknown || !set.without(attributes::supported(minor_version)).is_empty() {
        return Err(Status::ATTRNOTSUPP);
    }
    if !set.without(attributes::SETTABLE).is_empty() {
        return Err(Status::INVAL);
    }
    let new = values.decode_all().map_err(|_| Status::BADXDR)?;
    Ok((convert::new_attributes(&new)?, set))
}
