//! What a capture reports of a call's result: why it was refused, what a node is, how much was done.

use std::borrow::Cow;

use howdah_wire::nfs3::{
    Attributes, FileHandle, FileType, Status, WeakCacheConsistency, access, commit, create, getattr, link,
    lookup, mkdir, mknod, read, readdir, readdirplus, readlink, setattr, symlink, write,
};
use howdah_wire::xdr::{Decode, DecodeError, Decoder};

use super::format::{Call, Kind};
use super::pseudonyms::Pseudonyms;

/// A status that RFC 1813 does not have.
const UNKNOWN: &str = "OTHER";

/// Reads the beginning of a result.
pub fn read_result(
    pseudonyms: &Pseudonyms,
    procedure: u32,
    bytes: &[u8],
    call: &mut Call,
) -> Result<(), DecodeError> {
    let decoder = &mut Decoder::new(bytes);
    if procedure == howdah_wire::nfs3::null::PROCEDURE {
        return Ok(());
    }
    let status = decoder.u32("status")?;
    if status != 0 {
        call.error = Some(Cow::Borrowed(name(status)));
        return Ok(());
    }
    match procedure {
        getattr::PROCEDURE => node(Some(Attributes::decode(decoder)?), call),
        access::PROCEDURE | readlink::PROCEDURE | readdir::PROCEDURE | readdirplus::PROCEDURE => {
            node(Option::decode(decoder)?, call);
        }
        link::PROCEDURE => node(Option::decode(decoder)?, call),
        read::PROCEDURE => {
            node(Option::decode(decoder)?, call);
            call.done = Some(decoder.u32("count")?.into());
            call.at_end = decoder.bool("end of file")?;
        }
        write::PROCEDURE => {
            changed(&WeakCacheConsistency::decode(decoder)?, call);
            call.done = Some(decoder.u32("count")?.into());
        }
        setattr::PROCEDURE | commit::PROCEDURE => changed(&WeakCacheConsistency::decode(decoder)?, call),
        lookup::PROCEDURE => {
            found(pseudonyms, Some(FileHandle::decode(decoder)?), Option::decode(decoder)?, call);
        }
        create::PROCEDURE | mkdir::PROCEDURE | symlink::PROCEDURE | mknod::PROCEDURE => {
            found(pseudonyms, Option::decode(decoder)?, Option::decode(decoder)?, call);
        }
        _ => {}
    }
    Ok(())
}

fn name(status: u32) -> &'static str {
    let place = Status::ALL.binary_search_by_key(&status, |known| *known as u32);
    place.map_or(UNKNOWN, |place| {
        let name = Status::ALL[place].rfc_name();
        name.strip_prefix("NFS3ERR_").unwrap_or(name)
    })
}

fn node(attributes: Option<Attributes>, call: &mut Call) {
    call.kind = attributes.map(|attributes| kind(attributes.kind));
    call.size = attributes.map(|attributes| attributes.size);
}

fn changed(consistency: &WeakCacheConsistency, call: &mut Call) {
    call.kind = consistency.after.map(|attributes| kind(attributes.kind));
    call.size = consistency.before.map(|before| before.size);
}

fn found(
    pseudonyms: &Pseudonyms,
    handle: Option<FileHandle<'_>>,
    attributes: Option<Attributes>,
    call: &mut Call,
) {
    call.found = handle.map(|handle| pseudonyms.node(handle.0));
    call.found_kind = attributes.map(|attributes| kind(attributes.kind));
    call.found_size = attributes.map(|attributes| attributes.size);
}

fn kind(kind: FileType) -> Kind {
    match kind {
        FileType::Regular => Kind::File,
        FileType::Directory => Kind::Directory,
        FileType::SymbolicLink => Kind::Link,
        FileType::BlockDevice | FileType::CharacterDevice | FileType::Socket | FileType::Fifo => {
            Kind::Special
        }
    }
}
