//! Paths by name, each with the source of its figures.

use std::sync::LazyLock;
use std::time::Duration;

use crate::quantity::{Bitrate, Probability, Span};
use crate::{BurstsSpec, DirectionSpec, JitterSpec, PathSpec, QueueSpec, RateSpec};

/// A path that has a name.
#[derive(Debug, Clone)]
pub struct Profile {
    /// How it is asked for.
    pub name: &'static str,
    /// What it is, in a line.
    pub what: &'static str,
    /// Where its figures come from.
    pub source: &'static str,
    /// The path.
    pub path: PathSpec,
}

/// All profiles.
pub fn profiles() -> &'static [Profile] {
    static PROFILES: LazyLock<Vec<Profile>> = LazyLock::new(all);
    &PROFILES
}

/// The profile of that name.
pub fn profile(name: &str) -> Option<&'static Profile> {
    profiles().iter().find(|profile| profile.name == name)
}

fn all() -> Vec<Profile> {
    let lans = [lan_100m(), lan_1g(), lan_10g()];
    let paths = [wan_30ms(), transatlantic(), satellite_geo(), earth_moon(), lossy_wifi(), dsl()];
    lans.into_iter().chain(paths).collect()
}

const MEGABIT: u64 = 1_000_000;
const GIGABIT: u64 = 1_000 * MEGABIT;
/// Light in fibre travels 2/3 as fast as in vacuum: 5 us for each kilometre.
const FIBRE_MICROSECONDS_PER_KILOMETRE: u64 = 5;
/// Metres that light travels in a second, in vacuum (exact by definition of the metre).
const LIGHT: f64 = 299_792_458.0;

fn micros(count: u64) -> Duration {
    Duration::from_micros(count)
}

/// One direction of a line.
fn line(bits_per_second: u64, delay: Duration) -> DirectionSpec {
    let rate = Some(RateSpec::Fixed(Bitrate(bits_per_second)));
    DirectionSpec { rate, delay: Some(Span(delay)), ..DirectionSpec::default() }
}

fn percent(percent: f64) -> Option<Probability> {
    Probability::percent(percent)
}

fn lan_100m() -> Profile {
    Profile {
        name: "lan-100m",
        what: "Fast Ethernet through a switch: 100 Mb/s, 0.1 ms each way, 128 KB of buffer",
        source: "IEEE 802.3u (1995), the rate. A switch that stores and forwards takes 123 us for a full frame once \
                 more, of which about 100 us is taken here for frames of all sizes; buffers of such switches were 64 to \
                 512 KB, shared. The network of the measurements of 2003.",
        path: PathSpec::symmetric(DirectionSpec {
            queue: Some(QueueSpec::Bytes(crate::quantity::ByteCount(128 << 10))),
            ..line(100 * MEGABIT, micros(100))
        }),
    }
}

fn lan_1g() -> Profile {
    Profile {
        name: "lan-1g",
        what: "Gigabit Ethernet through a switch: 1 Gb/s, 50 us each way, 10 ms of line time as buffer",
        source: "IEEE 802.3ab (1999), the rate; 12 us to store and forward a full frame, and what interrupts and \
                 cables take: round trips of about 0.1 ms are what pings show on such networks.",
        path: PathSpec::symmetric(line(GIGABIT, micros(50))),
    }
}

fn lan_10g() -> Profile {
    Profile {
        name: "lan-10g",
        what: "10 Gigabit Ethernet in a machine room: 10 Gb/s, 20 us each way, 10 ms of line time as buffer",
        source: "IEEE 802.3ae (2002), the rate; a cut-through switch takes about a microsecond, hosts the rest. The \
                 network of the measurements of 2010.",
        path: PathSpec::symmetric(line(10 * GIGABIT, micros(20))),
    }
}

fn wan_30ms() -> Profile {
    Profile {
        name: "wan-30ms",
        what: "A wide-area path of 2008: 1 Gb/s, 30 ms there and back, a queue of one bandwidth-delay product",
        source: "The measurements on the linux-nfs mailing list in 2008 about receive buffers of the NFS server: \
                 1 Gb/s, 30 ms round trip (emulated).",
        path: PathSpec::symmetric(line(GIGABIT, Duration::from_millis(15))),
    }
}

fn transatlantic() -> Profile {
    Profile {
        name: "transatlantic",
        what: "Across the Atlantic: 10 Gb/s, 120 ms there and back, a queue of one bandwidth-delay product (150 MB)",
        source: "Named in the discussion of 2008 as 10 Gb/s x 120 ms. By distance: 12,000 km of fibre each way (a \
                 continental part at both ends and 6,000 km of sea) at 5 us/km.",
        path: PathSpec::symmetric(line(10 * GIGABIT, micros(12_000 * FIBRE_MICROSECONDS_PER_KILOMETRE))),
    }
}

fn satellite_geo() -> Profile {
    // Up and down again, from and to places where the satellite stands at some 40 degrees.
    let delay = Duration::from_secs_f64(2.0 * 37_800_000.0 / LIGHT);
    let direction = |rate| DirectionSpec { loss: percent(0.001), ..line(rate, delay) };
    Profile {
        name: "satellite-geo",
        what: "A geostationary satellite: 50 Mb/s down, 5 Mb/s up, 504 ms there and back, a few frames lost",
        source: "The orbit is 35,786 km high; seen at 40 degrees the satellite is about 37,800 km away, twice each \
                 way at the speed of light: 252 ms (RFC 2488 2 reckons 239.6 ms from right below to 279 ms). Error \
                 rates of 10^-7 bits or better after correction (RFC 2488 2) are 10^-3 of frames at worst: 10^-5 here. \
                 Rates are those of usual subscriptions. The client is who has the dish.",
        path: PathSpec { there: direction(5 * MEGABIT), back: direction(50 * MEGABIT) },
    }
}

fn earth_moon() -> Profile {
    // The mean distance of the centres, less the radii of both.
    let delay = Duration::from_secs_f64((384_400_000.0 - 6_371_000.0 - 1_737_400.0) / LIGHT);
    Profile {
        name: "earth-moon",
        what: "From the Earth to the Moon: 622 Mb/s to Earth, 20 Mb/s to the Moon, 2.51 s there and back",
        source: "A mean distance of 384,400 km between the centres, 376,292 km between the surfaces: 1.255 s at the \
                 speed of light. Rates of the Lunar Laser Communication Demonstration of 2013: 622 Mb/s down to Earth, \
                 20 Mb/s up. The client is on Earth. Named in the discussion of 2008 as the far end of its profiles.",
        path: PathSpec { there: line(20 * MEGABIT, delay), back: line(622 * MEGABIT, delay) },
    }
}

fn lossy_wifi() -> Profile {
    let direction = DirectionSpec {
        jitter: Some(JitterSpec { most: Duration::from_millis(4), overtaking: false }),
        bursts: percent(0.5).map(|loss| BurstsSpec { loss, length: 3.0 }),
        ..line(60 * MEGABIT, Duration::from_millis(1))
    };
    Profile {
        name: "lossy-wifi",
        what: "A weak wireless network: 60 Mb/s, 2 to 10 ms there and back, 0.5 % lost in bursts of 3",
        source: "IEEE 802.11n (2009) with two streams in 20 MHz signals 130 Mb/s at most, of which about half is left \
                 after contention and acknowledgements; the losses that its repetitions leave come in bursts \
                 (Gilbert 1960 and Elliott 1963 model them), and repetitions delay by milliseconds. The part lost is \
                 chosen to be felt, not measured.",
        path: PathSpec::symmetric(direction),
    }
}

fn dsl() -> Profile {
    let delay = Duration::from_millis(10);
    Profile {
        name: "dsl",
        what: "A subscriber's line: 16 Mb/s down, 1 Mb/s up, 20 ms there and back",
        source: "ITU-T G.992.5 (ADSL2+): up to 24 Mb/s down and 1.4 Mb/s up, of which 16 and 1 were usual subscriptions; \
                 the interleaving that its error correction needs delays by milliseconds each way, the way to the exchange \
                 adds the rest: 20 to 40 ms is what pings show. The client is who subscribed.",
        path: PathSpec { there: line(MEGABIT, delay), back: line(16 * MEGABIT, delay) },
    }
}
