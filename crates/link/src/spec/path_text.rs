//! A path as a person writes it: a profile to start from, what both directions have, what each has besides.

use std::time::Duration;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::{
    BurstsSpec, DirectionSpec, JitterSpec, MtuSpec, OutagesSpec, PathSpec, QueueSpec, RateSpec, ReorderSpec,
};
use crate::quantity::{Probability, Span};

/// The smallest MTU, in bytes.
const MTU_MIN: usize = 68;

/// The keys of a direction are repeated here and not flattened, since an error could not name its line then.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct PathText {
    #[serde(skip_serializing_if = "Option::is_none")]
    profile: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    rtt: Option<Span>,
    #[serde(skip_serializing_if = "Option::is_none")]
    delay: Option<Span>,
    #[serde(skip_serializing_if = "Option::is_none")]
    jitter: Option<JitterSpec>,
    #[serde(skip_serializing_if = "Option::is_none")]
    rate: Option<RateSpec>,
    #[serde(skip_serializing_if = "Option::is_none")]
    queue: Option<QueueSpec>,
    #[serde(skip_serializing_if = "Option::is_none")]
    loss: Option<Probability>,
    #[serde(skip_serializing_if = "Option::is_none")]
    bursts: Option<BurstsSpec>,
    #[serde(skip_serializing_if = "Option::is_none")]
    corrupt: Option<Probability>,
    #[serde(skip_serializing_if = "Option::is_none")]
    duplicate: Option<Probability>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reorder: Option<ReorderSpec>,
    #[serde(skip_serializing_if = "Option::is_none")]
    mtu: Option<MtuSpec>,
    #[serde(skip_serializing_if = "Option::is_none")]
    schedule: Option<OutagesSpec>,
    #[serde(skip_serializing_if = "is_nothing")]
    there: DirectionSpec,
    #[serde(skip_serializing_if = "is_nothing")]
    back: DirectionSpec,
}

fn is_nothing(direction: &DirectionSpec) -> bool {
    *direction == DirectionSpec::default()
}

impl Serialize for PathSpec {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        PathText::from(self.clone()).serialize(to)
    }
}

impl<'de> Deserialize<'de> for PathSpec {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        Self::try_from(PathText::deserialize(from)?).map_err(de::Error::custom)
    }
}

impl TryFrom<PathText> for PathSpec {
    type Error = String;

    fn try_from(text: PathText) -> Result<Self, String> {
        let base = match &text.profile {
            None => Self::default(),
            Some(name) => crate::profile(name).ok_or_else(|| unknown_profile(name))?.path.clone(),
        };
        if text.rtt.is_some() && text.delay.is_some() {
            return Err(
                "rtt and delay say the same: rtt is there and back, delay each way; leave one out".into()
            );
        }
        let half = text.rtt.map(|Span(rtt)| (rtt / 2, rtt - rtt / 2));
        let (mut there, mut back) = text.both();
        if let Some((one, other)) = half {
            (there.delay, back.delay) = (Some(Span(one)), Some(Span(other)));
        }
        let there = text.there.over(there).over(base.there);
        let back = text.back.over(back).over(base.back);
        queue_has_a_line(&there, "from client to server")?;
        queue_has_a_line(&back, "from server to client")?;
        mtu_is_possible(&there)?;
        mtu_is_possible(&back)?;
        let path = Self { there, back };
        let round_trip = path.round_trip();
        queue_has_a_round_trip(&path.there, round_trip, "from client to server")?;
        queue_has_a_round_trip(&path.back, round_trip, "from server to client")?;
        Ok(path)
    }
}

/// Who asks for a queue and no rate would measure a path on which nothing ever waits. "unlimited" is a rate: it undoes the
/// line of a profile or of a plan, and its queue with it.
fn queue_has_a_line(direction: &DirectionSpec, which: &str) -> Result<(), String> {
    match (direction.queue, &direction.rate) {
        (Some(queue), None) => Err(format!(
            "queue = \"{queue}\" without a rate: {which} nothing would ever wait in it; a line needs a rate, such as \
             rate = \"1Gbit\", or leave the queue out"
        )),
        _ => Ok(()),
    }
}

/// Less than every host takes (RFC 791 3.2), no interface has.
fn mtu_is_possible(direction: &DirectionSpec) -> Result<(), String> {
    match direction.mtu {
        Some(MtuSpec { size, .. }) if size < MTU_MIN => {
            Err(format!("mtu = {size}: an MTU is at least {MTU_MIN} bytes"))
        }
        _ => Ok(()),
    }
}

/// Who counts a queue in round trips and has none would measure one that holds nothing.
fn queue_has_a_round_trip(
    direction: &DirectionSpec,
    round_trip: Duration,
    which: &str,
) -> Result<(), String> {
    match (direction.queue, &direction.rate) {
        (_, Some(RateSpec::Unlimited)) => Ok(()),
        (Some(queue @ QueueSpec::Bdp(_)), _) if round_trip.is_zero() => Err(format!(
            "queue = \"{queue}\" without a round trip: {which} it would hold nothing; its size needs one, such as \
             rtt = \"30ms\", or give it in bytes, such as queue = \"256KiB\""
        )),
        _ => Ok(()),
    }
}

fn unknown_profile(name: &str) -> String {
    let names: Vec<_> = crate::profiles().iter().map(|profile| profile.name).collect();
    format!("there is no profile \"{name}\"; there are {}", names.join(", "))
}

impl PathText {
    /// What both directions have.
    fn both(&self) -> (DirectionSpec, DirectionSpec) {
        let both = DirectionSpec {
            delay: self.delay,
            jitter: self.jitter,
            rate: self.rate.clone(),
            queue: self.queue,
            loss: self.loss,
            bursts: self.bursts,
            corrupt: self.corrupt,
            duplicate: self.duplicate,
            reorder: self.reorder,
            mtu: self.mtu,
            schedule: self.schedule,
        };
        (both.clone(), both)
    }
}

impl From<PathSpec> for PathText {
    fn from(PathSpec { there, back }: PathSpec) -> Self {
        if there != back {
            return Self { there, back, ..Self::default() };
        }
        Self {
            profile: None,
            rtt: None,
            delay: there.delay,
            jitter: there.jitter,
            rate: there.rate,
            queue: there.queue,
            loss: there.loss,
            bursts: there.bursts,
            corrupt: there.corrupt,
            duplicate: there.duplicate,
            reorder: there.reorder,
            mtu: there.mtu,
            schedule: there.schedule,
            there: DirectionSpec::default(),
            back: DirectionSpec::default(),
        }
    }
}
