//! Quantities that only a command line has: rates, factors, sizes of files.

use howdah_config::quantity::fraction;
use howdah_tune::sizes::{parse_bit_rate, parse_byte_rate, parse_size};
use howdah_workload::{FileSize, Speed};

/// Bytes a second that a copy may move.
pub fn parse_copy_rate(text: &str) -> Result<u64, String> {
    match parse_byte_rate(text)? {
        0 => Err("at a rate of 0 nothing would be copied; leave it out to copy without a limit".to_owned()),
        rate => Ok(rate),
    }
}

/// One size, or the smallest and the largest with a hyphen between.
pub fn parse_file_size(text: &str) -> Result<FileSize, String> {
    let (smallest, largest) = text.split_once('-').unwrap_or((text, text));
    let size = FileSize { smallest_bytes: parse_size(smallest)?, largest_bytes: parse_size(largest)? };
    match size.smallest_bytes <= size.largest_bytes {
        true => Ok(size),
        false => Err("the smallest comes first: 5M-50M".to_owned()),
    }
}

/// What a line carries, in bits per second.
pub fn parse_rate(text: &str) -> Result<f64, String> {
    let rate = parse_bit_rate(text)?;
    if rate > 0.0 { Ok(rate) } else { Err("a rate is more than nothing".to_owned()) }
}

/// A factor above 0.
pub fn parse_factor(text: &str) -> Result<f64, String> {
    let factor = match text.strip_suffix('%') {
        Some(percent) => fraction(percent).map(|percent| percent / 100.0),
        None => fraction(text),
    };
    factor.filter(|factor| *factor > 0.0).ok_or_else(|| "a factor is a number above 0: 0.01 or 1%".to_owned())
}

/// How fast a record is played.
pub fn parse_speed(text: &str) -> Result<Speed, String> {
    if text == "max" {
        return Ok(Speed::Most);
    }
    let times = fraction(text).filter(|times| *times > 0.0);
    times.map(Speed::Times).ok_or_else(|| "a speed is a number above 0, or max".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_bits_unless_they_say_bytes() {
        assert_eq!(parse_rate("100Mbit"), Ok(1e8));
        assert_eq!(parse_rate("2.5Gbit/s"), Ok(2.5e9));
        assert_eq!(parse_rate("12 MB/s"), Ok(96e6));
        for (text, bits) in
            [("10mbit", 1e7), ("10Mb/s", 1e7), ("10Mbps", 1e7), ("10M", 83_886_080.0), ("10MB/s", 8e7)]
        {
            assert_eq!(parse_rate(text), Ok(bits), "{text}");
            assert_eq!(parse_copy_rate(text), Ok(bits as u64 / 8), "{text}");
        }
        assert_eq!(parse_copy_rate("5000"), Ok(5000));
        assert!(
            parse_copy_rate("0").is_err()
                && parse_copy_rate("fast").is_err()
                && parse_copy_rate("5X").is_err()
        );
        assert!(parse_rate("12").is_err() && parse_rate("fast").is_err() && parse_rate("0Gbit").is_err());
    }

    #[test]
    fn sizes_of_files_are_one_or_a_range() {
        let both = FileSize { smallest_bytes: 5 << 20, largest_bytes: 50 << 20 };
        assert_eq!(parse_file_size("5M-50M"), Ok(both));
        assert_eq!(parse_file_size("1k"), Ok(FileSize::exactly(1024)));
        assert!(parse_file_size("2-1").is_err());
    }

    #[test]
    fn speeds_are_a_factor_or_the_most() {
        assert_eq!((parse_speed("0.5"), parse_speed("max")), (Ok(Speed::Times(0.5)), Ok(Speed::Most)));
        assert!(parse_speed("0").is_err() && parse_speed("fast").is_err());
    }

    #[test]
    fn factors_are_positive() {
        assert_eq!((parse_factor("0.01"), parse_factor("50%")), (Ok(0.01), Ok(0.5)));
        for text in ["0", "x", "", "inf", "-1", "nan"] {
            assert!(parse_factor(text).is_err(), "{text}");
        }
    }
}
