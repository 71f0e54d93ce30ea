//! ACCESS: what the caller may do with a node.

use howdah_vfs::{Access, FileSystem};
use howdah_wire::nfs3::Refused;
use howdah_wire::nfs3::access::{Arguments, Reply as Answer, Success};
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
    let wanted = Access::from_bits(arguments.wanted);
    match node.file_system.access(&node.caller, &node.handle, wanted) {
        Ok((granted, attributes)) => {
            Ok(Success { attributes: Some(node.tell(&attributes)), granted: granted.bits() })
        }
        Err(error) => Err(Refused { status: convert::status(error), detail: node.attributes() }),
    }
}
