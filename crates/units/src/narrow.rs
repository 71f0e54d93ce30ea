//! Figures in few letters, for the columns of a table: no space before the unit.

/// A time in six characters.
pub fn narrow_time(seconds: f64) -> String {
    match seconds {
        seconds if seconds < 1e-5 => format!("{:.1}µs", seconds * 1e6),
        seconds if seconds < 1e-3 => format!("{:.0}µs", seconds * 1e6),
        seconds if seconds < 1e-2 => format!("{:.1}ms", seconds * 1e3),
        seconds if seconds < 1.0 => format!("{:.0}ms", seconds * 1e3),
        seconds if seconds < 120.0 => format!("{seconds:.1}s"),
        seconds if seconds < 7200.0 => format!("{:.0}min", seconds / 60.0),
        seconds if seconds < 172_800.0 => format!("{:.1}h", seconds / 3600.0),
        seconds => format!("{:.1}d", seconds / 86_400.0),
    }
}

/// Bytes, or bytes per second, in five characters.
pub fn narrow_bytes(count: f64) -> String {
    narrow(count, &["B", "kB", "MB", "GB", "TB", "PB"])
}

/// A number in five characters.
pub fn narrow_count(number: f64) -> String {
    match number {
        number if number > 0.0 && number < 9.95 => format!("{number:.1}"),
        number => narrow(number, &["", "k", "M", "G", "T", "P"]),
    }
}

/// With a digit behind the point where there is but one before it, and a unit is.
fn narrow(number: f64, units: &[&str]) -> String {
    const STEP: f64 = 1000.0;
    let (mut number, mut unit) = (number, 0);
    while number.round() >= STEP && unit + 1 < units.len() {
        number /= STEP;
        unit += 1;
    }
    match units[unit] {
        name if unit > 0 && number < 9.95 => format!("{number:.1}{name}"),
        name => format!("{number:.0}{name}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_short_whatever_they_are() {
        let bytes = [0.0, 999.4, 999.6, 1500.0, 9949.0, 9951.0, 999_499.0, 999_501.0, 1e9, 2.5e14];
        let shown = bytes.map(narrow_bytes);
        assert_eq!(
            shown,
            ["0B", "999B", "1.0kB", "1.5kB", "9.9kB", "10kB", "999kB", "1.0MB", "1.0GB", "250TB"]
        );
        assert_eq!(
            [0.0, 0.4, 9.96, 12.4, 1234.0, 5e6].map(narrow_count),
            ["0", "0.4", "10", "12", "1.2k", "5.0M"]
        );
        let mut number = 0.01;
        while number < 1e17 {
            assert!(narrow_bytes(number).len() <= 5 && narrow_count(number).len() <= 5, "{number}");
            number *= 1.01;
        }
    }
}
