//! UMNT: says to a server that a mount is over. It only keeps a list of them.

use howdah_wire::mount::{DirectoryPath, umnt};

use super::service::Service;
use crate::channel::CallError;

pub(super) fn unmount(service: &Service, path: &[u8]) -> Result<(), CallError> {
    service.call(umnt::PROCEDURE, &umnt::Arguments { path: DirectoryPath(path) }, |_| Ok(()))
}
