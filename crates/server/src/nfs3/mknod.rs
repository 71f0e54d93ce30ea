//! MKNOD: makes a device, a socket or a pipe.

use howdah_vfs::{FileSystem, MakeSpecial, SpecialKind};
use howdah_wire::nfs3::mknod::{Arguments, What};
use howdah_wire::nfs3::{NewAttributes, Status};
use howdah_wire::xdr::Decode;

use super::Nfs3Program;
use super::context::Context;
use super::{convert, made};
use crate::{Refusal, Reply, Request};

/// Answers a call.
pub fn run(nfs3: &Nfs3Program, request: &mut Request<'_, '_>, reply: &mut Reply) -> Result<(), Refusal> {
    let exports = nfs3.exports();
    let context = Context::new(nfs3, &exports, request)?;
    let arguments = Arguments::decode(&mut request.arguments)?;
    made::answer(&context, &arguments.object, reply, |directory, name, change| {
        let (kind, new) = kind(&arguments.what)?;
        let new = convert::new_attributes(&new)?;
        let (caller, handle) = (&directory.caller, &directory.handle);
        let made =
            directory.file_system.make_special(caller, MakeSpecial::new(handle, name, kind, &new), change);
        made.map_err(convert::status)
    });
    Ok(())
}

/// What to make, with which attributes. Files, directories and links have procedures of their own.
fn kind(what: &What) -> Result<(SpecialKind, NewAttributes), Status> {
    Ok(match *what {
        What::CharacterDevice(new, device) => {
            (SpecialKind::CharacterDevice(convert::device_number(device)), new)
        }
        What::BlockDevice(new, device) => (SpecialKind::BlockDevice(convert::device_number(device)), new),
        What::Socket(new) => (SpecialKind::Socket, new),
        What::Fifo(new) => (SpecialKind::Fifo, new),
        What::Other(_) => return Err(Status::BadType),
    })
}
