//! REMOVE: removes a name that is not a directory's.

use howdah_vfs::{Change, FileSystem};
use howdah_wire::nfs3::remove::{Arguments, Reply as Answer, Success};
use howdah_wire::nfs3::{Refused, Status};
use howdah_wire::xdr::Decode;

use super::Nfs3Program;
use super::context::{Context, Object, nothing_known};
use super::{convert, names};
use crate::{Refusal, Reply, Request};

/// Answers a call.
pub fn run(nfs3: &Nfs3Program, request: &mut Request<'_, '_>, reply: &mut Reply) -> Result<(), Refusal> {
    run_with(nfs3, request, reply, remove)
}

/// How a name is removed from a directory.
type Remove = fn(&Object<'_>, &[u8], &mut Change) -> Result<(), Status>;

/// Answers a call that removes a name in this way.
pub fn run_with(
    nfs3: &Nfs3Program,
    request: &mut Request<'_, '_>,
    reply: &mut Reply,
    remove: Remove,
) -> Result<(), Refusal> {
    let exports = nfs3.exports();
    let context = Context::new(nfs3, &exports, request)?;
    let arguments = Arguments::decode(&mut request.arguments)?;
    reply.write(&answer(&context, &arguments, remove));
    Ok(())
}

fn answer(context: &Context<'_>, arguments: &Arguments<'_>, remove: Remove) -> Answer {
    let directory = context.open(arguments.object.directory).map_err(nothing_known)?;
    let mut change = Change::default();
    let outcome = remove(&directory, arguments.object.name, &mut change);
    let consistency = directory.consistency(&change);
    match outcome {
        Ok(()) => Ok(Success { directory: consistency }),
        Err(status) => Err(Refused { status, detail: consistency }),
    }
}

fn remove(directory: &Object<'_>, name: &[u8], change: &mut Change) -> Result<(), Status> {
    let name = names::existing(name)?;
    let removed = directory.file_system.remove(&directory.caller, &directory.handle, name, change);
    removed.map_err(convert::status)
}
