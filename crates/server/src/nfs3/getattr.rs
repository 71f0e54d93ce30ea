//! GETATTR: the attributes of a node.

use howdah_vfs::FileSystem;
use howdah_wire::nfs3::getattr::{Arguments, Reply as Answer, Success};
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
    reply.write(&answer(&context, &arguments));
    Ok(())
}

fn answer(context: &Context<'_>, arguments: &Arguments<'_>) -> Answer {
    let node = context.open(arguments.node).map_err(nothing_known)?;
    let attributes = node.file_system.attributes(&node.caller, &node.handle);
    let attributes = attributes.map_err(|error| nothing_known(convert::status(error)))?;
    Ok(Success { attributes: node.tell(&attributes) })
}
