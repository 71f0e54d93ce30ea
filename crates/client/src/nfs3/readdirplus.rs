//! READDIRPLUS: one page of names with their nodes.

use howdah_vfs::Result;
use howdah_wire::nfs3::readdirplus;

use super::client::Nfs3;
use super::convert::{attributes, file_handle, handle};
use super::exchange::success;
use super::procedure::Procedure;
use crate::channel::Class;
use crate::common::{DirectoryPages, Listed, Page, Position, Sink};

const PROCEDURE: Procedure = Procedure::idempotent(readdirplus::PROCEDURE, "READDIRPLUS", Class::Listing);

impl Nfs3 {
    pub(super) fn page_of_nodes(&self, position: &Position<'_>, sink: &mut Sink<'_>) -> Result<Page> {
        let arguments = readdirplus::Arguments {
            directory: file_handle(position.directory),
            cookie: position.cookie,
            verifier: position.verifier,
            // The names may take all of the answer: how many bytes each takes differs from server to server.
            name_count: self.page_size(),
            count: self.page_size(),
        };
        let results = self.call(position.caller, PROCEDURE, &arguments)?;
        let reply = success(results.decode::<readdirplus::Reply<'_>>(PROCEDURE)?, |_| {})?;
        let mut page = Page::new(reply.directory.as_ref().map(attributes), reply.verifier, reply.end);
        for entry in reply.entries {
            let told = entry.node.and_then(|node| handle(node).ok());
            let told = told.map(|node| (node, entry.attributes.as_ref().map(attributes)));
            let name = entry.name;
            let listed = Listed { name: name.name, file: name.file, cookie: name.cookie, told };
            if page.give(&listed, sink).is_break() {
                break;
            }
        }
        Ok(page)
    }
}
