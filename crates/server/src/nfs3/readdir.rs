//! READDIR: the names in a directory.

use howdah_vfs::Detail;
use howdah_wire::nfs3::listing::Budget;
use howdah_wire::nfs3::readdir::{Arguments, Entry};
use howdah_wire::xdr::Decode;

use super::Nfs3Program;
use super::context::Context;
use super::listing::{self, ListingWish};
use crate::{Refusal, Reply, Request};

/// Answers a call.
pub fn run(nfs3: &Nfs3Program, request: &mut Request<'_, '_>, reply: &mut Reply) -> Result<(), Refusal> {
    let exports = nfs3.exports();
    let context = Context::new(nfs3, &exports, request)?;
    let arguments = Arguments::decode(&mut request.arguments)?;
    let budget = Budget { whole: arguments.count as usize, names: usize::MAX };
    let Arguments { directory, cookie, .. } = arguments;
    let wish = ListingWish { directory, cookie, detail: Detail::Names, budget };
    listing::answer(&context, &wish, reply, |_, writer, entry| {
        writer.add(&Entry { file: entry.file, name: entry.name, cookie: entry.cookie })
    });
    Ok(())
}
