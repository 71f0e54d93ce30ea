//! A set of attributes with their values, as on the wire (RFC 8881 3.3.7, `fattr4`).

use super::Attributes;
use crate::limits::ATTRIBUTES_MAX;
use crate::nfs4::Bitmap;
use crate::xdr::{Decode, DecodeError, Decoder, Encode, Encoder};

/// Attributes whose values are not decoded yet, since a decoder must first refuse those that it does not know.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Values<'a> {
    /// Which attributes.
    pub attributes: Bitmap,
    /// Whether there were further ones, of numbers that a [`Bitmap`] does not keep. Their values stand at the end of `bytes`.
    pub has_unknown: bool,
    /// The values in ascending order of the numbers, as XDR.
    pub bytes: &'a [u8],
}

impl<'a> Values<'a> {
    /// The values of attributes that are to be sent; `buffer` holds their bytes, and what was in it goes.
    pub fn of(attributes: &Attributes<'_>, buffer: &'a mut Vec<u8>) -> Self {
        buffer.clear();
        let mut encoder = Encoder::new(buffer);
        let present = attributes.present();
        for number in present.numbers() {
            attributes.put(number, &mut encoder);
        }
        Self { attributes: present, has_unknown: false, bytes: buffer }
    }

    /// The values, decoded.
    ///
    /// # Errors
    /// An attribute that [`Attributes`] does not have, whose value cannot be parted from all behind it; a value that is
    /// malformed; and bytes left over.
    pub fn decode_all(&self) -> Result<Attributes<'a>, DecodeError> {
        let mut decoder = Decoder::new(self.bytes);
        let mut attributes = Attributes::default();
        for number in self.attributes.numbers() {
            attributes.get(number, &mut decoder)?;
        }
        decoder.finish("attributes")?;
        Ok(attributes)
    }
}

impl<'a> Decode<'a> for Values<'a> {
    fn decode(decoder: &mut Decoder<'a>) -> Result<Self, DecodeError> {
        let (attributes, has_unknown) = Bitmap::decode_all(decoder)?;
        Ok(Self { attributes, has_unknown, bytes: decoder.opaque(ATTRIBUTES_MAX, "attributes")? })
    }
}

impl Encode for Values<'_> {
    fn encode(&self, encoder: &mut Encoder<'_>) {
        if self.has_unknown {
            // Which they were is not kept: the highest bit of a further word stands for all of them.
            let words = self.attributes.words();
            encoder.u32(words.len() as u32 + 1);
            words.into_iter().chain([1 << 31]).for_each(|word| encoder.u32(word));
        } else {
            self.attributes.encode(encoder);
        }
        encoder.opaque(self.bytes);
    }
}
