//! Losses in bursts, as people know them: how much is lost in all, and how many in a row.

use serde::{Deserialize, Serialize};

use crate::loss::Bursts;
use crate::quantity::Probability;

/// `{ loss = "1%", length = 4 }`: 1 % of packets is lost, four in a row on average (Gilbert).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, try_from = "Text")]
pub struct BurstsSpec {
    /// What part of all packets is lost.
    pub loss: Probability,
    /// How many packets in a row are lost on average, at least one.
    pub length: f64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename = "bursts", expecting = "bursts, such as { loss = \"1%\", length = 4 }")]
struct Text {
    loss: Probability,
    length: f64,
}

impl TryFrom<Text> for BurstsSpec {
    type Error = String;

    fn try_from(Text { loss, length }: Text) -> Result<Self, String> {
        let most = length / (length + 1.0);
        if !(length >= 1.0 && length.is_finite()) {
            return Err(format!("bursts of {length} packets: a burst has at least 1, such as length = 4"));
        }
        // Between two bursts at least one packet passes.
        if loss.fraction() > most {
            return Err(format!("bursts of {length} lose at most {:.1}%, {loss} was given", most * 100.0));
        }
        Ok(Self { loss, length })
    }
}

impl BurstsSpec {
    pub(crate) fn rule(self, seed: u64) -> Bursts {
        Bursts::averaging(self.loss.fraction(), self.length, seed)
    }
}
