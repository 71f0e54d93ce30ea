//! READDIRPLUS: the nodes in a directory, with handles and attributes.

use howdah_vfs::Detail;
use howdah_wire::nfs3::listing::Budget;
use howdah_wire::nfs3::readdir;
use howdah_wire::nfs3::readdirplus::{Arguments, Entry};
use howdah_wire::xdr::Decode;

use super::Nfs3Program;
use super::context::Context;
use super::listing::{self, ListingWish};
use crate::{Refusal, Reply, Request, SealedHandle};

/// Answers a call.
pub fn run(nfs3: &Nfs3Program, request: &mut Request<'_, '_>, reply: &mut Reply) -> Result<(), Refusal> {
    let exports = nfs3.exports();
    let context = Context::new(nfs3, &exports, request)?;
    let arguments = Arguments::decode(&mut request.arguments)?;
    let budget = Budget { whole: arguments.count as usize, names: arguments.name_count as usize };
    let Arguments { directory, cookie, .. } = arguments;
    let wish = ListingWish { directory, cookie, detail: Detail::Nodes, budget };
    listing::answer(&context, &wish, reply, |directory, writer, entry| {
        let name = readdir::Entry { file: entry.file, name: entry.name, cookie: entry.cookie };
        let sealed = entry.node.map(|node| directory.seal(&node.handle));
        writer.add(&Entry {
            name,
            attributes: entry.node.map(|node| directory.tell(&node.attributes)),
            node: sealed.as_ref().map(SealedHandle::as_wire),
        })
    });
    Ok(())
}
