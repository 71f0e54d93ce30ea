//! LINK: gives a node one more name.

use howdah_vfs::{AddLink, Attributes, Change, FileSystem};
use howdah_wire::nfs3::link::{Arguments, Linked, Reply as Answer};
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
    let node = context.open(arguments.node).map_err(nothing_known)?;
    let directory = context.open(arguments.link.directory).map_err(nothing_known)?;
    let mut change = Change::default();
    let outcome = link(&node, &directory, arguments.link.name, &mut change);
    let linked =
        Linked { node: node.attributes_or(outcome.as_ref().ok()), directory: directory.consistency(&change) };
    match outcome {
        Ok(_) => Ok(linked),
        Err(status) => Err(Refused { status, detail: linked }),
    }
}

fn link(
    node: &Object<'_>,
    directory: &Object<'_>,
    name: &[u8],
    change: &mut Change,
) -> Result<Attributes, Status> {
    let name = names::new(name)?;
    if !node.is_beside(directory) {
        return Err(Status::CrossDevice);
    }
    let linked =
        node.file_system.link(&node.caller, AddLink::new(&node.handle, &directory.handle, name), change);
    linked.map_err(convert::status)
}
