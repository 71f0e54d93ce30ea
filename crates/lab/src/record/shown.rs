//! A figure as people read it.

use super::unit;

/// A value in one of the units of [`mod@unit`], as people read it: MB/s, ms, MB.
pub fn shown(value: f64, of: &str) -> String {
    match of {
        unit::BYTES_PER_SECOND => format!("{} MB/s", digits(value / 1e6)),
        unit::BYTES_PER_PROCESSOR_SECOND => format!("{} MB per CPU second", digits(value / 1e6)),
        unit::BYTES => format!("{} MB", digits(value / 1e6)),
        unit::SECONDS if value.abs() < 1.0 => format!("{} ms", digits(value * 1e3)),
        unit::SECONDS => format!("{} s", digits(value)),
        unit::COUNT => digits(value),
        unit::PART => format!("{value:.3}"),
        other => format!("{} {other}", digits(value)),
    }
}

/// Three digits, or all before the point.
fn digits(value: f64) -> String {
    match value.abs() {
        large if large >= 100.0 => format!("{value:.0}"),
        medium if medium >= 10.0 => format!("{value:.1}"),
        small if small >= 1.0 || small == 0.0 => trimmed(format!("{value:.2}")),
        tiny if tiny >= 0.001 => format!("{value:.3}"),
        _ => format!("{value:.1e}"),
    }
}

fn trimmed(text: String) -> String {
    text.strip_suffix(".00").map(str::to_owned).unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_digits_are_enough() {
        for (value, of, wanted) in [
            (43_300_000.0, unit::BYTES_PER_SECOND, "43.3 MB/s"),
            (1.17e9, unit::BYTES_PER_SECOND, "1170 MB/s"),
            (0.0301, unit::SECONDS, "30.1 ms"),
            (4.8, unit::SECONDS, "4.80 s"),
            (0.0, unit::COUNT, "0"),
            (304.0, unit::COUNT, "304"),
            (0.98765, unit::PART, "0.988"),
            (0.5, unit::OPERATIONS_PER_SECOND, "0.500 ops/s"),
        ] {
            assert_eq!(shown(value, of), wanted);
        }
    }
}
