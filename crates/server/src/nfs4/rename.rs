//! RENAME: moves a name from the saved directory to the current one.

use howdah_vfs::{Change, FileSystem};
use howdah_wire::nfs4::Status;
use howdah_wire::nfs4::rename::{Arguments, Success};
use howdah_wire::xdr::{Decode, Decoder};

use super::compound::{Compound, Outcome};
use super::{convert, create, names};
use crate::Reply;

/// Answers it.
pub fn run(compound: &mut Compound<'_>, arguments: &mut Decoder<'_>, reply: &mut Reply) -> Outcome {
    let Arguments { from: old, to: new } = Arguments::decode(arguments)?;
    let (from, to) = (compound.saved_object(Status::ROFS)?, compound.changed()?);
    let (old, new) = (names::of(old.0)?, names::of(new.0)?);
    if !from.is_beside(to) {
        return Err(Status::XDEV.into());
    }
    compound.refuse_in_grace()?;
    let (mut left, mut entered) = (Change::default(), Change::default());
    from.file_system
        .rename(&from.caller, (&from.handle, old), (&to.handle, new), (&mut left, &mut entered))
        .map_err(|error| match create::in_directory(from, error) {
            Status::NOTDIR if super::lookup::kind(from).is_ok_and(is_directory) => {
                create::in_directory(to, error)
            }
            status => status,
        })?;
    reply.write(&Success {
        source: convert::change_info(&left, || from.attributes().ok()),
        target: convert::change_info(&entered, || to.attributes().ok()),
    });
    Ok(())
}

fn is_directory(kind: howdah_vfs::FileKind) -> bool {
    kind == howdah_vfs::FileKind::Directory
}
