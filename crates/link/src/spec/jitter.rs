//! Delays that differ from packet to packet.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::quantity::Span;

/// `"1ms"`: each packet is delayed by up to so much, order is kept. `{ most = "1ms", overtaking = true }`: it is not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Text", into = "Text")]
pub struct JitterSpec {
    /// Evenly spread from nothing to so much.
    pub most: Duration,
    /// May a packet overtake those before it?
    pub overtaking: bool,
}

#[derive(Serialize, Deserialize)]
#[serde(untagged, expecting = "expected a time as \"1ms\", or { most = \"1ms\", overtaking = true }")]
enum Text {
    Most(Span),
    Table(Table),
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    most: Span,
    overtaking: bool,
}

impl From<Text> for JitterSpec {
    fn from(text: Text) -> Self {
        match text {
            Text::Most(Span(most)) => Self { most, overtaking: false },
            Text::Table(Table { most: Span(most), overtaking }) => Self { most, overtaking },
        }
    }
}

impl From<JitterSpec> for Text {
    fn from(JitterSpec { most, overtaking }: JitterSpec) -> Self {
        match overtaking {
            false => Self::Most(Span(most)),
            true => Self::Table(Table { most: Span(most), overtaking }),
        }
    }
}
