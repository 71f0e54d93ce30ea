//! Axes: from where to where, which ticks, and what is written at them.

use super::super::units::Scale;

/// How many steps an axis has at about most.
const STEPS: f64 = 5.0;
/// A logarithmic axis that is so many times as high as its foot has a unit at each tick.
const OWN_UNITS_FROM: f64 = 2000.0;
/// So much of the range stays free above the highest value.
const HEADROOM: f64 = 1.04;

/// One axis.
#[derive(Debug, Clone)]
pub struct Axis {
    /// What it measures, with the unit.
    pub name: String,
    /// The unit of its ticks.
    pub scale: Scale,
    /// Its first value.
    pub from: f64,
    /// Its last value.
    pub to: f64,
    /// How values are spread over it.
    pub kind: Kind,
}

/// How values are spread over an axis.
#[derive(Debug, Clone, PartialEq)]
pub enum Kind {
    /// Evenly, with a tick every so much.
    Linear(f64),
    /// Each decade as wide as the next; with the unit of the records if each tick is to have its own prefix.
    Logarithmic(Option<String>),
    /// The parts of all that took at most so long; each nine as wide as the one before. A position is 1 / (1 - part).
    Percentiles,
    /// At these positions there are labels, and nowhere else.
    Levels(Vec<(f64, String)>),
}

impl Axis {
    /// From zero to somewhat above the largest value.
    pub fn from_zero(name: &str, unit: &str, largest: f64) -> Self {
        let largest = if largest > 0.0 && largest.is_finite() { largest } else { 1.0 };
        let scale = Scale::of(unit, largest);
        let shown = largest * HEADROOM / scale.factor;
        let step = if unit == crate::record::unit::COUNT {
            nice(shown / STEPS).max(1.0)
        } else {
            nice(shown / STEPS)
        };
        let to = (shown / step).ceil() * step * scale.factor;
        Self { name: scale.named(name), from: 0.0, to, kind: Kind::Linear(step * scale.factor), scale }
    }

    /// Time, or another measure that ends where the data ends.
    pub fn up_to(name: &str, unit: &str, largest: f64) -> Self {
        let largest = if largest > 0.0 && largest.is_finite() { largest } else { 1.0 };
        let scale = Scale::of(unit, largest);
        let step = nice(largest / scale.factor / STEPS) * scale.factor;
        Self { name: scale.named(name), from: 0.0, to: largest, kind: Kind::Linear(step), scale }
    }

    /// Logarithmic around these values, which are above zero. Over many decades each tick has its own unit.
    pub fn logarithmic(name: &str, unit: &str, least: f64, largest: f64) -> Self {
        let scale = Scale::of(unit, largest);
        let (from, to) = (floor_of_decade(least / HEADROOM), ceiling_of_decade(largest * HEADROOM));
        let to = if to <= from { from * 10.0 } else { to };
        let own = to / from > OWN_UNITS_FROM;
        let name = if own { name.to_owned() } else { scale.named(name) };
        let kind = Kind::Logarithmic(own.then(|| unit.to_owned()));
        Self { name: format!("{name} (logarithmic)"), from, to, kind, scale }
    }

    /// Labels at positions.
    pub fn levels(name: &str, levels: Vec<(f64, String)>) -> Self {
        let positions = || levels.iter().map(|(at, _)| *at);
        let (first, last) =
            (positions().fold(f64::INFINITY, f64::min), positions().fold(f64::NEG_INFINITY, f64::max));
        let in_order = levels.iter().enumerate().all(|(index, (at, _))| *at == index as f64);
        let room = if in_order { 0.5 } else { (last - first) * 0.06 };
        let (from, to) = if levels.is_empty() { (0.0, 1.0) } else { (first - room, last + room) };
        let scale = Scale::plain("");
        Self { name: name.to_owned(), scale, from, to, kind: Kind::Levels(levels) }
    }

    /// What is written at a tick.
    pub fn label(&self, value: f64) -> String {
        match &self.kind {
            Kind::Linear(step) => self.linear_label(value, *step),
            Kind::Logarithmic(Some(unit)) => {
                let scale = Scale::of(unit, value);
                format!("{} {}", trimmed(&format!("{:.3}", value / scale.factor)), scale.unit)
            }
            Kind::Logarithmic(None) => trimmed(&format!("{:.9}", value / self.scale.factor)),
            Kind::Percentiles => format!("{} %", trimmed(&format!("{:.6}", (1.0 - 1.0 / value) * 100.0))),
            Kind::Levels(_) => String::new(),
        }
    }

    /// As many decimals as the step needs.
    fn linear_label(&self, value: f64, step: f64) -> String {
        let step = step / self.scale.factor;
        let decimals = if step >= 1.0 { 0 } else { (-step.log10()).ceil() as usize };
        let decimals =
            if (step * 10f64.powi(decimals as i32)).fract() > 1e-6 { decimals + 1 } else { decimals };
        let shown = value / self.scale.factor;
        if shown.abs() < step * 1e-6 { "0".to_owned() } else { format!("{shown:.decimals$}") }
    }

    /// The longest label, in characters.
    pub fn widest_label(&self) -> String {
        let labels: Vec<String> = match &self.kind {
            Kind::Linear(step) => {
                let step = *step;
                let count = ((self.to - self.from) / step).round() as u32;
                (0..=count).map(|index| self.label(self.from + f64::from(index) * step)).collect()
            }
            Kind::Logarithmic(_) => decades(self.from, self.to).map(|value| self.label(value)).collect(),
            Kind::Percentiles | Kind::Levels(_) => Vec::new(),
        };
        labels.into_iter().max_by_key(|label| label.chars().count()).unwrap_or_default()
    }
}

/// A step of 1, 2, 2.5 or 5 times a power of ten, at least so large.
fn nice(least: f64) -> f64 {
    let decade = 10f64.powf(least.log10().floor());
    let fits = |step: &&f64| **step * decade >= least * (1.0 - 1e-9);
    [1.0, 2.0, 2.5, 5.0].iter().find(fits).map_or(10.0 * decade, |step| step * decade)
}

/// The next of 1, 2 or 5 times a power of ten below.
fn floor_of_decade(value: f64) -> f64 {
    let decade = 10f64.powf(value.log10().floor());
    [5.0, 2.0].iter().map(|step| step * decade).find(|step| *step <= value).unwrap_or(decade)
}

/// The next of 1, 2 or 5 times a power of ten above.
fn ceiling_of_decade(value: f64) -> f64 {
    let decade = 10f64.powf(value.log10().floor());
    [1.0, 2.0, 5.0].iter().map(|step| step * decade).find(|step| *step >= value).unwrap_or(10.0 * decade)
}

/// Powers of ten, and what 2 and 5 times of them lie within.
fn decades(from: f64, to: f64) -> impl Iterator<Item = f64> {
    let exponents = from.log10().floor() as i32..=to.log10().ceil() as i32;
    let ticks = exponents.flat_map(|exponent| [1.0, 2.0, 5.0].map(|step| step * 10f64.powi(exponent)));
    ticks.filter(move |tick| *tick >= from * (1.0 - 1e-9) && *tick <= to * (1.0 + 1e-9))
}

/// Without zeros at its end.
fn trimmed(number: &str) -> String {
    if !number.contains('.') {
        return number.to_owned();
    }
    number.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::unit;

    #[test]
    fn linear_axes_end_at_a_tick_above_the_largest() {
        for (largest, unit, name, to, label) in [
            (117e6, unit::BYTES_PER_SECOND, "x, MB/s", 125e6, "125"),
            (0.0, unit::BYTES_PER_SECOND, "x, B/s", 1.25, "1.25"),
            (3.2e9, unit::BYTES_PER_SECOND, "x, GB/s", 4e9, "4"),
            (12.0, unit::BYTES_PER_SECOND, "x, B/s", 12.5, "12.5"),
            (0.0301, unit::SECONDS, "x, ms", 0.04, "40"),
            (3.0, unit::COUNT, "x", 4.0, "4"),
            (6_291_456.0, unit::BYTES, "x, MB", 8e6, "8"),
            (f64::NAN, unit::SECONDS, "x, s", 1.25, "1.25"),
        ] {
            let axis = Axis::from_zero("x", unit, largest);
            assert_eq!(axis.name, name, "{largest}");
            assert!((axis.to / to - 1.0).abs() < 1e-9, "{largest}: {}", axis.to);
            assert_eq!(axis.label(axis.to), label, "{largest}");
        }
    }

    #[test]
    fn logarithmic_axes_hold_their_values_and_have_a_length() {
        for (least, largest, from, to) in
            [(0.03, 0.2, 0.02, 0.5), (0.1, 0.1, 0.05, 0.2), (3e-6, 2.5, 2e-6, 5.0)]
        {
            let axis = Axis::logarithmic("latency", unit::SECONDS, least, largest);
            assert!((axis.from / from - 1.0).abs() < 1e-9 && (axis.to / to - 1.0).abs() < 1e-9, "{axis:?}");
        }
    }

    #[test]
    fn percentiles_are_labelled_as_parts_of_all() {
        let axis = Axis { kind: Kind::Percentiles, ..Axis::logarithmic("", unit::COUNT, 1.0, 10_000.0) };
        let labels = [1.0, 2.0, 10.0, 20.0, 1000.0, 10_000.0].map(|at| axis.label(at));
        assert_eq!(labels, ["0 %", "50 %", "90 %", "95 %", "99.9 %", "99.99 %"].map(str::to_owned));
    }
}
