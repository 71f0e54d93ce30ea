//! How plain types of XDR are written down: structures as their fields in the order of the wire, enumerations as their
//! numbers, bounded opaque data as its limit. Unions have no place here; they are coded by hand where they are.

use crate::xdr::{Decode, DecodeError, Decoder, Encode, Encoder};

/// One field of a structure. `what` names it in errors, if its type has no better name for itself.
pub(crate) trait Field<'a>: Sized {
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

impl Field<'_> for i64 {
    fn get(decoder: &mut Decoder<'_>, what: &'static str) -> Result<Self, DecodeError> {
        decoder.u64(what).map(u64::cast_signed)
    }
    fn put(&self, encoder: &mut Encoder<'_>) {
        encoder.u64(self.cast_unsigned());
    }
}

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
                Ok(Self { $($field: $crate::message::Field::get(decoder, stringify!($field))?,)* })
            }
        }

        impl $crate::xdr::Encode for $encoded {
            fn encode(&self, encoder: &mut $crate::xdr::Encoder<'_>) {
                $($crate::message::Field::put(&self.$field, encoder);)*
            }
        }
    };
}
pub(crate) use message;

/// Values of one field of fixed size, each a type of its own.
macro_rules! newtype {
    ($($(#[$meta:meta])* pub struct $name:ident(pub $type:ty), $what:literal;)*) => {$(
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
        pub struct $name(pub $type);

        impl $crate::xdr::Decode<'_> for $name {
            fn decode(decoder: &mut $crate::xdr::Decoder<'_>) -> Result<Self, $crate::xdr::DecodeError> {
                $crate::message::Field::get(decoder, $what).map(Self)
            }
        }

        impl $crate::xdr::Encode for $name {
            fn encode(&self, encoder: &mut $crate::xdr::Encoder<'_>) {
                $crate::message::Field::put(&self.0, encoder);
            }
        }
    )*};
}
pub(crate) use newtype;

/// Opaque data and texts: borrowed, and no longer than a limit.
macro_rules! opaque {
    ($($(#[$meta:meta])* pub struct $name:ident, $limit:expr, $what:literal;)*) => {$(
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
        pub struct $name<'a>(pub &'a [u8]);

        impl<'a> $crate::xdr::Decode<'a> for $name<'a> {
            fn decode(decoder: &mut $crate::xdr::Decoder<'a>) -> Result<Self, $crate::xdr::DecodeError> {
                decoder.opaque($limit, $what).map(Self)
            }
        }

        impl $crate::xdr::Encode for $name<'_> {
            fn encode(&self, encoder: &mut $crate::xdr::Encoder<'_>) {
                encoder.opaque(self.0);
            }
        }
    )*};
}
pub(crate) use opaque;

/// An enumeration: other numbers than these are refused.
macro_rules! enumeration {
    ($(#[$meta:meta])* pub enum $name:ident, $what:literal {
        $($(#[$about:meta])* $variant:ident = $number:literal,)*
    }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name { $($(#[$about])* $variant = $number,)* }

        impl $name {
            /// All of them.
            pub const ALL: &[Self] = &[$(Self::$variant),*];
        }

        impl $crate::xdr::Decode<'_> for $name {
            fn decode(decoder: &mut $crate::xdr::Decoder<'_>) -> Result<Self, $crate::xdr::DecodeError> {
                Ok(match decoder.u32($what)? {
                    $($number => Self::$variant,)*
                    other => {
                        return Err(decoder.refuse($what, 4, $crate::xdr::DecodeProblem::UnknownValue(other)));
                    }
                })
            }
        }

        impl $crate::xdr::Encode for $name {
            fn encode(&self, encoder: &mut $crate::xdr::Encoder<'_>) {
                encoder.u32(*self as u32);
            }
        }
    };
}
pub(crate) use enumeration;
