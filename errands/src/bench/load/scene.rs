//! What a load is made from: the export, and somebody to ask for handles.

use std::path::Path;

use super::super::export::Export;
use super::super::session::Session;

/// What a load is made from.
#[derive(Debug)]
pub struct Scene<'a> {
    /// The export.
    pub export: &'a Export,
    /// For handles; a floor needs none, and gets some of the usual length.
    pub session: Option<&'a mut Session>,
    /// Calls of a load that is ended by its number of calls.
    pub calls: u64,
}

/// Length of the handles that a floor gets.
const PLAIN_HANDLE: usize = 32;

impl Scene<'_> {
    /// The handle of a path below the export.
    pub fn handle(&mut self, path: &Path) -> anyhow::Result<Vec<u8>> {
        match &mut self.session {
            Some(session) => session.handle(path.strip_prefix(self.export.path())?),
            None => Ok(vec![0; PLAIN_HANDLE]),
        }
    }
}
