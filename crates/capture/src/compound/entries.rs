//! Counts the entries of a listing: what is kept of a result holds the first ones only.

use howdah_wire::nfs4::compound::{ReplyHead, ResultHead};
use howdah_wire::nfs4::{Status, get_dir_delegation, getattr, getfh, lookupp, putfh, readdir, sequence};
use howdah_wire::xdr::{Decode, Decoder};

/// How many entries the READDIR in the result of a compound lists, and whether they are the last ones. None if there is no READDIR.
pub fn entries_listed(result: &[u8]) -> Option<(u64, bool)> {
    let decoder = &mut Decoder::new(result);
    let head = ReplyHead::decode(decoder).ok()?;
    for _ in 0..head.results {
        let ResultHead { operation, status } = ResultHead::decode(decoder).ok()?;
        match operation {
            _ if status != Status::OK => return None,
            sequence::OPERATION => drop(sequence::Success::decode(decoder).ok()?),
            getattr::OPERATION => drop(getattr::Success::decode(decoder).ok()?),
            getfh::OPERATION => drop(getfh::Success::decode(decoder).ok()?),
            get_dir_delegation::OPERATION => drop(get_dir_delegation::Success::decode(decoder).ok()?),
            putfh::OPERATION | lookupp::OPERATION => {}
            readdir::OPERATION => {
                let listing = readdir::Success::decode(decoder).ok()?;
                return Some((listing.entries.count() as u64, listing.end));
            }
            _ => return None,
        }
    }
    None
}
