//! SYMLINK: makes a symbolic link. The server never follows one: its target means something to clients only.

use howdah_vfs::{FileSystem, MakeLink};
use howdah_wire::nfs3::Status;
use howdah_wire::nfs3::symlink::Arguments;
use howdah_wire::xdr::Decode;

use super::Nfs3Program;
use super::context::Context;
use super::{convert, made};
use crate::limits::LINK_TARGET_MAX;
use crate::{Refusal, Reply, Request};

/// Answers a call.
pub fn run(nfs3: &Nfs3Program, request: &mut Request<'_, '_>, reply: &mut Reply) -> Result<(), Refusal> {
    let exports = nfs3.exports();
    let context = Context::new(nfs3, &exports, request)?;
    let arguments = Arguments::decode(&mut request.arguments)?;
    made::answer(&context, &arguments.object, reply, |directory, name, change| {
        let new = convert::new_attributes(&arguments.new)?;
        let target = target(arguments.target)?;
        let (caller, handle) = (&directory.caller, &directory.handle);
        let made = directory.file_system.make_link(caller, MakeLink::new(handle, name, target, &new), change);
        made.map_err(convert::status)
    });
    Ok(())
}

/// An empty target points nowhere, and one with a NUL could be stored only in part.
fn target(target: &[u8]) -> Result<&[u8], Status> {
    match target {
        b"" => Err(Status::Invalid),
        _ if target.len() > LINK_TARGET_MAX => Err(Status::NameTooLong),
        _ if target.contains(&0) => Err(Status::Invalid),
        _ => Ok(target),
    }
}
