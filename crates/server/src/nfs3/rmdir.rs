//! RMDIR: removes an empty directory.

use howdah_vfs::{Change, FileSystem};
use howdah_wire::nfs3::Status;

use super::Nfs3Program;
use super::context::Object;
use super::{convert, names, remove};
use crate::{Refusal, Reply, Request};

/// Answers a call.
pub fn run(nfs3: &Nfs3Program, request: &mut Request<'_, '_>, reply: &mut Reply) -> Result<(), Refusal> {
    remove::run_with(nfs3, request, reply, remove_directory)
}

fn remove_directory(directory: &Object<'_>, name: &[u8], change: &mut Change) -> Result<(), Status> {
    let name = names::directory(name)?;
    let removed = directory.file_system.remove_directory(&directory.caller, &directory.handle, name, change);
    removed.map_err(convert::status)
}
