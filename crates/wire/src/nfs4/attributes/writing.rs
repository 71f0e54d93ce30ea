//! How a server writes attributes: one after the other into the reply, without keeping their values.

use crate::nfs4::Bitmap;
use crate::xdr::{Encode, Encoder};

/// Writes a set of attributes with their values (`fattr4`), in ascending order as `put` writes them: the value of the attribute
/// of this number as XDR, or nothing and `false` if there is none. Gives the attributes that were written.
pub fn write(
    encoder: &mut Encoder<'_>,
    wanted: Bitmap,
    mut put: impl FnMut(u32, &mut Encoder<'_>) -> bool,
) -> Bitmap {
    let start = encoder.output().len();
    wanted.encode(encoder);
    encoder.u32(0);
    let values = encoder.output().len();
    let mut written = wanted;
    for number in wanted.numbers() {
        if !put(number, encoder) {
            written.remove(number);
        }
    }
    let output = encoder.output();
    let length = u32::try_from(output.len() - values).expect("messages are far below 4 GiB");
    output[values - 4..values].copy_from_slice(&length.to_be_bytes());
    // As many words as announced, also if the last are zero now.
    for (place, word) in output[start + 4..values - 4].chunks_exact_mut(4).zip(written.words()) {
        place.copy_from_slice(&word.to_be_bytes());
    }
    written
}
