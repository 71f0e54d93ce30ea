//! LOOKUP: the node of a name. The only procedure that `.` and `..` are names to (RFC 1813 3.2, items 2 and 3).

use howdah_vfs::{Access, FileKind, FileSystem, Found, FsError, Node};
use howdah_wire::nfs3::lookup::{Arguments, Reply as Answer, Success};
use howdah_wire::nfs3::{Refused, Status};
use howdah_wire::xdr::Decode;

use super::Nfs3Program;
use super::context::{Context, Object, nothing_known};
use super::convert;
use super::names::{self, Sought};
use crate::{Refusal, Reply, Request};

/// Answers a call.
pub fn run(nfs3: &Nfs3Program, request: &mut Request<'_, '_>, reply: &mut Reply) -> Result<(), Refusal> {
    let exports = nfs3.exports();
    let context = Context::new(nfs3, &exports, request)?;
    let arguments = Arguments::decode(&mut request.arguments)?;
    answer(&context, &arguments, reply);
    Ok(())
}

fn answer(context: &Context<'_>, arguments: &Arguments<'_>, reply: &mut Reply) {
    let object = arguments.object;
    let directory = match context.open(object.directory) {
        Ok(directory) => directory,
        Err(status) => return reply.write(&Answer::Err(nothing_known(status))),
    };
    match find(&directory, object.name) {
        Ok(found) => reply.write(&Answer::Ok(Success {
            node: directory.seal(&found.node.handle).as_wire(),
            attributes: Some(directory.tell(&found.node.attributes)),
            directory: directory.attributes_or(found.directory.as_ref()),
        })),
        Err(status) => reply.write(&Answer::Err(Refused { status, detail: directory.attributes() })),
    }
}

fn find(directory: &Object<'_>, name: &[u8]) -> Result<Found, Status> {
    match names::sought(name)? {
        Sought::Named(name) => directory.file_system.lookup(&directory.caller, &directory.handle, name),
        Sought::Parent => directory.file_system.parent(&directory.caller, &directory.handle),
        Sought::Itself => itself(directory),
    }
    .map_err(convert::status)
}

/// A caller that may search a directory may find it in itself.
fn itself(directory: &Object<'_>) -> Result<Found, FsError> {
    let (granted, attributes) =
        directory.file_system.access(&directory.caller, &directory.handle, Access::LOOKUP)?;
    if attributes.kind != FileKind::Directory {
        return Err(FsError::NotDirectory);
    }
    if !granted.contains(Access::LOOKUP) {
        return Err(FsError::AccessDenied);
    }
    Ok(Found { node: Node { handle: directory.handle, attributes }, directory: Some(attributes) })
}
