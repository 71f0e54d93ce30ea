//! Whether memory, descriptors, threads and latencies stayed flat: how much each grew by its slope while nobody started the server anew,
//! and from one of its lives to the next at equal ages; and how much is allowed.

use howdah_lab::measure::Spread;
use howdah_lab::record::{shown, unit};

use super::record::Sample;
use super::trend::growth;

/// So long after a start caches and buffers fill.
const WARM: f64 = 600.0;
/// What was looked at for less time than this says nothing of growth.
const LEAST: f64 = 600.0;

/// Something that must not grow.
pub struct Figure {
    /// What it is, and of whom.
    pub name: &'static str,
    /// In what it is measured.
    pub unit: &'static str,
    /// Its value at a look.
    pub of: fn(&Sample) -> Option<f64>,
    /// Of whom it is.
    whose: Whose,
    /// It may grow by this much, or by this part of its median, if that is more.
    allowed: (f64, f64),
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Whose {
    Server,
    Client,
}

const MB: f64 = 1e6;

/// All of them. A tenth more memory in an hour would be a leak that a day makes serious; a few descriptors are those of copies that
/// come and go. Latencies follow what else the machine does, and may vary by a quarter.
pub const FIGURES: [Figure; 10] = [
    figure("server: memory", unit::BYTES, Whose::Server, (2.0 * MB, 0.1), |s| Some(s.server.memory as f64)),
    figure("server: descriptors", unit::COUNT, Whose::Server, (4.0, 0.1), |s| {
        Some(s.server.descriptors as f64)
    }),
    figure("server: threads", unit::COUNT, Whose::Server, (1.0, 0.02), |s| Some(s.server.threads as f64)),
    figure("server: half of the calls", unit::SECONDS, Whose::Server, (50e-6, 0.25), |s| s.server.p50),
    figure("server: 99 of 100 calls", unit::SECONDS, Whose::Server, (1e-3, 0.25), |s| s.server.p99),
    figure("client: memory", unit::BYTES, Whose::Client, (4.0 * MB, 0.1), |s| {
        Some(s.client.memory as f64 - s.models as f64)
    }),
    figure("client: descriptors", unit::COUNT, Whose::Client, (4.0, 0.1), |s| {
        Some(s.client.descriptors as f64)
    }),
    figure("client: threads", unit::COUNT, Whose::Client, (1.0, 0.02), |s| Some(s.client.threads as f64)),
    figure("client: half of the steps", unit::SECONDS, Whose::Client, (1e-3, 0.25), |s| s.client.p50),
    figure("client: 99 of 100 steps", unit::SECONDS, Whose::Client, (1e-2, 0.25), |s| s.client.p99),
];

const fn figure(
    name: &'static str,
    unit: &'static str,
    whose: Whose,
    allowed: (f64, f64),
    of: fn(&Sample) -> Option<f64>,
) -> Figure {
    Figure { name, unit, of, whose, allowed }
}

/// What is judged of a figure.
pub struct Judged {
    /// Which figure.
    pub name: &'static str,
    /// Where it was looked at.
    pub over: String,
    /// Its median there, and its range.
    pub spread: Spread,
    /// By how much it grew.
    pub growth: f64,
    /// How much it may.
    pub allowed: f64,
    /// Of these.
    pub unit: &'static str,
}

impl Judged {
    /// Whether it may be called flat.
    pub fn is_flat(&self) -> bool {
        self.growth <= self.allowed
    }

    /// As the cells of a table.
    pub fn cells(&self) -> [String; 6] {
        let text = |value: f64| shown(value, self.unit);
        [
            self.name.to_owned(),
            self.over.clone(),
            format!("{} ({} to {})", text(self.spread.median), text(self.spread.min), text(self.spread.max)),
            text(self.growth),
            text(self.allowed),
            if self.is_flat() { "flat" } else { "GROWS" }.to_owned(),
        ]
    }
}

/// What the cells are.
pub const HEAD: [&str; 6] = ["figure", "looked at", "median (range)", "growth", "allowed", ""];

/// All that can be judged of a run; nothing of a short one.
pub fn judge(samples: &[Sample]) -> Vec<Judged> {
    let steady = FIGURES.iter().filter_map(|figure| steady(figure, samples));
    let lives = FIGURES.iter().filter(|figure| figure.whose == Whose::Server && figure.unit != unit::SECONDS);
    steady.chain(lives.filter_map(|figure| at_equal_ages(figure, samples))).collect()
}

/// Over the last life of the server, but for its beginning. The clients live on through all of them; but at each restart their process
/// reads every file, to compare, and what that leaves in its memory is not the clients'.
fn steady(figure: &Figure, samples: &[Sample]) -> Option<Judged> {
    let last = samples.last()?.life;
    let meant = samples.iter().filter(|sample| sample.life == last && sample.age >= WARM);
    let points: Vec<(f64, f64)> =
        meant.filter_map(|sample| Some((sample.at, (figure.of)(sample)?))).collect();
    let time = points.last()?.0 - points.first()?.0;
    let over = format!("the last {:.0} min", time / 60.0);
    (time >= LEAST).then(|| judged(figure, over, &points))?
}

/// From each life of the server to the next, in the second half of their time; the first one finds nothing that another left.
fn at_equal_ages(figure: &Figure, samples: &[Sample]) -> Option<Judged> {
    let last = samples.last()?.life;
    let length =
        samples.iter().filter(|sample| sample.life == 2).map(|sample| sample.age).fold(0.0, f64::max);
    let medians: Vec<(f64, f64)> = (2..=last)
        .filter_map(|life| {
            let meant = samples.iter().filter(|sample| sample.life == life);
            let meant = meant.filter(|sample| (length / 2.0..=length).contains(&sample.age));
            Some((f64::from(life), Spread::of(meant.filter_map(figure.of))?.median))
        })
        .collect();
    let over = format!("{} lives, each {:.1} to {:.1} min old", medians.len(), length / 120.0, length / 60.0);
    (medians.len() > 3 && length >= LEAST / 4.0).then(|| judged(figure, over, &medians))?
}

fn judged(figure: &Figure, over: String, points: &[(f64, f64)]) -> Option<Judged> {
    let spread = Spread::of(points.iter().map(|(_, value)| *value))?;
    let (least, part) = figure.allowed;
    Some(Judged {
        name: figure.name,
        over,
        spread,
        growth: growth(points)?,
        allowed: least.max(part * spread.median),
        unit: figure.unit,
    })
}

#[cfg(test)]
mod tests {
    use super::super::record::Process;
    use super::*;

    /// Two hours, of which the first has restarts; a leak each second, and one of each restart.
    fn run(leak: f64, left: f64) -> Vec<Sample> {
        let sample = |at: u32| {
            let (at, life) = (f64::from(at) * 10.0, (at / 30 + 1).min(13));
            let age = at - f64::from(life - 1) * 300.0;
            let memory = 20e6 + leak * age + left * f64::from(life) + (at * 0.3).sin() * 4e5;
            let server =
                Process { memory: memory as u64, descriptors: 60, p50: Some(1e-4), ..Process::default() };
            let client = Process { memory: 50_000_000 + at as u64 * 1000, ..Process::default() };
            Sample { at, life, age, server, client, models: at as u64 * 1000, ..Sample::default() }
        };
        (0..720).map(sample).collect()
    }

    fn that_grow(samples: &[Sample]) -> Vec<&'static str> {
        judge(samples).iter().filter(|judged| !judged.is_flat()).map(|judged| judged.name).collect()
    }

    #[test]
    fn a_leak_is_seen_whether_restarts_take_it_back_or_not() {
        assert_eq!(that_grow(&run(0.0, 0.0)), [""; 0]);
        assert_eq!(judge(&run(0.0, 0.0)).len(), 10, "seven while it lives on, three from life to life");
        assert_eq!(that_grow(&run(2000.0, 0.0)), ["server: memory"]);
        assert_eq!(that_grow(&run(0.0, 400_000.0)), ["server: memory"]);
    }

    #[test]
    fn of_a_short_run_nothing_is_said() {
        assert!(judge(&run(0.0, 0.0)[..30]).is_empty());
        assert!(judge(&[]).is_empty());
    }
}
