//! Bytes in, values out: a cursor over borrowed input.

use super::{DecodeError, DecodeProblem, padding};

/// A value that can be read from XDR; what is opaque in it borrows from the input.
pub trait Decode<'a>: Sized {
    /// Reads it.
    fn decode(decoder: &mut Decoder<'a>) -> Result<Self, DecodeError>;
}

/// A cursor over the input.
#[derive(Debug, Clone)]
pub struct Decoder<'a> {
    input: &'a [u8],
    at: usize,
}

impl<'a> Decoder<'a> {
    /// Starts at the first byte.
    pub fn new(input: &'a [u8]) -> Self {
        Self { input, at: 0 }
    }

    /// Bytes read so far.
    pub fn position(&self) -> usize {
        self.at
    }

    /// The bytes not read yet.
    pub fn rest(&self) -> &'a [u8] {
        &self.input[self.at..]
    }

    /// Ends the input `length` bytes from here: what follows is not part of it.
    pub fn cut(&mut self, length: usize) {
        self.input = &self.input[..self.input.len().min(self.at + length)];
    }

    /// A refusal of what was read just before, `back` bytes ago.
    pub fn refuse(&self, what: &'static str, back: usize, problem: DecodeProblem) -> DecodeError {
        DecodeError { what, at: self.at.saturating_sub(back), problem }
    }

    /// The next `count` bytes, borrowed.
    pub fn bytes(&mut self, count: usize, what: &'static str) -> Result<&'a [u8], DecodeError> {
        let bytes = self.rest().get(..count).ok_or(self.refuse(what, 0, DecodeProblem::Truncated))?;
        self.at += count;
        Ok(bytes)
    }

    /// `unsigned int`.
    pub fn u32(&mut self, what: &'static str) -> Result<u32, DecodeError> {
        let bytes = self.bytes(4, what)?;
        Ok(u32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
    }

    /// `unsigned hyper`.
    pub fn u64(&mut self, what: &'static str) -> Result<u64, DecodeError> {
        Ok(u64::from(self.u32(what)?) << 32 | u64::from(self.u32(what)?))
    }

    /// `bool`: 0 or 1, nothing else.
    pub fn bool(&mut self, what: &'static str) -> Result<bool, DecodeError> {
        match self.u32(what)? {
            0 => Ok(false),
            1 => Ok(true),
            other => Err(self.refuse(what, 4, DecodeProblem::UnknownValue(other))),
        }
    }

    /// `opaque[N]`.
    pub fn fixed<const N: usize>(&mut self, what: &'static str) -> Result<[u8; N], DecodeError> {
        let bytes = self.bytes(N, what)?;
        self.skip_padding(N, what)?;
        let mut array = [0; N];
        array.copy_from_slice(bytes);
        Ok(array)
    }

    /// A length, at most `limit`.
    pub fn length(&mut self, limit: u32, what: &'static str) -> Result<usize, DecodeError> {
        let claimed = self.u32(what)?;
        if claimed > limit {
            return Err(self.refuse(what, 4, DecodeProblem::TooLong { claimed, limit }));
        }
        Ok(claimed as usize)
    }

    /// `opaque<limit>` and `string<limit>`, borrowed.
    pub fn opaque(&mut self, limit: u32, what: &'static str) -> Result<&'a [u8], DecodeError> {
        let length = self.length(limit, what)?;
        let bytes = self.bytes(length, what)?;
        self.skip_padding(length, what)?;
        Ok(bytes)
    }

    /// `T *`: a value that may be absent.
    pub fn optional<T: Decode<'a>>(&mut self, what: &'static str) -> Result<Option<T>, DecodeError> {
        Ok(if self.bool(what)? { Some(T::decode(self)?) } else { None })
    }

    /// The input must be used up.
    pub fn finish(self, what: &'static str) -> Result<(), DecodeError> {
        match self.rest().len() {
            0 => Ok(()),
            left => Err(self.refuse(what, 0, DecodeProblem::Trailing(left))),
        }
    }

    /// RFC 4506 wants padding to be zero, but real clients send whatever lay in their buffer, and every server takes
    /// it: so do we.
    fn skip_padding(&mut self, length: usize, what: &'static str) -> Result<(), DecodeError> {
        self.bytes(padding(length), what).map(|_| ())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_claimed_length_is_bounded_before_it_is_believed() {
        let mut decoder = Decoder::new(&[0xff, 0xff, 0xff, 0xff, 1, 2, 3, 4]);
        let error = decoder.opaque(64, "handle").expect_err("4 GiB is too long");
        assert_eq!(error.problem, DecodeProblem::TooLong { claimed: u32::MAX, limit: 64 });
        assert_eq!(error.at, 0);
        let mut decoder = Decoder::new(&[0, 0, 0, 60, 1, 2, 3, 4]);
        let error = decoder.opaque(64, "handle").expect_err("60 bytes are not there");
        assert_eq!((error.problem, error.at), (DecodeProblem::Truncated, 4));
    }

    #[test]
    fn opaque_data_is_borrowed_and_its_padding_skipped() {
        let input = [0, 0, 0, 5, b'h', b'e', b'l', b'l', b'o', 0, 0, 0, 0, 0, 0, 1];
        let mut decoder = Decoder::new(&input);
        let text = decoder.opaque(5, "text").expect("5 bytes");
        assert_eq!(text, b"hello");
        assert_eq!(text.as_ptr(), input[4..].as_ptr());
        assert_eq!(decoder.bool("flag"), Ok(true));
        assert_eq!(decoder.finish("message"), Ok(()));
    }
}
