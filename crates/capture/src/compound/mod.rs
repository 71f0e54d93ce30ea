//! What a COMPOUND of NFSv4 says: one line for the operation that it was made for, reported as the procedure of NFSv3 that does
//! the same.

mod attributes;
mod entries;
mod reader;
mod telling;
mod work;

pub use entries::entries_listed;

use howdah_wire::nfs4::compound::{Head, ReplyHead};
use howdah_wire::xdr::{Decode, DecodeError, Decoder};

use super::format::Call;
use super::pseudonyms::Pseudonyms;
use reader::CompoundReader;

/// Reads the beginning of the arguments and the result of a COMPOUND (RFC 8881 16.2) into `call`. It stops at what is cut off.
///
/// # Errors
/// The head of one of them makes no sense.
pub fn read_compound(
    pseudonyms: &Pseudonyms,
    arguments: &[u8],
    result: &[u8],
    call: &mut Call,
) -> Result<(), DecodeError> {
    let (mut arguments, mut result) = (Decoder::new(arguments), Decoder::new(result));
    let asked = Head::decode(&mut arguments)?;
    let answered = ReplyHead::decode(&mut result)?;
    let mut reader = CompoundReader::new(pseudonyms, call);
    for _ in 0..answered.results.min(asked.operations) {
        if reader.step(&mut arguments, &mut result).is_none() {
            break;
        }
    }
    reader.finish(answered.status);
    Ok(())
}
