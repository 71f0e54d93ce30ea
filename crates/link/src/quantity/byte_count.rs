//! Sizes in bytes.

use std::fmt;
use std::str::FromStr;

use super::{NotA, as_text, decimal};

/// Bytes. KiB, MiB, GiB are powers of 1024; KB, MB, GB of 1000.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct ByteCount(pub usize);

const UNITS: [(&str, u64); 7] = [
    ("GiB", 1 << 30),
    ("MiB", 1 << 20),
    ("KiB", 1 << 10),
    ("GB", 1_000_000_000),
    ("MB", 1_000_000),
    ("KB", 1_000),
    ("B", 1),
];

impl ByteCount {
    pub(crate) const ALLOWED: &str =
        "a size: a number with B, KB, MB, GB, KiB, MiB or GiB, such as \"256KiB\"";
}

impl FromStr for ByteCount {
    type Err = NotA;

    fn from_str(text: &str) -> Result<Self, NotA> {
        let (number, unit) = decimal::split_unit(text);
        let find = |(name, _): &&(&str, u64)| name.eq_ignore_ascii_case(unit);
        let bytes = UNITS.iter().find(find).and_then(|(_, unit)| decimal::parse(number, *unit));
        let bytes = bytes.and_then(|bytes| usize::try_from(bytes).ok());
        bytes.map(Self).ok_or_else(|| NotA::new(text, Self::ALLOWED))
    }
}

impl fmt::Display for ByteCount {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bytes = self.0 as u64;
        let fits = |(_, unit): &&(&str, u64)| bytes > 0 && bytes.is_multiple_of(*unit);
        let (name, unit) = UNITS.iter().find(fits).unwrap_or(&UNITS[6]);
        write!(to, "{}{name}", bytes / unit)
    }
}

as_text!(ByteCount);
