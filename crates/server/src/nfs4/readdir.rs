//! READDIR: the names in the current directory, with attributes.

use std::ops::ControlFlow;

use howdah_vfs::{Detail, Entry, FileSystem, ListDirectory};
use howdah_wire::nfs4::attributes::{self as wire, FILEID, MOUNTED_ON_FILEID, RDATTR_ERROR};
use howdah_wire::nfs4::readdir::{Arguments, Budget, EntryWriter};
use howdah_wire::nfs4::{Bitmap, Name, Status, Verifier};
use howdah_wire::xdr::{Decode, Decoder, Encoder};

use super::attributes::{self, ListedNode};
use super::compound::{Compound, Outcome};
use super::convert;
use super::lookup::{junction, kind, not_directory};
use super::node::{CurrentNode, ExportedNode, FlavorAccess};
use super::pseudo::PseudoDirectory;
use crate::Reply;

/// The largest listing, in bytes.
const LISTING_MAX: usize = 64 << 10;
/// Cookies of a file system are sent as so much more, since 1 and 2 mean something else (RFC 8881 18.23.3).
const COOKIES_FROM: u64 = 2;
/// The verifier of every cookie: a file system's cookies stay valid while the directory changes.
const VERIFIER: Verifier = Verifier([0; 8]);
/// Attributes that a name brings along.
const OF_NAMES: Bitmap = Bitmap::of(&[FILEID, MOUNTED_ON_FILEID, RDATTR_ERROR]);

/// Answers it.
pub fn run(compound: &mut Compound<'_>, arguments: &mut Decoder<'_>, reply: &mut Reply) -> Outcome {
    let wish = Arguments::decode(arguments)?;
    if wish.cookie != 0 && wish.cookie <= COOKIES_FROM {
        return Err(Status::BAD_COOKIE.into());
    }
    let names = if wish.name_count == 0 { usize::MAX } else { wish.name_count as usize };
    let budget = Budget { whole: (wish.count as usize).min(LISTING_MAX), names };
    let node = compound.node()?;
    let mut writer = EntryWriter::new(reply.bytes_mut(), VERIFIER, budget);
    let end = match node {
        CurrentNode::Pseudo(directory) => Ok(pseudo(compound, *directory, &wish, &mut writer)),
        CurrentNode::Exported(directory) => exported(compound, directory, &wish, &mut writer),
    };
    match end {
        // Nothing fits, and a client that went on from here would never get further.
        Ok(false) if writer.is_empty() => {
            writer.abandon();
            Err(Status::TOOSMALL.into())
        }
        Ok(end) => {
            writer.finish(end);
            Ok(())
        }
        Err(status) => {
            writer.abandon();
            Err(status.into())
        }
    }
}

/// Lists a directory of the pseudo file system; says whether that was all.
fn pseudo(
    compound: &Compound<'_>,
    directory: PseudoDirectory,
    wish: &Arguments,
    writer: &mut EntryWriter<'_>,
) -> bool {
    let shown =
        compound.tree().entries(directory, wish.cookie).filter(|entry| compound.is_shown(entry.behind));
    for entry in shown {
        let node = compound.behind(entry.behind);
        let added = writer.add(entry.cookie, Name(entry.name.as_bytes()), |encoder| match &node {
            Ok(node) => put_entry(compound, node, None, wish.wanted, encoder),
            Err(status) => not_told(*status, wish.wanted, encoder),
        });
        if added.is_break() {
            return false;
        }
    }
    true
}

/// Lists a directory of an export; says whether that was all.
fn exported(
    compound: &Compound<'_>,
    directory: &ExportedNode<'_>,
    wish: &Arguments,
    writer: &mut EntryWriter<'_>,
) -> Result<bool, Status> {
    let wanted = wish.wanted & attributes::supported(compound.minor_version);
    let detail = if wanted.without(OF_NAMES).is_empty() { Detail::Names } else { Detail::Nodes };
    let own = if wanted.contains(MOUNTED_ON_FILEID) { directory.attributes().ok() } else { None };
    let mut sink = |entry: Entry<'_>| {
        if matches!(entry.name, b"." | b"..") {
            return ControlFlow::Continue(());
        }
        let name = Name(entry.name);
        writer.add(entry.cookie + COOKIES_FROM, name, |encoder| {
            if let Some(export) = junction(compound, directory, entry.name) {
                match compound.behind(export) {
                    Ok(node) => put_entry(compound, &node, None, wanted, encoder),
                    Err(status) => not_told(status, wanted, encoder),
                }
            } else if let Some(found) = &entry.node {
                let node = CurrentNode::Exported(directory.beside(found.handle));
                let attributes = found.attributes;
                let is_junction = own.is_some_and(|own| own.file_system != attributes.file_system);
                put_entry(compound, &node, Some(ListedNode { attributes, is_junction }), wanted, encoder);
            } else if detail == Detail::Names {
                of_name(entry.file, wanted, encoder);
            } else {
                // It went away between its name and its attributes.
                not_told(Status::NOENT, wanted, encoder);
            }
        })
    };
    let cookie = wish.cookie.saturating_sub(COOKIES_FROM);
    let (file_system, caller) = (&directory.file_system, &directory.caller);
    match file_system.read_directory(caller, ListDirectory::new(&directory.handle, cookie, detail), &mut sink)
    {
        Ok(listing) => Ok(listing.end),
        Err(howdah_vfs::FsError::NotDirectory) => Err(not_directory(kind(directory)?)),
        Err(error) => Err(convert::status(error)),
    }
}

fn put_entry(
    compound: &Compound<'_>,
    node: &CurrentNode<'_>,
    known: Option<ListedNode>,
    wanted: Bitmap,
    encoder: &mut Encoder<'_>,
) {
    // What LOOKUP does not say of a node is not said here.
    if node.flavor_access() == FlavorAccess::None {
        return not_told(Status::WRONGSEC, wanted, encoder);
    }
    if let Err(status) = attributes::write(compound, node, known, wanted, encoder) {
        not_told(status, wanted, encoder);
    }
}

/// Why an entry has no attributes, for a client that asked for the error.
fn not_told(status: Status, wanted: Bitmap, encoder: &mut Encoder<'_>) {
    let mut values = wire::Attributes::default();
    values.identity.error = Some(status);
    values.write(encoder, wanted);
}

fn of_name(file: u64, wanted: Bitmap, encoder: &mut Encoder<'_>) {
    let mut values = wire::Attributes::default();
    values.identity.error = Some(Status::OK);
    values.identity.file = Some(file);
    values.identity.mounted_on_file = Some(file);
    values.write(encoder, wanted);
}
