//! What one direction of a path is like.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{BurstsSpec, JitterSpec, MtuSpec, OutagesSpec, QueueSpec, RateSpec, ReorderSpec};
use crate::quantity::{Bitrate, Probability, Span};

/// One direction of a path; what is `None` does nothing. As TOML: the same names, what is left out is `None`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DirectionSpec {
    /// How long every packet travels.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delay: Option<Span>,
    /// How much longer some travel.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub jitter: Option<JitterSpec>,
    /// How fast the line is, Ethernet's framing included.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate: Option<RateSpec>,
    /// What may wait for the line; without a rate nothing waits, and a path read from text has none. `None`:
    /// [`QueueSpec::usual`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queue: Option<QueueSpec>,
    /// What part of the frames is lost, each by itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub loss: Option<Probability>,
    /// What is lost in bursts, besides.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bursts: Option<BurstsSpec>,
    /// What part of the frames has a bit flipped.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub corrupt: Option<Probability>,
    /// What part of the frames arrives twice.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duplicate: Option<Probability>,
    /// What others overtake.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reorder: Option<ReorderSpec>,
    /// The largest packet.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mtu: Option<MtuSpec>,
    /// When it is down.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub schedule: Option<OutagesSpec>,
}

impl DirectionSpec {
    /// The same, where it says nothing as `base` says.
    #[must_use]
    pub fn over(self, base: Self) -> Self {
        Self {
            delay: self.delay.or(base.delay),
            jitter: self.jitter.or(base.jitter),
            rate: self.rate.or(base.rate),
            queue: self.queue.or(base.queue),
            loss: self.loss.or(base.loss),
            bursts: self.bursts.or(base.bursts),
            corrupt: self.corrupt.or(base.corrupt),
            duplicate: self.duplicate.or(base.duplicate),
            reorder: self.reorder.or(base.reorder),
            mtu: self.mtu.or(base.mtu),
            schedule: self.schedule.or(base.schedule),
        }
    }

    /// How long every packet travels at least.
    pub fn delay(&self) -> Duration {
        self.delay.unwrap_or_default().0
    }

    /// What the line carries in the long run, framing included; `None`: without limit.
    pub fn line_rate(&self) -> Option<Bitrate> {
        self.rate.as_ref().and_then(RateSpec::average)
    }
}
