//! Variable-length arrays (RFC 4506 4.13): a count, then the items. They are checked when the message is decoded, and decoded
//! again one by one when they are looked at, so that nothing is allocated for them.

use std::fmt;

use super::{Decode, DecodeError, Decoder, Encode, Encoder};

/// An array of at most `MAX` items: of a message that was decoded, or of values to be encoded.
pub struct Array<'a, T, const MAX: u32> {
    items: Items<'a, T>,
}

enum Items<'a, T> {
    /// As on the wire, without the count.
    Encoded {
        count: usize,
        bytes: &'a [u8],
    },
    Values(&'a [T]),
}

impl<'a, T, const MAX: u32> Array<'a, T, MAX> {
    /// An array to be encoded.
    ///
    /// # Panics
    /// If there are more than `MAX` items.
    pub fn of(items: &'a [T]) -> Self {
        assert!(items.len() <= MAX as usize, "{} items, where at most {MAX} are allowed", items.len());
        Self { items: Items::Values(items) }
    }

    /// How many items.
    pub fn len(&self) -> usize {
        match self.items {
            Items::Encoded { count, .. } => count,
            Items::Values(values) => values.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl<'a, T: Decode<'a> + Copy, const MAX: u32> Array<'a, T, MAX> {
    /// The items.
    pub fn iter(&self) -> impl Iterator<Item = T> + use<'a, T, MAX> {
        let mut items = self.items;
        std::iter::from_fn(move || match &mut items {
            Items::Encoded { bytes, .. } => {
                let mut decoder = Decoder::new(bytes);
                let item = if bytes.is_empty() { None } else { T::decode(&mut decoder).ok() };
                *bytes = decoder.rest();
                item
            }
            Items::Values(values) => {
                let (first, rest) = values.split_first()?;
                *values = rest;
                Some(*first)
            }
        })
    }
}

impl<'a, T: Decode<'a>, const MAX: u32> Decode<'a> for Array<'a, T, MAX> {
    fn decode(decoder: &mut Decoder<'a>) -> Result<Self, DecodeError> {
        let count = decoder.length(MAX, "items")?;
        let (start, rest) = (decoder.position(), decoder.rest());
        for _ in 0..count {
            T::decode(decoder)?;
        }
        let bytes = &rest[..decoder.position() - start];
        Ok(Self { items: Items::Encoded { count, bytes } })
    }
}

impl<'a, T: Decode<'a> + Encode + Copy, const MAX: u32> Encode for Array<'a, T, MAX> {
    fn encode(&self, encoder: &mut Encoder<'_>) {
        encoder.u32(self.len() as u32);
        self.iter().for_each(|item| item.encode(encoder));
    }
}

impl<T, const MAX: u32> Default for Array<'_, T, MAX> {
    fn default() -> Self {
        Self { items: Items::Values(&[]) }
    }
}

impl<T> Clone for Items<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Items<'_, T> {}

impl<T, const MAX: u32> Clone for Array<'_, T, MAX> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T, const MAX: u32> Copy for Array<'_, T, MAX> {}

impl<'a, T: Decode<'a> + Copy + PartialEq, const MAX: u32> PartialEq for Array<'a, T, MAX> {
    fn eq(&self, other: &Self) -> bool {
        self.len() == other.len() && self.iter().eq(other.iter())
    }
}

impl<'a, T: Decode<'a> + Copy + Eq, const MAX: u32> Eq for Array<'a, T, MAX> {}

impl<'a, T: Decode<'a> + Copy + fmt::Debug, const MAX: u32> fmt::Debug for Array<'a, T, MAX> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_list().entries(self.iter()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::xdr::DecodeProblem;

    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    struct Text<'a>(&'a [u8]);

    impl<'a> Decode<'a> for Text<'a> {
        fn decode(decoder: &mut Decoder<'a>) -> Result<Self, DecodeError> {
            decoder.opaque(8, "text").map(Self)
        }
    }

    impl Encode for Text<'_> {
        fn encode(&self, encoder: &mut Encoder<'_>) {
            encoder.opaque(self.0);
        }
    }

    #[test]
    fn an_array_comes_back_and_is_bounded() {
        let texts = [Text(b"one"), Text(b""), Text(b"three")];
        let array = Array::<_, 3>::of(&texts);
        let bytes = Encoder::to_vec(&array);
        let back = Array::<Text<'_>, 3>::decode(&mut Decoder::new(&bytes)).expect("three texts");
        assert_eq!((back, back.len()), (array, 3));
        assert_eq!(back.iter().collect::<Vec<_>>(), texts);
        let error = Array::<Text<'_>, 2>::decode(&mut Decoder::new(&bytes)).expect_err("one too many");
        assert_eq!(error.problem, DecodeProblem::TooLong { claimed: 3, limit: 2 });
        for end in 0..bytes.len() {
            assert!(Array::<Text<'_>, 3>::decode(&mut Decoder::new(&bytes[..end])).is_err(), "{end}");
        }
    }
}
