//! Figures in sentences: a number, a space and a unit.

use std::time::Duration;

/// Steps of a thousand, smallest first.
const STEPS: [&str; 7] = ["", "k", "M", "G", "T", "P", "E"];

/// Bytes in the unit that leaves one to three digits before the point: `4.2 MB`, `312 B`.
pub fn bytes(count: f64) -> String {
    scaled(count, "B")
}

/// The same of a whole number.
pub fn size(count: u64) -> String {
    bytes(count as f64)
}

/// Bytes per second. From 1 MB/s on always in MB/s, so that rates compare at a glance: `43.3 MB/s`, `1170 MB/s`, `312 B/s`.
pub fn rate(bytes_per_second: f64) -> String {
    match bytes_per_second / 1e6 {
        megabytes if megabytes >= 999.95 => format!("{megabytes:.0} MB/s"),
        _ => format!("{}/s", bytes(bytes_per_second)),
    }
}

/// Bits per second, as links are sold: `1.0 Gb/s`.
pub fn bits_rate(bits_per_second: f64) -> String {
    scaled(bits_per_second, "b/s")
}

/// A size that is or may be a power of two, exact: `1 MiB`, `64 KiB`, `1500 B`.
pub fn power_of_two(bytes: u64) -> String {
    let units = [("GiB", 30), ("MiB", 20), ("KiB", 10)];
    let fits = units.iter().find(|(_, bits)| bytes > 0 && bytes.is_multiple_of(1 << bits));
    fits.map_or_else(|| format!("{bytes} B"), |(unit, bits)| format!("{} {unit}", bytes >> bits))
}

/// A time in µs, ms or s: `20 µs`, `30.1 ms`, `100 ms`, `4.8 s`.
pub fn time(time: Duration) -> String {
    seconds(time.as_secs_f64())
}

/// The same of a time in seconds.
pub fn seconds(seconds: f64) -> String {
    let (value, unit) = match seconds {
        seconds if seconds < 0.999_5e-3 => (seconds * 1e6, "µs"),
        seconds if seconds < 0.999_5 => (seconds * 1e3, "ms"),
        seconds => (seconds, "s"),
    };
    let digits = if value >= 99.95 { format!("{value:.0}") } else { format!("{value:.1}") };
    format!("{} {unit}", digits.strip_suffix(".0").unwrap_or(&digits))
}

/// Minutes and seconds, and hours if need be: `1:01`, `10:01:01`.
pub fn clock(seconds: f64) -> String {
    let seconds = seconds.min(1e9).round() as u64;
    match seconds {
        0..3600 => format!("{}:{:02}", seconds / 60, seconds % 60),
        _ => format!("{}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60),
    }
}

/// A share of a whole, 0 to 1: `93 %`, `1.2 %`, `0.004 %`.
pub fn percent(share: f64) -> String {
    match share * 100.0 {
        percent if percent >= 9.95 => format!("{percent:.0} %"),
        percent if percent >= 0.095 || percent == 0.0 => format!("{percent:.1} %"),
        percent => format!("{percent:.3} %"),
    }
}

/// A number of things, with the word for one or for several of them: `1 file`, `2 files`.
pub fn counted(number: u64, one: &str, several: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { several })
}

/// A whole number with a comma between thousands: `1,048,576`.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

fn scaled(count: f64, unit: &str) -> String {
    if count < 999.5 {
        return format!("{count:.0} {unit}");
    }
    let (mut value, mut step) = (count / 1000.0, 1);
    // What would be rounded up to four digits belongs to the next unit.
    while value >= 999.95 && step + 1 < STEPS.len() {
        value /= 1000.0;
        step += 1;
    }
    format!("{value:.1} {}{unit}", STEPS[step])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_leave_one_to_three_digits_before_the_point() {
        assert_eq!(
            [0.0, 999.0, 1000.0, 999_949.0, 999_950.0, 4_294_967_296.0].map(bytes),
            ["0 B", "999 B", "1.0 kB", "999.9 kB", "1.0 MB", "4.3 GB"]
        );
        assert_eq!(bytes(u64::MAX as f64), "18.4 EB");
    }

    #[test]
    fn rates_are_in_megabytes_from_the_first_on() {
        assert_eq!(
            [312.0, 27_400.0, 43.3e6, 1.17e9].map(rate),
            ["312 B/s", "27.4 kB/s", "43.3 MB/s", "1170 MB/s"]
        );
        assert_eq!(bits_rate(1e9), "1.0 Gb/s");
    }

    #[test]
    fn powers_of_two_are_exact() {
        assert_eq!(
            [0, 312, 1500, 65_536, 1 << 20, 80 << 30].map(power_of_two),
            ["0 B", "312 B", "1500 B", "64 KiB", "1 MiB", "80 GiB"]
        );
    }

    #[test]
    fn times_have_up_to_three_digits() {
        assert_eq!(
            [0.0, 2e-5, 0.000_12, 0.030_12, 0.1, 0.9996, 4.81, 240.0].map(seconds),
            ["0 µs", "20 µs", "120 µs", "30.1 ms", "100 ms", "1 s", "4.8 s", "240 s"]
        );
        assert_eq!(time(Duration::from_millis(2)), "2 ms");
        assert_eq!([0.4, 61.0, 3600.0, 36_061.0].map(clock), ["0:00", "1:01", "1:00:00", "10:01:01"]);
    }

    #[test]
    fn shares_counts_and_thousands() {
        assert_eq!([0.934, 0.0123, 0.000_04, 0.0].map(percent), ["93 %", "1.2 %", "0.004 %", "0.0 %"]);
        assert_eq!([1, 0].map(|number| counted(number, "file", "files")), ["1 file", "0 files"]);
        assert_eq!([16, 1_048_576].map(grouped), ["16", "1,048,576"]);
    }
}
