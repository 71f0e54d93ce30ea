//! MKDIR: makes a directory.

use howdah_vfs::FileSystem;
use howdah_wire::nfs3::mkdir::Arguments;
use howdah_wire::xdr::Decode;

use super::context::Context;
use super::{convert, made};
use crate::service::Service;
use crate::{Refusal, Reply, Request};

/// Answers a call.
pub fn run(service: &Service, request: &mut Request<'_, '_>, reply: &mut Reply) -> Result<(), Refusal> {
    let exports = service.exports();
    let context = Context::new(service, &exports, request)?;
    let arguments = Arguments::decode(&mut request.arguments)?;
    made::answer(&context, &arguments.object, reply, |directory, name, change| {
        let new = convert::new_attributes(&arguments.new)?;
        let made =
            directory.file_system.make_directory(&directory.caller, &directory.handle, name, &new, change);
        made.map_err(convert::status)
    });
    Ok(())
}
