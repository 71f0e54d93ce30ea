//! Numbers as people read them: one unit for all the values of an axis or of a column.

use crate::record::unit;

/// Steps of a thousand, largest first.
const DECIMAL: [(f64, &str); 6] = [(1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"), (1.0, ""), (1e-3, "m")];
/// Times.
const TIME: [(f64, &str); 4] = [(1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns")];
/// From so many seconds on, times are shown in minutes.
const MINUTES_FROM: f64 = 300.0;
/// Below this a number in a unit that suits others cannot be read any more.
const LEAST: f64 = 0.001;
/// Digits that count.
const DIGITS: i32 = 3;

/// What numbers of one axis are divided by, and what stands behind them.
#[derive(Debug, Clone, PartialEq)]
pub struct Scale {
    /// One of the shown unit, in the unit of the records.
    pub factor: f64,
    /// The shown unit; empty for plain numbers.
    pub unit: String,
    /// The unit of the records.
    recorded: String,
}

impl Scale {
    /// For values in a unit of the records, of which this is the largest.
    pub fn of(recorded: &str, largest: f64) -> Self {
        let largest = largest.abs();
        let (factor, unit) = match recorded {
            unit::SECONDS if largest >= MINUTES_FROM => (60.0, "min".to_owned()),
            unit::SECONDS => step(&TIME, largest, 0, ""),
            unit::BYTES => step(&DECIMAL[..5], largest, 4, "B"),
            unit::BYTES_PER_SECOND => step(&DECIMAL[..5], largest, 4, "B/s"),
            unit::BYTES_PER_PROCESSOR_SECOND => step(&DECIMAL[..5], largest, 4, "B per CPU second"),
            unit::PART | unit::COUNT => (1.0, String::new()),
            other => {
                let (factor, prefix) = step(&DECIMAL, largest, 4, "");
                let space = if prefix.is_empty() { "" } else { " " };
                (factor, format!("{prefix}{space}{other}"))
            }
        };
        Self { factor, unit, recorded: recorded.to_owned() }
    }

    /// Of numbers that are shown as they are, before a unit that people gave.
    pub fn plain(unit: &str) -> Self {
        Self { factor: 1.0, unit: unit.to_owned(), recorded: unit.to_owned() }
    }

    /// The value without its unit, three digits that count; with its own unit if it is tiny beside the others.
    pub fn number(&self, value: f64) -> String {
        let shown = value / self.factor;
        if !shown.is_finite() {
            return "–".to_owned();
        }
        if shown == 0.0 || (self.unit.is_empty() && shown.fract() == 0.0) {
            return grouped(&format!("{shown:.0}"));
        }
        let own = Self::of(&self.recorded, value);
        if shown.abs() < LEAST && own.factor < self.factor {
            return own.text(value);
        }
        let rounded = format!("{:.*e}", (DIGITS - 1) as usize, shown);
        let magnitude: i32 = rounded.split_once('e').and_then(|(_, power)| power.parse().ok()).unwrap_or(0);
        let decimals = (DIGITS - 1 - magnitude).clamp(0, 9) as usize;
        grouped(&format!("{shown:.decimals$}"))
    }

    /// The value with its unit.
    pub fn text(&self, value: f64) -> String {
        match self.unit.as_str() {
            "" => self.number(value),
            unit => format!("{} {unit}", self.number(value)),
        }
    }

    /// A name with the unit, as it stands at an axis or over a column.
    pub fn named(&self, name: &str) -> String {
        match self.unit.as_str() {
            "" => name.to_owned(),
            unit => format!("{name}, {unit}"),
        }
    }
}

/// A single value with the unit that suits it.
pub fn text(value: f64, recorded: &str) -> String {
    Scale::of(recorded, value).text(value)
}

/// The first step that is not above the largest value; the step `zero` when all are zero.
fn step(steps: &[(f64, &str)], largest: f64, zero: usize, suffix: &str) -> (f64, String) {
    let fits = steps.iter().find(|(factor, _)| largest >= *factor * 0.9995);
    let nothing = largest == 0.0 || !largest.is_finite();
    let (factor, prefix) = if nothing { steps[zero] } else { *fits.unwrap_or(&steps[steps.len() - 1]) };
    (factor, format!("{prefix}{suffix}"))
}

/// Thousands apart, as in 1,234,567.
fn grouped(number: &str) -> String {
    let (sign, rest) = number.strip_prefix('-').map_or(("", number), |rest| ("−", rest));
    let (whole, part) = rest.split_at(rest.find('.').unwrap_or(rest.len()));
    let mut text = String::from(sign);
    for (index, digit) in whole.chars().enumerate() {
        if index > 0 && (whole.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text + part
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_as_people_read_them() {
        for (value, unit, wanted) in [
            (43_300_000.0, unit::BYTES_PER_SECOND, "43.3 MB/s"),
            (0.0, unit::BYTES_PER_SECOND, "0 B/s"),
            (12.0, unit::BYTES_PER_SECOND, "12.0 B/s"),
            (999_999.0, unit::BYTES_PER_SECOND, "1.00 MB/s"),
            (1_170_000_000.0, unit::BYTES_PER_SECOND, "1.17 GB/s"),
            (3_158_016.0, unit::BYTES, "3.16 MB"),
            (212_992.0, unit::BYTES, "213 kB"),
            (0.030_1, unit::SECONDS, "30.1 ms"),
            (0.000_000_45, unit::SECONDS, "450 ns"),
            (12.34, unit::SECONDS, "12.3 s"),
            (900.0, unit::SECONDS, "15.0 min"),
            (0.0, unit::SECONDS, "0 s"),
            (1_234_567.0, unit::COUNT, "1,234,567"),
            (-1500.0, unit::COUNT, "−1,500"),
            (0.4321, unit::PART, "0.432"),
            (15_300.0, unit::OPERATIONS_PER_SECOND, "15.3 k ops/s"),
            (0.5, "of one", "500 m of one"),
            (2.5e8, unit::BYTES_PER_PROCESSOR_SECOND, "250 MB per CPU second"),
            (f64::NAN, unit::SECONDS, "– s"),
        ] {
            assert_eq!(text(value, unit), wanted, "{value} {unit}");
        }
    }

    #[test]
    fn one_unit_serves_all_values_of_an_axis() {
        let scale = Scale::of(unit::BYTES_PER_SECOND, 2.4e9);
        let shown: Vec<String> =
            [0.0, 3.0, 5e5, 117e6, 2.4e9].iter().map(|value| scale.number(*value)).collect();
        assert_eq!(shown, ["0", "3.00 B/s", "500 kB/s", "0.117", "2.40"].map(str::to_owned));
        assert_eq!(scale.named("throughput"), "throughput, GB/s");
        assert_eq!(Scale::of(unit::COUNT, 3.0).named("calls"), "calls");
    }
}
