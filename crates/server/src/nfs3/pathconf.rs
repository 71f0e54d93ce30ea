//! PATHCONF: what POSIX wants to know of a node.

use howdah_vfs::FileSystem;
use howdah_wire::nfs3::Refused;
use howdah_wire::nfs3::pathconf::{Arguments, Reply as Answer, Success};
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
    let limits = node.file_system.limits(&node.caller, &node.handle);
    let attributes = node.attributes();
    let limits = limits.map_err(|error| Refused { status: convert::status(error), detail: attributes })?;
    Ok(Success {
        attributes,
        most_links: limits.most_links,
        longest_name: limits.longest_name,
        // Every file system here refuses a long name with NFS3ERR_NAMETOOLONG; none cuts it.
        refuses_long_names: true,
        chown_restricted: limits.chown_restricted,
        case_insensitive: limits.case_insensitive,
        case_preserving: limits.case_preserving,
    })
}
