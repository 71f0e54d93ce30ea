//! How a plain structure of XDR is written down: its fields, in the order in which they stand on the wire.
//! Unions and bounded opaque data have no place here; they are coded by hand where they are.

use crate::xdr::{Decode, DecodeError, Decoder, Encode, Encoder};

/// One field of a structure. `what` names it in errors, if its type has no better name for itself.
pub(super) trait Field<'a>: Sized {
    fn get(decoder: &mut Decoder<'a>, what: &'static str) -> Result<Self, DecodeError>;
    fn put(&self, encoder: &mut Encoder<'_>);
}

impl<'a, T: Decode<'a> + Encode> Field<'a> for T {
    fn get(decoder: &mut Decoder<'a>, _: &'static str) -> Result<Self, DecodeError> {
        T::decode(decoder)
    }
    fn put(&self, encoder: &mut Encoder<'_>) {
        self.encode(encoder);
    }
}

macro_rules! primitive_fields {
    ($($type:ident),*) => {$(
        impl Field<'_> for $type {
            fn get(decoder: &mut Decoder<'_>, what: &'static str) -> Result<Self, DecodeError> {
                decoder.$type(what)
            }
            fn put(&self, encoder: &mut Encoder<'_>) {
                encoder.$type(*self);
            }
        }

        impl Field<'_> for Option<$type> {
            fn get(decoder: &mut Decoder<'_>, what: &'static str) -> Result<Self, DecodeError> {
                Ok(if decoder.bool(what)? { Some(decoder.$type(what)?) } else { None })
            }
            fn put(&self, encoder: &mut Encoder<'_>) {
                encoder.bool(self.is_some());
                self.iter().for_each(|value| encoder.$type(*value));
            }
        }
    )*};
}
primitive_fields!(u32, u64, bool);

impl<const N: usize> Field<'_> for [u8; N] {
    fn get(decoder: &mut Decoder<'_>, what: &'static str) -> Result<Self, DecodeError> {
        decoder.fixed(what)
    }
    fn put(&self, encoder: &mut Encoder<'_>) {
        encoder.fixed(self);
    }
}

/// A structure with both directions of coding: its fields in order.
macro_rules! message {
    ($(#[$meta:meta])* pub struct $name:ident<$life:lifetime> {
        $($(#[$about:meta])* pub $field:ident: $type:ty,)*
    }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub struct $name<$life> { $($(#[$about])* pub $field: $type,)* }

        message!(@code [$life] [$name<$life>] [$name<'_>] $($field)*);
    };
    ($(#[$meta:meta])* pub struct $name:ident {
        $($(#[$about:meta])* pub $field:ident: $type:ty,)*
    }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub struct $name { $($(#[$about])* pub $field: $type,)* }

        message!(@code ['a] [$name] [$name] $($field)*);
    };
    (@code [$life:lifetime] [$decoded:ty] [$encoded:ty] $($field:ident)*) => {
        impl<$life> $crate::xdr::Decode<$life> for $decoded {
            fn decode(
                decoder: &mut $crate::xdr::Decoder<$life>,
            ) -> Result<Self, $crate::xdr::DecodeError> {
                Ok(Self { $($field: $crate::nfs3::message::Field::get(decoder, stringify!($field))?,)* })
            }
        }

        impl $crate::xdr::Encode for $encoded {
            fn encode(&self, encoder: &mut $crate::xdr::Encoder<'_>) {
                $($crate::nfs3::message::Field::put(&self.$field, encoder);)*
            }
        }
    };
}
pub(super) use message;
