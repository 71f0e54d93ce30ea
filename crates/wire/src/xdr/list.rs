//! Linked lists (RFC 4506 4.19): TRUE before each item, FALSE after the last.

use std::fmt;
use std::marker::PhantomData;

use super::{Decode, DecodeError, DecodeProblem, Decoder, Encode, Encoder};

impl<'a> Decoder<'a> {
    /// A linked list of at most `limit` items. It grows with the items that are really there.
    pub fn list<T: Decode<'a>>(&mut self, limit: u32, what: &'static str) -> Result<Vec<T>, DecodeError> {
        let mut items = Vec::new();
        while self.bool(what)? {
            if items.len() >= limit as usize {
                return Err(self.refuse(what, 4, DecodeProblem::TooLong { claimed: limit + 1, limit }));
            }
            items.push(T::decode(self)?);
        }
        Ok(items)
    }
}

impl Encoder<'_> {
    /// A linked list.
    pub fn list<'t, T: Encode + 't>(&mut self, items: impl IntoIterator<Item = &'t T>) {
        for item in items {
            self.bool(true);
            item.encode(self);
        }
        self.bool(false);
    }
}

/// Entries of a linked list, still as XDR: all checked when the message was decoded, and decoded again one by one when they are looked
/// at.
pub struct Entries<'a, E> {
    /// As on the wire, with the flag that ends the list.
    encoded: &'a [u8],
    kind: PhantomData<fn() -> E>,
}

impl<'a, E: Decode<'a>> Iterator for Entries<'a, E> {
    type Item = E;

    fn next(&mut self) -> Option<E> {
        let mut decoder = Decoder::new(self.encoded);
        let entry = decoder.optional("entry").ok().flatten()?;
        self.encoded = decoder.rest();
        Some(entry)
    }
}

impl<E> Clone for Entries<'_, E> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<E> Copy for Entries<'_, E> {}

impl<E> PartialEq for Entries<'_, E> {
    fn eq(&self, other: &Self) -> bool {
        self.encoded == other.encoded
    }
}

impl<E> Eq for Entries<'_, E> {}

impl<E> fmt::Debug for Entries<'_, E> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Entries({} bytes)", self.encoded.len())
    }
}

impl<'a, E: Decode<'a>> Decode<'a> for Entries<'a, E> {
    fn decode(decoder: &mut Decoder<'a>) -> Result<Self, DecodeError> {
        let (start, rest) = (decoder.position(), decoder.rest());
        while decoder.optional::<E>("entry")?.is_some() {}
        Ok(Self { encoded: &rest[..decoder.position() - start], kind: PhantomData })
    }
}

impl<E> Encode for Entries<'_, E> {
    fn encode(&self, encoder: &mut Encoder<'_>) {
        encoder.fixed(self.encoded);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, PartialEq)]
    struct Number(u32);

    impl Decode<'_> for Number {
        fn decode(decoder: &mut Decoder<'_>) -> Result<Self, DecodeError> {
            decoder.u32("number").map(Self)
        }
    }

    impl Encode for Number {
        fn encode(&self, encoder: &mut Encoder<'_>) {
            encoder.u32(self.0);
        }
    }

    #[test]
    fn a_list_comes_back_and_is_bounded() {
        let mut bytes = Vec::new();
        Encoder::new(&mut bytes).list(&[Number(7), Number(8)]);
        assert_eq!(bytes.len(), 20);
        assert_eq!(Decoder::new(&bytes).list(2, "numbers"), Ok(vec![Number(7), Number(8)]));
        let error = Decoder::new(&bytes).list::<Number>(1, "numbers").expect_err("two are one too many");
        assert_eq!((error.problem, error.at), (DecodeProblem::TooLong { claimed: 2, limit: 1 }, 8));
    }

    #[test]
    fn a_list_without_an_end_is_truncated() {
        let error = Decoder::new(&[0, 0, 0, 1, 0, 0, 0, 7]).list::<Number>(9, "numbers").expect_err("no end");
        assert_eq!(error.problem, DecodeProblem::Truncated);
    }
}
