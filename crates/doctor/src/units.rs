//! Quantities as people read them.

/// Bytes.
pub fn bytes(count: f64) -> String {
    scaled(count, &[(1e9, "GB"), (1e6, "MB"), (1e3, "kB")], "B")
}

/// Bytes per second.
pub fn rate(bytes_per_second: f64) -> String {
    format!("{}/s", bytes(bytes_per_second))
}

/// Bits per second, as lines are sold.
pub fn bits(per_second: f64) -> String {
    scaled(per_second, &[(1e9, "Gb/s"), (1e6, "Mb/s"), (1e3, "kb/s")], "b/s")
}

/// Powers of two, as transfer sizes are.
pub fn kibibytes(count: u64) -> String {
    match count {
        count if count >= 1 << 20 && count.is_multiple_of(1 << 20) => format!("{} MiB", count >> 20),
        count if count >= 1 << 10 => format!("{} KiB", count >> 10),
        count => format!("{count} B"),
    }
}

/// A time.
pub fn time(seconds: f64) -> String {
    if seconds < 0.1e-3 {
        format!("{:.0} µs", seconds * 1e6)
    } else if seconds < 10e-3 {
        format!("{:.2} ms", seconds * 1e3)
    } else if seconds < 1.0 {
        format!("{:.1} ms", seconds * 1e3)
    } else {
        format!("{seconds:.1} s")
    }
}

/// A part of a whole.
pub fn percent(part: f64) -> String {
    match part * 100.0 {
        percent if percent >= 9.95 => format!("{percent:.0} %"),
        percent if percent >= 0.095 || percent == 0.0 => format!("{percent:.1} %"),
        percent => format!("{percent:.3} %"),
    }
}

fn scaled(count: f64, units: &[(f64, &str)], least: &str) -> String {
    match units.iter().find(|(size, _)| count >= *size) {
        Some((size, unit)) => format!("{:.1} {unit}", count / size),
        None => format!("{count:.0} {least}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_are_short() {
        assert_eq!(bytes(4_194_304.0), "4.2 MB");
        assert_eq!(rate(312.0), "312 B/s");
        assert_eq!(bits(1e9), "1.0 Gb/s");
        assert_eq!(kibibytes(65_536), "64 KiB");
        assert_eq!(kibibytes(1 << 20), "1 MiB");
        assert_eq!(time(0.00012), "0.12 ms");
        assert_eq!(time(0.030_12), "30.1 ms");
        assert_eq!(time(2e-5), "20 µs");
        assert_eq!(percent(0.934), "93 %");
        assert_eq!(percent(0.0123), "1.2 %");
        assert_eq!(percent(0.000_04), "0.004 %");
        assert_eq!(percent(0.0), "0.0 %");
    }
}
