//! `--limit`: what was typed for all clients of a server.

use howdah_config::quantity::parse_burst;
use howdah_server::caps::{CapRule, parse_byte_cap, parse_call_cap};

/// What is between two of its settings.
const SEPARATOR: char = ',';

/// Rates for all clients: `read=20MB/s,calls=500/s`, with `per_client` for each of them.
pub fn parse_limit(text: &str) -> Result<CapRule, String> {
    let (clients, exports) = Default::default();
    let (read, write, calls) = Default::default();
    let (name, burst) = ("flag".to_owned(), CapRule::BURST);
    let mut rule = CapRule { name, clients, exports, per_client: false, read, write, calls, burst };
    for setting in text.split(SEPARATOR) {
        let (key, value) = setting.split_once('=').unwrap_or((setting, ""));
        match key {
            "read" => rule.read = parse_byte_cap(value)?,
            "write" => rule.write = parse_byte_cap(value)?,
            "calls" => rule.calls = parse_call_cap(value)?,
            "burst" => rule.burst = parse_burst(value)?,
            "per_client" if value.is_empty() => rule.per_client = true,
            _ => return Err(
                "expected read=RATE, write=RATE, calls=N/s, burst=TIME or per_client, separated by commas"
                    .to_owned(),
            ),
        }
    }
    match (rule.read, rule.write, rule.calls) {
        (None, None, None) => Err("without read, write or calls it limits nothing".to_owned()),
        _ => Ok(rule),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn rates_are_separated_by_commas() {
        let rule = parse_limit("read=20MB/s,calls=500/s,burst=1s,per_client").expect("good");
        assert_eq!((rule.read, rule.write, rule.calls), (Some(20_000_000), None, Some(500)));
        assert_eq!((rule.burst, rule.per_client), (Duration::from_secs(1), true));
        for text in ["", "read", "read=0", "rate=1MB/s", "burst=1s", "read=1MB/s,burst=2h", "read=1MB/s,"] {
            assert!(parse_limit(text).is_err(), "{text}");
        }
    }
}
