//! READDIR, page by page. NFSv4 lists neither `.` nor `..`: they come from the directory itself, with cookies that no server gives.

use std::ops::ControlFlow;

use howdah_vfs::{Detail, Node, Result};
use howdah_wire::nfs4::attributes as wire;
use howdah_wire::nfs4::{Bitmap, Verifier, lookupp, putfh, readdir};

use super::change::LOOK;
use super::client::Nfs4Client;
use super::compound::Compound;
use super::convert::{self, OF_NODE};
use super::handles::Handles;
use super::operation::Operation;
use super::results::ResultReader;
use crate::channel::Class;
use crate::common::{DirectoryPages, Listed, Page, Position, Sink, Verifiers};

/// Behind `.` and behind `..` (RFC 8881 18.23.3: reserved for this).
const BEHIND_SELF: u64 = 1;
const BEHIND_PARENT: u64 = 2;
/// Bytes of a reply that are not entries: the header, SEQUENCE, the directory's attributes.
const AROUND: u32 = 1 << 10;

/// What is asked of each entry where only names are wanted.
const OF_NAME: Bitmap = Bitmap::of(&[wire::RDATTR_ERROR, wire::FILEID, wire::MOUNTED_ON_FILEID]);
/// And where nodes are.
const OF_ENTRY: Bitmap =
    OF_NODE.union(Bitmap::of(&[wire::RDATTR_ERROR, wire::FILEHANDLE, wire::MOUNTED_ON_FILEID]));

impl DirectoryPages for Nfs4Client {
    fn verifiers(&self) -> &Verifiers {
        &self.verifiers
    }

    fn page(&self, position: &Position<'_>, detail: Detail, sink: &mut Sink<'_>) -> Result<Page> {
        let Position { caller, directory, cookie, verifier } = *position;
        let is_start = cookie <= BEHIND_PARENT;
        let read = Operation::ReadDirectory(readdir::Arguments {
            cookie: if is_start { 0 } else { cookie },
            verifier: Verifier(if is_start { [0; 8] } else { verifier }),
            name_count: self.page_size() - AROUND,
            count: self.page_size() - AROUND,
            wanted: if detail == Detail::Nodes { OF_ENTRY } else { OF_NAME },
        });
        // What lies above the root is nobody's business.
        let mut asks_above = cookie < BEHIND_PARENT && *directory != self.root.handle;
        let mut grant = if cookie == 0 { self.ask_for_delegation(directory) } else { None };
        let mut asks_for_delegation = grant.is_some();
        loop {
            let operations = operations(self.put(directory)?, asks_for_delegation, asks_above, read);
            let results = self.call(caller, &Compound::new("READDIR", Class::Listing, &operations))?;
            let mut reader = results.read()?;
            reader.skip(putfh::OPERATION)?;
            // Once granted it is not asked for again: a second grant would replace the first, which nobody would return.
            if std::mem::take(&mut asks_for_delegation)
                && let Some(asked) = &mut grant
                && !asked.read(&mut reader)?
            {
                continue;
            }
            let own = Node { handle: *directory, attributes: reader.look()? };
            let above = asks_above.then(|| parent(&mut reader, &self.calls.handles)).transpose();
            let Ok(above) = above else {
                asks_above = false;
                continue;
            };
            let reply = reader.take::<readdir::Success<'_>>(readdir::OPERATION)?;
            return self.give(position, (own, above), reply, sink);
        }
    }

    fn details(&self, position: &Position<'_>, detail: Detail, listed: &Listed<'_>) -> (u64, Option<Node>) {
        if detail == Detail::Names {
            return (listed.file, None);
        }
        let node_of_entry =
            listed.told.and_then(|(handle, attributes)| Some(Node { handle, attributes: attributes? }));
        let node = node_of_entry.or_else(|| self.node_of(position, listed.name));
        (listed.file, node)
    }
}

impl Nfs4Client {
    /// The node of an entry that the listing does not have; none if it is gone meanwhile.
    fn node_of(&self, position: &Position<'_>, name: &[u8]) -> Option<Node> {
        if name == b".." {
            return None;
        }
        self.look_up(position.caller, position.directory, name).ok().map(|found| found.node)
    }

    /// Gives the entries of one reply: on the first page the directory itself and the one above, as far as that is known.
    fn give(
        &self,
        position: &Position<'_>,
        (own, above): (Node, Option<Node>),
        reply: readdir::Success<'_>,
        sink: &mut Sink<'_>,
    ) -> Result<Page> {
        let mut page = Page::new(Some(own.attributes), reply.verifier.0, reply.end);
        let above = above.or((own.handle == self.root.handle).then_some(own));
        let dots = [(BEHIND_SELF, &b"."[..], Some(own)), (BEHIND_PARENT, b"..", above)];
        for (behind, name, node) in dots.into_iter().filter(|dot| dot.0 > position.cookie) {
            let file = node.map_or(own.attributes.file, |node| node.attributes.file);
            let told = node.map(|node| (node.handle, Some(node.attributes)));
            if page.give(&Listed { name, file, cookie: behind, told }, sink).is_break() {
                return Ok(page);
            }
        }
        for entry in reply.entries {
            if self.give_entry(&entry, &mut page, sink)?.is_break() {
                break;
            }
        }
        Ok(page)
    }

    fn give_entry(
        &self,
        entry: &readdir::Entry<'_>,
        page: &mut Page,
        sink: &mut Sink<'_>,
    ) -> Result<ControlFlow<()>> {
        let values = convert::values(&entry.attributes)?;
        let identity = &values.identity;
        // An entry whose attributes cannot be had says why instead.
        let told = match identity.handle.filter(|_| identity.kind.is_some()) {
            Some(handle) => {
                let (handle, attributes) = (self.calls.handles.learn(handle)?, convert::of(&values)?);
                self.xattr_support.meet(handle, attributes.file_system);
                Some((handle, Some(attributes)))
            }
            None => None,
        };
        // Where another file system is mounted, the number of a name is that of what is covered.
        let file = identity.mounted_on_file.or(identity.file).unwrap_or(0);
        Ok(page.give(&Listed { name: entry.name.0, file, cookie: entry.cookie, told }, sink))
    }
}

/// READDIR is last, as READ is: the kernel's server of Linux 6.1 misplaces what follows it (see `read`). So the attributes are no
/// newer than the entries.
fn operations<'a>(
    put: Operation<'a>,
    asks_for_delegation: bool,
    asks_above: bool,
    read: Operation<'a>,
) -> Vec<Operation<'a>> {
    let mut operations = vec![put];
    if asks_for_delegation {
        operations.push(Operation::GetDirectoryDelegation);
    }
    operations.push(LOOK);
    if asks_above {
        operations.extend([Operation::LookupParent, Operation::GetHandle, LOOK, put]);
    }
    operations.push(read);
    operations
}

fn parent(reader: &mut ResultReader<'_>, handles: &Handles) -> Result<Node> {
    reader.skip(lookupp::OPERATION)?;
    let node = reader.node(handles)?;
    reader.skip(putfh::OPERATION)?;
    Ok(node)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The results of what follows it are misplaced by the kernel's server of Linux 6.1.
    #[test]
    fn nothing_follows_the_entries() {
        let read = Operation::ReadDirectory(readdir::Arguments {
            cookie: 0,
            verifier: Verifier([0; 8]),
            name_count: 0,
            count: 0,
            wanted: OF_NAME,
        });
        for (asks_for_delegation, asks_above) in [(false, false), (false, true), (true, false), (true, true)]
        {
            let all = operations(Operation::SaveHandle, asks_for_delegation, asks_above, read);
            let last = all.last().map(Operation::number);
            assert_eq!(last, Some(readdir::OPERATION), "{all:?}");
        }
    }
}
