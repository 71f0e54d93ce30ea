//! READLINK: where a symbolic link points, byte for byte.

use howdah_vfs::FileSystem;
use howdah_wire::nfs3::Refused;
use howdah_wire::nfs3::readlink::{Arguments, Reply as Answer, Success};
use howdah_wire::xdr::Decode;

use super::Nfs3Program;
use super::context::{Context, nothing_known};
use super::convert;
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
    let link = match context.open(arguments.link) {
        Ok(link) => link,
        Err(status) => return reply.write(&Answer::Err(nothing_known(status))),
    };
    let mut target = Vec::new();
    match link.file_system.read_link(&link.caller, &link.handle, &mut target) {
        Ok(attributes) => {
            let attributes = Some(link.tell(&attributes));
            reply.write(&Answer::Ok(Success { attributes, target: &target }));
        }
        Err(error) => {
            let refused = Refused { status: convert::status(error), detail: link.attributes() };
            reply.write(&Answer::Err(refused));
        }
    }
}
