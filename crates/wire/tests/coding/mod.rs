//! What every message must do: come back as it went out, use all of its bytes, and be refused when cut short.

/// Encodes a value, decodes it again, and cuts it short at every byte. Gives its bytes.
#[macro_export]
macro_rules! comes_back {
    ($type:ty, $value:expr) => {{
        use howdah_wire::xdr::{Decode, Decoder, Encoder};
        let value: $type = $value;
        let bytes = Encoder::to_vec(&value);
        assert_eq!(bytes.len() % 4, 0, "{value:?} is not a multiple of four bytes");
        let mut decoder = Decoder::new(&bytes);
        let back = <$type>::decode(&mut decoder);
        assert_eq!(back.as_ref(), Ok(&value));
        decoder.finish("message").expect("all bytes are used");
        for end in 0..bytes.len() {
            let cut = <$type>::decode(&mut Decoder::new(&bytes[..end]));
            assert!(cut.is_err(), "{value:?} decodes from {end} of its {} bytes", bytes.len());
        }
        bytes
    }};
}
