//! The largest packet that passes, and what becomes of larger ones.

use serde::{Deserialize, Serialize};

/// `1500`: larger packets are refused, and their sender gets a report. `{ size = 1500, too_large = "dropped" }`: no report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Text", into = "Text")]
pub struct MtuSpec {
    /// In bytes, IP header included, link header not.
    pub size: usize,
    /// What becomes of larger packets.
    pub too_large: TooLarge,
}

/// What becomes of a packet that is too large.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TooLarge {
    /// Its sender gets a report, as from a router (ICMP "fragmentation needed", RFC 1191; "packet too big", RFC 8201).
    Reported,
    /// No report: a black hole (RFC 2923).
    Dropped,
}

#[derive(Serialize, Deserialize)]
#[serde(
    untagged,
    expecting = "expected a number of bytes as 1500, or { size = 1500, too_large = \"dropped\" } (or \"reported\")"
)]
enum Text {
    Size(usize),
    Table(Table),
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    size: usize,
    too_large: TooLarge,
}

impl From<Text> for MtuSpec {
    fn from(text: Text) -> Self {
        match text {
            Text::Size(size) => Self { size, too_large: TooLarge::Reported },
            Text::Table(Table { size, too_large }) => Self { size, too_large },
        }
    }
}

impl From<MtuSpec> for Text {
    fn from(MtuSpec { size, too_large }: MtuSpec) -> Self {
        match too_large {
            TooLarge::Reported => Self::Size(size),
            TooLarge::Dropped => Self::Table(Table { size, too_large }),
        }
    }
}
