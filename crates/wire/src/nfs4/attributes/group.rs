//! How a group of attributes is written down: fields that may be absent, with the number of each attribute.

/// A group of attributes: a constant for each number, and a structure of optional values with both directions of coding.
macro_rules! group {
    ($(#[$meta:meta])* pub struct $name:ident<$life:lifetime> { $($fields:tt)* }) => {
        group!(@ [$(#[$meta])*] [$name] [<$life>] [$life] $($fields)*);
    };
    ($(#[$meta:meta])* pub struct $name:ident { $($fields:tt)* }) => {
        group!(@ [$(#[$meta])*] [$name] [] ['a] $($fields)*);
    };
    (@ [$($meta:tt)*] [$name:ident] [$($generics:tt)*] [$life:lifetime]
        $($(#[$about:meta])* pub $field:ident: $type:ty = $constant:ident($number:literal),)*
    ) => {
        $(
            #[doc = concat!("Number of the attribute `", stringify!($field), "` of [`", stringify!($name), "`].")]
            pub const $constant: u32 = $number;
        )*

        $($meta)*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
        pub struct $name $($generics)* { $($(#[$about])* pub $field: Option<$type>,)* }

        impl<$life> $name $($generics)* {
            /// The attributes of the group.
            pub const ALL: $crate::nfs4::Bitmap = $crate::nfs4::Bitmap::of(&[$($number),*]);

            /// The attributes that have a value.
            pub fn present(&self) -> $crate::nfs4::Bitmap {
                let numbers = [$(self.$field.is_some().then_some($constant)),*];
                numbers.into_iter().flatten().collect()
            }

            /// Writes the value of an attribute; returns whether there is one.
            pub fn put(&self, number: u32, encoder: &mut $crate::xdr::Encoder<'_>) -> bool {
                match number {
                    $($constant => {
                        let value = self.$field.as_ref();
                        value.map(|value| $crate::message::Field::put(value, encoder)).is_some()
                    })*
                    _ => false,
                }
            }

            /// Reads the value of an attribute, if it belongs to the group.
            pub(super) fn get(
                &mut self,
                number: u32,
                decoder: &mut $crate::xdr::Decoder<$life>,
            ) -> Result<bool, $crate::xdr::DecodeError> {
                match number {
                    $($constant => self.$field = Some($crate::message::Field::get(decoder, stringify!($field))?),)*
                    _ => return Ok(false),
                }
                Ok(true)
            }
        }
    };
}
pub(super) use group;
