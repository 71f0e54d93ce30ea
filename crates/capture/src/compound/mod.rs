//! What a COMPOUND of NFSv4 says: a line for each operation that it was made for, reported as the procedure of NFSv3 that does
//! the same.

mod attributes;
mod bytes;
mod entries;
mod reader;
mod telling;
mod work;

pub use bytes::CompoundBytes;
pub use entries::entries_listed;

use howdah_wire::nfs4::compound::{Head, ReplyHead};
use howdah_wire::xdr::{Decode, DecodeError, Decoder};

use super::format::Call;
use super::pseudonyms::Pseudonyms;
use reader::CompoundReader;

/// Reads a COMPOUND (RFC 8881 16.2): a line for each operation with a procedure of NFSv3, or else one alone. All are as `call` but for what
/// they say, and the bytes of the messages count for the first. It stops at what is cut off.
///
/// # Errors
/// The head of the arguments or of the result makes no sense.
pub fn read_compound(
    pseudonyms: &Pseudonyms,
    kept: &CompoundBytes<'_>,
    call: Call,
) -> Result<Vec<Call>, DecodeError> {
    let (mut arguments, mut result) = (Decoder::new(kept.arguments), Decoder::new(kept.result));
    let asked = Head::decode(&mut arguments)?;
    let answered = ReplyHead::decode(&mut result)?;
    let mut reader = CompoundReader::new(pseudonyms, *kept, call);
    for _ in 0..answered.results.min(asked.operations) {
        if reader.step(&mut arguments, &mut result).is_none() {
            break;
        }
    }
    Ok(reader.finish(answered.status, &mut arguments))
}
