//! What READDIR and READDIRPLUS share: how a listing goes straight into the reply's buffer.

use std::ops::ControlFlow;

use howdah_vfs::{Detail, Entry, FileSystem, ListDirectory};
use howdah_wire::nfs3::listing::{Budget, Writer};
use howdah_wire::nfs3::{Attributes, FileHandle, Refused, Status};

use super::context::{Context, Object, nothing_known};
use super::{convert, transfer};
use crate::Reply;

/// The verifier of every cookie. A file system's cookies stay valid while the directory changes, so there is nothing
/// to verify: what a client sends is not looked at, and a listing begun before a restart goes on after it.
const VERIFIER: [u8; 8] = [0; 8];

/// What a client asks for.
pub struct ListingWish<'a> {
    /// The directory.
    pub directory: FileHandle<'a>,
    /// Where to go on.
    pub cookie: u64,
    /// How much of each entry.
    pub detail: Detail,
    /// How much in all.
    pub budget: Budget,
}

/// Lists a directory; `add` writes an entry, or breaks if it does not fit.
pub fn answer(
    context: &Context<'_>,
    wish: &ListingWish<'_>,
    reply: &mut Reply,
    mut add: impl FnMut(&Object<'_>, &mut Writer<'_>, &Entry<'_>) -> ControlFlow<()>,
) {
    type Answer = Result<(), Refused<Option<Attributes>>>;
    let directory = match context.open(wish.directory) {
        Ok(directory) => directory,
        Err(status) => return reply.write(&Answer::Err(nothing_known(status))),
    };
    let most = transfer::listing(context.peer) as usize;
    let budget = Budget { whole: wish.budget.whole.min(most), ..wish.budget };
    let mut writer = Writer::new(reply.bytes_mut(), VERIFIER, budget);
    let mut sink = |entry: Entry<'_>| add(&directory, &mut writer, &entry);
    let (caller, handle) = (&directory.caller, &directory.handle);
    let listing = directory.file_system.read_directory(
        caller,
        ListDirectory::new(handle, wish.cookie, wish.detail),
        &mut sink,
    );
    let status = match listing {
        // Nothing fits, and a client that went on from here would never get further.
        Ok(listing) if writer.is_empty() && !listing.end => Status::TooSmall,
        Ok(listing) => {
            return writer.finish(directory.attributes_or(listing.directory.as_ref()), listing.end);
        }
        Err(error) => convert::status(error),
    };
    writer.abandon();
    reply.write(&Answer::Err(Refused { status, detail: directory.attributes() }));
}
