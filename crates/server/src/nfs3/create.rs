//! CREATE: makes a regular file, or takes the one that is there.

use howdah_state::IoKind;
use howdah_vfs::{Create, CreateFile, FileSystem, NewAttributes};
use howdah_wire::nfs3::Status;
use howdah_wire::nfs3::create::{Arguments, How};
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
        let how = how(&arguments.how)?;
        // Who takes the file that is there and gives it a size writes to it.
        if let Create::Unchecked(NewAttributes { size: Some(_), .. }) = how
            && context.is_restricted()
            && let Ok(found) = directory.file_system.lookup(&directory.caller, &directory.handle, name)
        {
            context.permits_node(directory, found.node.handle, IoKind::Write)?;
        }
        let made = directory.file_system.create(
            &directory.caller,
            CreateFile::new(&directory.handle, name, &how),
            change,
        );
        let made = made.map_err(convert::status)?;
        match how {
            Create::Exclusive(verifier) if !context.is_first_maker(directory, &made.handle, verifier) => {
                Err(Status::Exists)
            }
            _ => Ok(made),
        }
    });
    Ok(())
}

fn how(how: &How) -> Result<Create, Status> {
    Ok(match how {
        How::Unchecked(new) => Create::Unchecked(convert::new_attributes(new)?),
        How::Guarded(new) => Create::Guarded(convert::new_attributes(new)?),
        How::Exclusive(verifier) => Create::Exclusive(*verifier),
    })
}
