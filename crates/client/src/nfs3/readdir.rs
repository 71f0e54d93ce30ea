//! READDIR: one page of names.

use howdah_vfs::Result;
use howdah_wire::nfs3::readdir;

use super::client::Nfs3;
use super::convert::{attributes, file_handle};
use super::exchange::success;
use super::procedure::Procedure;
use crate::channel::Class;
use crate::common::{DirectoryPages, Listed, Page, Position, Sink};

const PROCEDURE: Procedure = Procedure::idempotent(readdir::PROCEDURE, "READDIR", Class::Listing);

impl Nfs3 {
    pub(super) fn page_of_names(&self, position: &Position<'_>, sink: &mut Sink<'_>) -> Result<Page> {
        let arguments = readdir::Arguments {
            directory: file_handle(position.directory),
            cookie: position.cookie,
            verifier: position.verifier,
            count: self.page_size(),
        };
        let results = self.call(position.caller, PROCEDURE, &arguments)?;
        let reply = success(results.decode::<readdir::Reply<'_>>(PROCEDURE)?, |_| {})?;
        let mut page = Page::new(reply.directory.as_ref().map(attributes), reply.verifier, reply.end);
        for entry in reply.entries {
            let listed = Listed { name: entry.name, file: entry.file, cookie: entry.cookie, told: None };
            if page.give(&listed, sink).is_break() {
                break;
            }
        }
        Ok(page)
    }
}
