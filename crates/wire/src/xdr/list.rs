//! Linked lists (RFC 4506 4.19): TRUE before each item, FALSE after the last.

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
