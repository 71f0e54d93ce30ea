//! FSINFO: what this server and the file system can do, and in which sizes.

use howdah_vfs::{FileSystem, Limits};
use howdah_wire::nfs3::fsinfo::{
    Arguments, CAN_SET_TIME, HARD_LINKS, HOMOGENEOUS, Reply as Answer, SYMBOLIC_LINKS, Success,
};
use howdah_wire::nfs3::{Refused, Time};
use howdah_wire::xdr::Decode;

use super::Nfs3Program;
use super::context::{Context, nothing_known};
use super::{convert, transfer};
use crate::{Refusal, Reply, Request};

/// Answers a call.
pub fn run(nfs3: &Nfs3Program, request: &mut Request<'_, '_>, reply: &mut Reply) -> Result<(), Refusal> {
    let exports = nfs3.exports();
    let context = Context::new(nfs3, &exports, request)?;
    let arguments = Arguments::decode(&mut request.arguments)?;
    reply.write(&answer(&context, &arguments));
    Ok(())
}

/// What transfers should be a multiple of, in bytes: a page.
const MULTIPLE: u32 = 4096;
/// Nanoseconds in a second.
const NANOSECONDS: u32 = 1_000_000_000;

fn answer(context: &Context<'_>, arguments: &Arguments<'_>) -> Answer {
    let node = context.open(arguments.node).map_err(nothing_known)?;
    let limits = node.file_system.limits(&node.caller, &node.handle);
    let attributes = node.attributes();
    let limits = limits.map_err(|error| Refused { status: convert::status(error), detail: attributes })?;
    let most = transfer::announced(context.peer, || context.peer.path_mtu());
    let step = limits.time_step_nanoseconds;
    Ok(Success {
        attributes,
        read_max: most,
        read_preferred: most,
        read_multiple: MULTIPLE,
        write_max: most,
        write_preferred: most,
        write_multiple: MULTIPLE,
        directory_preferred: transfer::listing(context.peer),
        largest_file: limits.largest_file,
        time_step: Time { seconds: step / NANOSECONDS, nanoseconds: step % NANOSECONDS },
        properties: properties(&limits),
    })
}

fn properties(limits: &Limits) -> u32 {
    let hard_links = if limits.hard_links { HARD_LINKS } else { 0 };
    let symbolic_links = if limits.symbolic_links { SYMBOLIC_LINKS } else { 0 };
    // Every node of one file system has the same limits, and every time can be set (to within the step).
    HOMOGENEOUS | CAN_SET_TIME | hard_links | symbolic_links
}
