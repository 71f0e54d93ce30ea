//! Sizes as people type them: a number with a unit.

/// Units of sizes, as dd(1) has them: a letter is a power of 1024, with `B` a power of 1000.
const SIZES: &[(&str, u64)] = &[
    ("", 1),
    ("B", 1),
    ("K", 1 << 10),
    ("KIB", 1 << 10),
    ("KB", 1_000),
    ("M", 1 << 20),
    ("MIB", 1 << 20),
    ("MB", 1_000_000),
    ("G", 1 << 30),
    ("GIB", 1 << 30),
    ("GB", 1_000_000_000),
    ("T", 1 << 40),
    ("TIB", 1 << 40),
    ("TB", 1_000_000_000_000),
];

/// A number of bytes.
///
/// # Errors
/// What is no size, and what would be one.
pub fn parse_size(text: &str) -> Result<u64, String> {
    let end = text.find(|letter: char| !letter.is_ascii_digit() && letter != '.').unwrap_or(text.len());
    let (number, unit) = (&text[..end], text[end..].trim_start().to_ascii_uppercase());
    let factor = SIZES.iter().find(|(name, _)| *name == unit).map(|(_, factor)| *factor);
    let factor = factor.ok_or("a size is a number with K, M, G, T (of 1024) or KB, MB, GB, TB (of 1000)")?;
    let size = match number.parse::<u64>() {
        Ok(whole) => whole.checked_mul(factor),
        Err(_) => fraction(number, factor),
    };
    size.ok_or_else(|| "no size: it begins with a number, and is below 2^64".to_owned())
}

fn fraction(number: &str, factor: u64) -> Option<u64> {
    let number: f64 = number.parse().ok()?;
    let size = (number * factor as f64).round();
    (size.is_finite() && size < u64::MAX as f64).then_some(size as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_the_units_of_dd() {
        for (text, size) in [
            ("8192", 8192),
            ("8k", 8192),
            ("1M", 1 << 20),
            ("1MB", 1_000_000),
            ("2 GiB", 2 << 30),
            ("1.5K", 1536),
            ("3B", 3),
            ("3KiB", 3072),
            ("3kb", 3000),
            ("3MiB", 3_145_728),
            ("3G", 3_221_225_472),
            ("3GB", 3_000_000_000),
            ("3T", 3_298_534_883_328),
            ("3TiB", 3_298_534_883_328),
            ("3TB", 3_000_000_000_000),
            ("18446744073709551615", u64::MAX),
        ] {
            assert_eq!(parse_size(text), Ok(size), "{text}");
        }
        for text in ["", "M", "-1", "1X", "1e3", "99999999T", "1.2.3", "99999999.5T", "16777216.0T"] {
            assert!(parse_size(text).is_err(), "{text}");
        }
    }
}
