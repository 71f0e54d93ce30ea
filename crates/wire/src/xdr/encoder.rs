//! Values in, bytes out: appends to a buffer of the caller's.

use super::padding;

/// A value that can be written as XDR. Writing cannot fail: what has a limit was checked when the value was made.
pub trait Encode {
    /// Writes it.
    fn encode(&self, encoder: &mut Encoder<'_>);
}

/// Appends to a buffer.
#[derive(Debug)]
pub struct Encoder<'b> {
    output: &'b mut Vec<u8>,
}

impl<'b> Encoder<'b> {
    /// Appends to `output`.
    pub fn new(output: &'b mut Vec<u8>) -> Self {
        Self { output }
    }

    /// The buffer, to append data that is XDR already.
    pub fn output(&mut self) -> &mut Vec<u8> {
        self.output
    }

    /// `unsigned int`.
    pub fn u32(&mut self, value: u32) {
        self.output.extend_from_slice(&value.to_be_bytes());
    }

    /// `unsigned hyper`.
    pub fn u64(&mut self, value: u64) {
        self.output.extend_from_slice(&value.to_be_bytes());
    }

    /// `bool`.
    pub fn bool(&mut self, value: bool) {
        self.u32(u32::from(value));
    }

    /// `opaque[N]`: no length, padded.
    pub fn fixed(&mut self, bytes: &[u8]) {
        self.output.extend_from_slice(bytes);
        self.pad(bytes.len());
    }

    /// `opaque<>` and `string<>`: length, bytes, padding.
    pub fn opaque(&mut self, bytes: &[u8]) {
        self.u32(u32::try_from(bytes.len()).expect("messages are far below 4 GiB"));
        self.fixed(bytes);
    }

    /// `T *`: a value that may be absent.
    pub fn optional<T: Encode>(&mut self, value: Option<&T>) {
        self.bool(value.is_some());
        if let Some(value) = value {
            value.encode(self);
        }
    }

    /// The padding after `length` bytes of opaque data that were appended by hand.
    pub fn pad(&mut self, length: usize) {
        self.output.extend_from_slice(&[0; 3][..padding(length)]);
    }
}

/// The bytes of a value in a buffer of their own: for tests and rare messages.
impl Encoder<'_> {
    /// Encodes one value.
    pub fn to_vec(value: &impl Encode) -> Vec<u8> {
        let mut output = Vec::new();
        value.encode(&mut Encoder::new(&mut output));
        output
    }
}
