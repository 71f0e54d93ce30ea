//! Rates as people type them: a number with a unit, per second.

use super::parse_size;

/// Bytes per second: `100MB/s`, `2.5Gbit`; a number alone is bytes.
///
/// # Errors
/// What is no rate, and what would be one.
pub fn parse_byte_rate(text: &str) -> Result<u64, String> {
    let is_number = text.bytes().all(|letter| letter.is_ascii_digit() || letter == b'.');
    if is_number { parse_size(text) } else { Ok((parse_bit_rate(text)? / 8.0) as u64) }
}

/// Bits per second: `100Mbit`, `1Gb/s`; `12MB` and `12M` (of 1024) are of bytes. The case of the letters does not count but for b (bits)
/// and B (bytes) alone.
///
/// # Errors
/// What is no rate, and what would be one.
pub fn parse_bit_rate(text: &str) -> Result<f64, String> {
    let text = text.strip_suffix("/s").or_else(|| text.strip_suffix("ps")).unwrap_or(text);
    let end = text.find(|letter: char| !letter.is_ascii_digit() && letter != '.').unwrap_or(text.len());
    let (number, unit) = (&text[..end], text[end..].trim_start());
    let bits = unit.strip_suffix('b').or_else(|| strip_ignoring_case(unit, "bit"));
    let prefix = bits.or_else(|| unit.strip_suffix('B')).unwrap_or(unit);
    let power = match prefix.to_ascii_uppercase().as_str() {
        "" if unit.is_empty() => None,
        "" => Some(0),
        "K" => Some(1),
        "M" => Some(2),
        "G" => Some(3),
        "T" => Some(4),
        _ => None,
    };
    let power = power.ok_or(
        "a rate is a number with kbit, Mbit, Gbit, with K, M, G, T (of 1024 bytes) or KB, MB, GB, TB (of 1000), per second",
    )?;
    // As of sizes: K, M and G alone are powers of two.
    let (base, each): (f64, f64) = match (bits.is_some(), prefix.len() == unit.len()) {
        (true, _) => (1000.0, 1.0),
        (false, true) => (1024.0, 8.0),
        (false, false) => (1000.0, 8.0),
    };
    let number: f64 = number.parse().map_err(|_| "no rate: it begins with a number")?;
    Ok(number * base.powi(power) * each)
}

fn strip_ignoring_case<'t>(text: &'t str, end: &str) -> Option<&'t str> {
    let at = text.len().checked_sub(end.len()).filter(|at| text.is_char_boundary(*at))?;
    text[at..].eq_ignore_ascii_case(end).then_some(&text[..at])
}
