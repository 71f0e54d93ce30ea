//! SETATTR: sets attributes of the current node. A refusal also says what was set, which is nothing then.

use howdah_state::IoKind;
use howdah_vfs::{Change, FileKind, FileSystem, SetAttributes};
use howdah_wire::nfs4::setattr::{Arguments, Success};
use howdah_wire::nfs4::{Bitmap, Status};
use howdah_wire::xdr::{Decode, Decoder, Encoder};

use super::compound::{Compound, Outcome, Refused};
use super::{lookup, setting};
use crate::Reply;

/// Answers it.
pub fn run(compound: &mut Compound<'_>, arguments: &mut Decoder<'_>, reply: &mut Reply) -> Outcome {
    let arguments = Arguments::decode(arguments)?;
    let attributes_set = set(compound, &arguments)
        .map_err(|status| Refused::With(status, Encoder::to_vec(&Success::default())))?;
    reply.write(&Success { attributes_set });
    Ok(())
}

fn set(compound: &Compound<'_>, arguments: &Arguments<'_>) -> Result<Bitmap, Status> {
    let object = compound.changed()?;
    let (new, attributes) = setting::of(compound, &arguments.attributes)?;
    if new.size.is_some() {
        match lookup::kind(object)? {
            FileKind::Regular => {}
            FileKind::Directory => return Err(Status::ISDIR),
            _ => return Err(Status::INVAL),
        }
        compound.check_io(object, arguments.state, IoKind::Write)?;
    }
    let (caller, node) = (&object.caller, &object.handle);
    object
        .file_system
        .set_attributes(caller, SetAttributes::new(node, &new, None), &mut Change::default())
        .map_err(super::convert::status)?;
    Ok(attributes)
}
