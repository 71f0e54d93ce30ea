//! The property of every message: what could be decoded comes back from its own encoding, and in no other form.

/// Decodes a message from any bytes; if that goes, encodes it and demands the same message and the same bytes again.
macro_rules! stable {
    ($type:ty, $input:expr) => {{
        use howdah_wire::xdr::{Decode, Decoder, Encoder};
        let mut decoder = Decoder::new($input);
        if let Ok(message) = <$type>::decode(&mut decoder) {
            let bytes = Encoder::to_vec(&message);
            assert!(
                bytes.len() <= decoder.position(),
                "{message:?} grew: it came in {} bytes",
                decoder.position()
            );
            let mut again = Decoder::new(&bytes);
            let back = <$type>::decode(&mut again);
            assert_eq!(back.as_ref(), Ok(&message));
            assert_eq!(again.finish("message"), Ok(()), "{message:?}");
            assert_eq!(back.as_ref().map(Encoder::to_vec), Ok(bytes.clone()));
        }
    }};
}

/// Decodes a part of a message, which must be stable, and goes on behind it; gives the part, or leaves the function with `None`.
macro_rules! part {
    ($type:ty, $decoder:expr) => {{
        stable!($type, $decoder.rest());
        <$type>::decode($decoder).ok()?
    }};
}

/// Decodes the part of one of these operations; `None` if it is refused or the operation is another.
macro_rules! of_one {
    ($operation:expr, $decoder:expr, $part:ident; $($name:ident)*) => {
        match $operation {
            $($name::OPERATION => {
                part!($name::$part, $decoder);
                Some(())
            })*
            _ => None,
        }
    };
}
