//! SETATTR: sets attributes of a node.

use howdah_state::IoKind;
use howdah_vfs::{Change, FileSystem, SetAttributes};
use howdah_wire::nfs3::setattr::{Arguments, Reply as Answer, Success};
use howdah_wire::nfs3::{Refused, Status};
use howdah_wire::xdr::Decode;

use super::Nfs3Program;
use super::context::{Context, Object, nothing_known};
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
    let mut change = Change::default();
    let permitted = match arguments.new.size {
        Some(_) => context.permits(&node, IoKind::Write),
        None => Ok(()),
    };
    let outcome = permitted.and_then(|()| set(&node, arguments, &mut change));
    let consistency = node.consistency(&change);
    match outcome {
        Ok(()) => Ok(Success { node: consistency }),
        Err(status) => Err(Refused { status, detail: consistency }),
    }
}

fn set(node: &Object<'_>, arguments: &Arguments<'_>, change: &mut Change) -> Result<(), Status> {
    let new = convert::new_attributes(&arguments.new)?;
    let guard = arguments.guard.map(|changed| convert::timestamp(changed).into());
    node.file_system
        .set_attributes(&node.caller, SetAttributes::new(&node.handle, &new, guard), change)
        .map_err(convert::status)
}
