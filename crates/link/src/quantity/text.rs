//! Quantities are text wherever a person writes or reads them.

/// What a person wrote is no such quantity: what was given, and what is allowed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotA {
    given: String,
    allowed: &'static str,
}

impl NotA {
    pub(crate) fn new(given: &str, allowed: &'static str) -> Self {
        Self { given: given.to_owned(), allowed }
    }
}

impl std::fmt::Display for NotA {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(to, "\"{}\" is not {}", self.given, self.allowed)
    }
}

impl std::error::Error for NotA {}

/// Reads and writes a type as the text that its `FromStr` and `Display` know; its `ALLOWED` says what that is.
macro_rules! as_text {
    ($type:ty) => {
        impl serde::Serialize for $type {
            fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                to.collect_str(self)
            }
        }

        impl<'de> serde::Deserialize<'de> for $type {
            fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                struct Visitor;
                impl serde::de::Visitor<'_> for Visitor {
                    type Value = $type;

                    fn expecting(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                        to.write_str(<$type>::ALLOWED)
                    }

                    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<$type, E> {
                        text.parse().map_err(E::custom)
                    }
                }
                from.deserialize_str(Visitor)
            }
        }
    };
}
pub(crate) use as_text;
