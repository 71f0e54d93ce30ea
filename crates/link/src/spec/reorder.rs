//! Packets that others overtake.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::quantity::{Probability, Span};

/// `"0.1%"`: so many packets are held back; `{ packets = "0.1%", hold = "5ms" }`: for that time.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(from = "Text", into = "Text")]
pub struct ReorderSpec {
    /// What part of the packets.
    pub packets: Probability,
    /// For how long; left out: as long as eight full frames take on the line (more than the three after which TCP takes
    /// a packet for lost), 1 ms at least.
    pub hold: Option<Duration>,
}

#[derive(Serialize, Deserialize)]
#[serde(
    untagged,
    expecting = "expected a probability as \"0.1%\", or { packets = \"0.1%\", hold = \"5ms\" }"
)]
enum Text {
    Packets(Probability),
    Table(Table),
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    packets: Probability,
    hold: Span,
}

impl From<Text> for ReorderSpec {
    fn from(text: Text) -> Self {
        match text {
            Text::Packets(packets) => Self { packets, hold: None },
            Text::Table(Table { packets, hold: Span(hold) }) => Self { packets, hold: Some(hold) },
        }
    }
}

impl From<ReorderSpec> for Text {
    fn from(ReorderSpec { packets, hold }: ReorderSpec) -> Self {
        match hold {
            None => Self::Packets(packets),
            Some(hold) => Self::Table(Table { packets, hold: Span(hold) }),
        }
    }
}
