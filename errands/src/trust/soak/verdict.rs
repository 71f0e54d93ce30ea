//! Whether memory, descriptors, threads and latencies stayed flat: how much each grew by its slope while nobody started the server anew,
//! and from one of its lives to the next at equal ages; and how much is allowed.

use howdah_lab::record::{shown, unit};
use howdah_workload::measure::Spread;

use super::record::Sample;
use super::trend::growth;

/// A run of so many minutes is long enough for [`How::LivingOn`], and one of so many for [`How::LifeToLife`].
const MINUTES: [u32; 2] = [45, 70];
/// So long after a start caches and buffers fill.
const WARM: f64 = 600.0;
/// What was looked at for less time than this says nothing of growth.
const LEAST: f64 = 600.0;

/// Something that must not grow.
pub struct Figure {
    /// What it is, and whose.
    pub name: &'static str,
    /// What is said of its axis, where it is drawn.
    pub axis: &'static str,
    /// In what it is measured.
    pub unit: &'static str,
    /// Its value at a look.
    pub of: Value,
    /// Whose it is.
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

/// What is said of an axis, and its unit.
type Axis = (&'static str, &'static str);

const MEMORY: Axis = ("Anonymous memory, the client's less its models", unit::BYTES);
const OPEN: Axis = ("Descriptors", unit::COUNT);
const THREADS: Axis = ("Threads", unit::COUNT);
const HALF_OF_CALLS: Axis = ("Half of the calls take less", unit::SECONDS);
const MOST_CALLS: Axis = ("99 of 100 calls take less", unit::SECONDS);
const HALF_OF_STEPS: Axis = ("Half of the steps take less", unit::SECONDS);
const MOST_STEPS: Axis = ("99 of 100 steps take less", unit::SECONDS);

/// All of them. A tenth more memory in an hour would be a leak that a day makes serious; a few descriptors are those of copies that
/// come and go. Latencies follow what else the machine does, and may vary by a quarter.
pub const FIGURES: [Figure; 10] = [
    figure(Whose::Server, "server: memory", MEMORY, (2.0 * MB, 0.1), |s| Some(s.server.anonymous as f64)),
    figure(Whose::Server, "server: descriptors", OPEN, (4.0, 0.1), |s| Some(s.server.descriptors as f64)),
    figure(Whose::Server, "server: threads", THREADS, (1.0, 0.02), |s| Some(s.server.threads as f64)),
    figure(Whose::Server, "server: half of the calls", HALF_OF_CALLS, (50e-6, 0.25), |s| s.server.p50),
    figure(Whose::Server, "server: 99 of 100 calls", MOST_CALLS, (1e-3, 0.25), |s| s.server.p99),
    figure(Whose::Client, "client: memory", MEMORY, (4.0 * MB, 0.1), |s| {
        Some(s.client.anonymous as f64 - s.models as f64)
    }),
    figure(Whose::Client, "client: descriptors", OPEN, (4.0, 0.1), |s| Some(s.client.descriptors as f64)),
    figure(Whose::Client, "client: threads", THREADS, (1.0, 0.02), |s| Some(s.client.threads as f64)),
    figure(Whose::Client, "client: half of the steps", HALF_OF_STEPS, (1e-3, 0.25), |s| s.client.p50),
    figure(Whose::Client, "client: 99 of 100 steps", MOST_STEPS, (1e-2, 0.25), |s| s.client.p99),
];

type Value = fn(&Sample) -> Option<f64>;

const fn figure(
    whose: Whose,
    name: &'static str,
    (axis, unit): Axis,
    allowed: (f64, f64),
    of: Value,
) -> Figure {
    Figure { name, axis, unit, of, whose, allowed }
}

/// Over what time it is looked whether something grows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum How {
    /// While the last life of the server goes on.
    LivingOn,
    /// From each of its lives to the next.
    LifeToLife,
}

/// What is judged of a figure.
pub struct Judged {
    /// Which figure.
    pub name: &'static str,
    /// Over what time.
    pub how: How,
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

/// What a run was too short for, and how long one takes that is not; nothing: all of it was judged.
pub fn unjudged(judged: &[Judged]) -> Option<String> {
    let is_there = |how| judged.iter().any(|judged| judged.how == how);
    let [living, lives] = MINUTES;
    match (is_there(How::LivingOn), is_there(How::LifeToLife)) {
        (true, true) => None,
        (true, false) => {
            Some(format!("too short to say what grows from life to life: that takes {lives} minutes"))
        }
        (false, _) => Some(format!(
            "too short to say what grows: that takes {living} minutes, and {lives} from life to life"
        )),
    }
}

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
    (time >= LEAST).then(|| judged(figure, How::LivingOn, over, &points))?
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
    (medians.len() > 3 && length >= LEAST / 4.0).then(|| judged(figure, How::LifeToLife, over, &medians))?
}

fn judged(figure: &Figure, how: How, over: String, points: &[(f64, f64)]) -> Option<Judged> {
    let spread = Spread::of(points.iter().map(|(_, value)| *value))?;
    let (least, part) = figure.allowed;
    Some(Judged {
        name: figure.name,
        how,
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
    use super::super::schedule::Schedule;
    use super::*;

    /// Two hours, of which the first has restarts; a leak each second, and one of each restart.
    fn run(leak: f64, left: f64) -> Vec<Sample> {
        let sample = |at: u32| {
            let (at, life) = (f64::from(at) * 10.0, (at / 30 + 1).min(13));
            let age = at - f64::from(life - 1) * 300.0;
            let memory = 20e6 + leak * age + left * f64::from(life) + (at * 0.3).sin() * 4e5;
            let server =
                Process { anonymous: memory as u64, descriptors: 60, p50: Some(1e-4), ..Process::default() };
            let client = Process { anonymous: 50_000_000 + at as u64 * 1000, ..Process::default() };
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

    /// As a run of so many minutes is looked at, whose server takes some seconds to be there again.
    fn seen_in(minutes: u32) -> Vec<Sample> {
        let schedule = Schedule::of(Some(minutes.into()), false);
        let born = |life: u32| match life {
            1 => 0.0,
            life => schedule.restart(life - 1).map_or(f64::MAX, |(at, _)| at.as_secs_f64() + 5.0),
        };
        let looks = (1..).map(|look| (schedule.look * look).as_secs_f64());
        let sample = |at: f64| {
            let life = (1..).take_while(|&life| born(life) <= at).count() as u32;
            Sample { at, life, age: at - born(life), ..Sample::default() }
        };
        looks.take_while(|at| *at <= schedule.total.as_secs_f64()).map(sample).collect()
    }

    #[test]
    fn a_run_that_is_too_short_for_something_says_so() {
        let unjudged_after = |minutes| unjudged(&judge(&seen_in(minutes)));
        let [living, lives] = MINUTES;
        assert!(
            unjudged_after(living - 5)
                .is_some_and(|reason| reason.contains("what grows: that takes 45 minutes"))
        );
        assert!(
            unjudged_after(living)
                .is_some_and(|reason| reason.contains("life to life: that takes 70 minutes"))
        );
        assert!(unjudged_after(lives - 10).is_some());
        assert_eq!(unjudged_after(lives), None);
    }
}
