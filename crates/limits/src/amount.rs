//! How much, with its unit.

use std::fmt;
use std::time::Duration;

use howdah_units::grouped;

/// A limit's value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Amount {
    /// Of memory, or of a message.
    Bytes(u64),
    /// Of bytes in a second.
    BytesPerSecond(u64),
    /// Of things.
    Count(u64),
    /// Of time.
    Time(Duration),
}

impl fmt::Display for Amount {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bytes(bytes) => write!(formatter, "{} bytes", grouped(*bytes)),
            Self::BytesPerSecond(bytes) => write!(formatter, "{} bytes/s", grouped(*bytes)),
            Self::Count(count) => formatter.write_str(&grouped(*count)),
            Self::Time(time) if time.subsec_millis() != 0 => {
                write!(formatter, "{} ms", grouped(time.as_millis() as u64))
            }
            Self::Time(time) => write!(formatter, "{} s", grouped(time.as_secs())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_shown_with_its_unit() {
        for (amount, text) in [
            (Amount::Bytes(1 << 20), "1,048,576 bytes"),
            (Amount::BytesPerSecond(1024), "1,024 bytes/s"),
            (Amount::Count(16), "16"),
            (Amount::Time(Duration::from_millis(2)), "2 ms"),
            (Amount::Time(Duration::from_secs(300)), "300 s"),
        ] {
            assert_eq!(amount.to_string(), text);
        }
    }
}
