//! RENAME: gives a node another name, in the same directory or another one of the same export.

use howdah_vfs::{Change, FileSystem};
use howdah_wire::nfs3::rename::{Arguments, Directories, Reply as Answer};
use howdah_wire::nfs3::{Refused, Status};
use howdah_wire::xdr::Decode;

use super::Nfs3Program;
use super::context::{Context, Object, nothing_known};
use super::{convert, names};
use crate::{Refusal, Reply, Request};

/// Answers a call.
pub fn run(nfs3: &Nfs3Program, request: &mut Request<'_, '_>, reply: &mut Reply) -> Result<(), Refusal> {
    let exports = nfs3.exports();
    let context = Context::new(nfs3, &exports, request)?;
    let arguments = Arguments::decode(&mut request.arguments)?;
    reply.write(&answer(&context, &arguments));
    Ok(())
}

fn answer(context: &Context<'_>, arguments: &Arguments<'_>) -> Answer {
    let from = context.open(arguments.from.directory).map_err(nothing_known)?;
    let to = context.open(arguments.to.directory).map_err(nothing_known)?;
    let (mut left, mut entered) = (Change::default(), Change::default());
    let outcome = rename((&from, arguments.from.name), (&to, arguments.to.name), (&mut left, &mut entered));
    let directories = Directories { from: from.consistency(&left), to: to.consistency(&entered) };
    match outcome {
        Ok(()) => Ok(directories),
        Err(status) => Err(Refused { status, detail: directories }),
    }
}

fn rename(
    (from, old): (&Object<'_>, &[u8]),
    (to, new): (&Object<'_>, &[u8]),
    changes: (&mut Change, &mut Change),
) -> Result<(), Status> {
    let (old, new) = (names::existing(old)?, names::existing(new)?);
    if !from.is_beside(to) {
        return Err(Status::CrossDevice);
    }
    let renamed = from.file_system.rename(&from.caller, (&from.handle, old), (&to.handle, new), changes);
    renamed.map_err(convert::status)
}
