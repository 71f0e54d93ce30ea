//! Attributes that a client sets, checked before they are read.

use howdah_vfs::{FileSystem, NewAttributes};
use howdah_wire::nfs4::attributes::{self as wire, ModeAndMask, Values};
use howdah_wire::nfs4::{Bitmap, Status};

use super::compound::Compound;
use super::node::ExportedNode;
use super::{attributes, convert};
use crate::exports::KnownUser;

/// The bits that a umask has (RFC 8275 4).
const MASK_BITS: u32 = 0o777;

/// What is to be set, and which attributes those are.
///
/// # Errors
/// ATTRNOTSUPP, INVAL for what can only be read, BADXDR, BADOWNER.
pub fn of(compound: &Compound<'_>, values: &Values<'_>) -> Result<(NewAttributes, Bitmap), Status> {
    let new = decoded(values, compound.minor_version, attributes::SETTABLE)?;
    Ok((found(compound, &new)?, values.attributes.without(attributes::IGNORED)))
}

/// What a new node of a directory is to have, and which attributes those are. A default ACL of the directory takes the place of the
/// client's umask (RFC 8275 4).
///
/// # Errors
/// Those of [`of`]; INVAL for two modes, or a umask that is none.
pub fn of_new(
    compound: &Compound<'_>,
    values: &Values<'_>,
    directory: &ExportedNode<'_>,
) -> Result<(NewAttributes, Bitmap), Status> {
    let mut new = decoded(values, compound.minor_version, attributes::OF_NEW)?;
    if let Some(ModeAndMask { mode, mask }) = new.permissions.mode_and_mask {
        if new.permissions.mode.is_some() || mask & !MASK_BITS != 0 {
            return Err(Status::INVAL);
        }
        let is_masked = mode & mask != 0 && !directory.file_system.has_default_acl(&directory.handle);
        new.permissions.mode = Some(if is_masked { mode & !mask } else { mode });
    }
    Ok((found(compound, &new)?, values.attributes.without(attributes::IGNORED)))
}

/// What is to be set, with owners by their ids.
fn found(compound: &Compound<'_>, new: &wire::Attributes<'_>) -> Result<NewAttributes, Status> {
    convert::new_attributes(new, &|name, is_group| match compound.exports.owner(
        name,
        is_group,
        compound.identity,
    ) {
        KnownUser::Account(account) => Ok(if is_group { account.group } else { account.user }),
        KnownUser::Nobody => Err(Status::BADOWNER),
        KnownUser::Unavailable => Err(Status::DELAY),
    })
}

fn decoded<'a>(
    values: &Values<'a>,
    minor_version: u32,
    allowed: Bitmap,
) -> Result<wire::Attributes<'a>, Status> {
    let set = values.attributes;
    if values.has_unknown || !set.without(attributes::supported(minor_version)).is_empty() {
        return Err(Status::ATTRNOTSUPP);
    }
    if !set.without(allowed | attributes::IGNORED).is_empty() {
        return Err(Status::INVAL);
    }
    values.decode_all().map_err(|_| Status::BADXDR)
}
