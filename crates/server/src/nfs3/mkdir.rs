//! MKDIR: makes a directory.

use howdah_vfs::{FileSystem, MakeDirectory};
use howdah_wire::nfs3::mkdir::Arguments;
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
        let new = convert::new_attributes(&arguments.new)?;
        let made = directory.file_system.make_directory(
            &directory.caller,
            MakeDirectory::new(&directory.handle, name, &new),
            change,
        );
        made.map_err(convert::status)
    });
    Ok(())
}
