//! Sizes, rates and times for people.

/// A number of bytes in the unit that leaves one to three digits before the point.
pub fn size(bytes: u64) -> String {
    const UNITS: [&str; 6] = ["kB", "MB", "GB", "TB", "PB", "EB"];
    if bytes < 1000 {
        return format!("{bytes} B");
    }
    let mut value = bytes as f64 / 1000.0;
    let mut unit = 0;
    while value >= 999.95 && unit + 1 < UNITS.len() {
        value /= 1000.0;
        unit += 1;
    }
    format!("{value:.1} {}", UNITS[unit])
}

/// A number of things, with the word for one or for several of them.
pub fn count(number: u64, one: &str, several: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { several })
}

/// Seconds as minutes and seconds, and hours if need be.
pub fn clock(seconds: f64) -> String {
    let seconds = seconds.min(1e9).round() as u64;
    match seconds {
        0..3600 => format!("{}:{:02}", seconds / 60, seconds % 60),
        _ => format!("{}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn they_read_well() {
        assert_eq!(
            [0, 999, 1000, 999_949, 999_950, 4_294_967_296].map(size),
            ["0 B", "999 B", "1.0 kB", "999.9 kB", "1.0 MB", "4.3 GB"]
        );
        assert_eq!(size(u64::MAX), "18.4 EB");
        assert_eq!([0.4, 61.0, 3600.0, 36_061.0].map(clock), ["0:00", "1:01", "1:00:00", "10:01:01"]);
        assert_eq!(
            (count(1, "file", "files"), count(0, "file", "files")),
            ("1 file".into(), "0 files".into())
        );
    }
}
