//! Numbers as people write them, exactly: "2.656" of a unit of 10^9 is 2,656,000,000.

/// As many as the largest number of 64 bits has.
const MOST_DIGITS: usize = 20;

/// Splits "1.5 ms" into "1.5" and "ms".
pub fn split_unit(text: &str) -> (&str, &str) {
    let text = text.trim();
    let end = text.find(|letter: char| !letter.is_ascii_digit() && letter != '.').unwrap_or(text.len());
    (&text[..end], text[end..].trim())
}

/// A decimal number of units, rounded down to a whole number of what the unit is made of.
pub fn parse(number: &str, unit: u64) -> Option<u64> {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let is_number =
        |digits: &str| digits.len() <= MOST_DIGITS && digits.bytes().all(|byte| byte.is_ascii_digit());
    if !is_number(whole) || !is_number(fraction) || whole.len() + fraction.len() == 0 {
        return None;
    }
    let digits = |digits: &str| if digits.is_empty() { Some(0) } else { digits.parse::<u128>().ok() };
    let unit = u128::from(unit);
    let parts = digits(fraction)? * unit / 10u128.pow(fraction.len() as u32);
    u64::try_from(digits(whole)? * unit + parts).ok()
}

/// The other way, for a unit that is a power of ten.
pub fn show(value: u64, unit: u64) -> String {
    let (whole, parts) = (value / unit, value % unit);
    if parts == 0 {
        return whole.to_string();
    }
    let digits = unit.ilog10() as usize;
    let parts = format!("{parts:0digits$}");
    format!("{whole}.{}", parts.trim_end_matches('0'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_are_exact() {
        for (text, unit, value) in [
            ("2.656", 1_000_000_000, Some(2_656_000_000)),
            ("0.1", 1_000, Some(100)),
            (".5", 1_000, Some(500)),
        ] {
            assert_eq!(parse(text, unit), value, "{text}");
        }
        for wrong in ["", ".", "1.2.3", "99999999999999999999", "999999999999999999999", "-1"] {
            assert_eq!(parse(wrong, 1_000), None, "{wrong}");
        }
        assert_eq!(show(2_656_000_000, 1_000_000_000), "2.656");
        assert_eq!(show(5, 1_000), "0.005");
    }
}
