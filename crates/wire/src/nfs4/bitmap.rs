//! Sets of attributes and of other numbers (RFC 8881 3.2, `bitmap4`).

use std::ops::{BitAnd, BitOr};

use crate::limits::BITMAP_WORDS_MAX;
use crate::xdr::{Decode, DecodeError, Decoder, Encode, Encoder};

/// The words that are kept: more than any attribute of today needs.
const WORDS: usize = 3;

/// A set of numbers below 96. On the wire it has any number of words; bits of those that are not kept are ignored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Bitmap([u32; WORDS]);

impl Bitmap {
    /// The empty set.
    pub const NONE: Self = Self([0; WORDS]);

    /// The set of these numbers.
    ///
    /// # Panics
    /// If one is 96 or more.
    pub const fn of(numbers: &[u32]) -> Self {
        let mut words = [0; WORDS];
        let mut at = 0;
        while at < numbers.len() {
            words[numbers[at] as usize / 32] |= 1 << (numbers[at] % 32);
            at += 1;
        }
        Self(words)
    }

    /// The set of these words, the lowest first.
    pub const fn from_words(words: [u32; WORDS]) -> Self {
        Self(words)
    }

    /// Its words, the lowest first.
    pub const fn words(self) -> [u32; WORDS] {
        self.0
    }

    /// Whether `number` is in it.
    pub fn contains(self, number: u32) -> bool {
        self.0.get(number as usize / 32).is_some_and(|word| word >> (number % 32) & 1 == 1)
    }

    /// Adds a number below 96; ignores others.
    pub fn insert(&mut self, number: u32) {
        if let Some(word) = self.0.get_mut(number as usize / 32) {
            *word |= 1 << (number % 32);
        }
    }

    /// Takes a number out.
    pub fn remove(&mut self, number: u32) {
        if let Some(word) = self.0.get_mut(number as usize / 32) {
            *word &= !(1 << (number % 32));
        }
    }

    /// What is in this set and not in `other`.
    pub const fn without(self, other: Self) -> Self {
        let ([a, b, c], [d, e, f]) = (self.0, other.0);
        Self([a & !d, b & !e, c & !f])
    }

    /// What is in one of the two.
    pub const fn union(self, other: Self) -> Self {
        let ([a, b, c], [d, e, f]) = (self.0, other.0);
        Self([a | d, b | e, c | f])
    }

    /// Whether the two have a number in common.
    pub fn intersects(self, other: Self) -> bool {
        !(self & other).is_empty()
    }

    /// Whether there is nothing in it.
    pub fn is_empty(self) -> bool {
        self == Self::NONE
    }

    /// Its numbers, ascending.
    pub fn numbers(self) -> impl Iterator<Item = u32> {
        let mut words = self.0;
        let mut at = 0;
        std::iter::from_fn(move || {
            while *words.get(at)? == 0 {
                at += 1;
            }
            let bit = words[at].trailing_zeros();
            words[at] &= words[at] - 1;
            Some(at as u32 * 32 + bit)
        })
    }

    /// Reads a set; returns whether there were bits beyond those that are kept.
    pub fn decode_all(decoder: &mut Decoder<'_>) -> Result<(Self, bool), DecodeError> {
        let count = decoder.length(BITMAP_WORDS_MAX, "bitmap")?;
        let (mut set, mut beyond) = (Self::NONE, false);
        for at in 0..count {
            let word = decoder.u32("bitmap")?;
            match set.0.get_mut(at) {
                Some(kept) => *kept = word,
                None => beyond |= word != 0,
            }
        }
        Ok((set, beyond))
    }

    /// The words that are sent: none after the last that is not zero.
    pub(super) fn sent(&self) -> &[u32] {
        let used = self.0.iter().rposition(|word| *word != 0).map_or(0, |last| last + 1);
        &self.0[..used]
    }
}

impl BitAnd for Bitmap {
    type Output = Self;

    fn bitand(self, other: Self) -> Self {
        self.without(Self([!0; WORDS]).without(other))
    }
}

impl BitOr for Bitmap {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        self.union(other)
    }
}

impl FromIterator<u32> for Bitmap {
    fn from_iter<I: IntoIterator<Item = u32>>(numbers: I) -> Self {
        let mut set = Self::NONE;
        numbers.into_iter().for_each(|number| set.insert(number));
        set
    }
}

impl Decode<'_> for Bitmap {
    fn decode(decoder: &mut Decoder<'_>) -> Result<Self, DecodeError> {
        Self::decode_all(decoder).map(|(set, _)| set)
    }
}

impl Encode for Bitmap {
    fn encode(&self, encoder: &mut Encoder<'_>) {
        let words = self.sent();
        encoder.u32(words.len() as u32);
        words.iter().for_each(|word| encoder.u32(*word));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_any_number_are_read_and_few_written() {
        let set = Bitmap::of(&[1, 4, 33]);
        assert_eq!(Encoder::to_vec(&set), b"\0\0\0\x02\0\0\0\x12\0\0\0\x02");
        assert_eq!(Encoder::to_vec(&Bitmap::NONE), [0; 4]);
        let long = [5, 1 << 31, 0, 0, 0, 7].map(u32::to_be_bytes).concat();
        let (back, beyond) = Bitmap::decode_all(&mut Decoder::new(&long)).expect("five words");
        assert_eq!((back, beyond), (Bitmap::of(&[31]), true));
        assert_eq!(back.numbers().collect::<Vec<_>>(), [31]);
    }

    #[test]
    fn sets_are_sets() {
        let (one, other) = (Bitmap::of(&[0, 31, 32, 95]), Bitmap::of(&[31, 95]));
        assert_eq!((one & other, one | other, one.without(other)), (other, one, Bitmap::of(&[0, 32])));
        assert_eq!(one.numbers().collect::<Bitmap>(), one);
        assert!(one.contains(95) && !one.contains(96) && one.intersects(other));
    }
}
