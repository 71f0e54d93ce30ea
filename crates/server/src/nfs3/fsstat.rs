//! FSSTAT: how full a file system is.

use howdah_vfs::FileSystem;
use howdah_wire::nfs3::Refused;
use howdah_wire::nfs3::fsstat::{Arguments, Reply as Answer, Success};
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
    let statistics = node.file_system.statistics(&node.caller, &node.handle);
    let attributes = node.attributes();
    let statistics =
        statistics.map_err(|error| Refused { status: convert::status(error), detail: attributes })?;
    Ok(Success {
        attributes,
        total_bytes: statistics.total_bytes,
        free_bytes: statistics.free_bytes,
        available_bytes: statistics.available_bytes,
        total_files: statistics.total_files,
        free_files: statistics.free_files,
        available_files: statistics.available_files,
        // Anybody may write meanwhile.
        constant_seconds: 0,
    })
}
