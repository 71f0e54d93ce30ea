//! Values of knobs as people type them, by flag, in the file or live.

use howdah_tune::sizes::parse_size;
use howdah_tune::{Algorithm, Setting, floor};

use crate::limits::RECORD_MAX;

/// The most that the kernel gives to one buffer of a socket, no matter which process asks.
const BUFFER_MAX: u64 = (1 << 31) - 1;

/// A send buffer as somebody typed it; `auto` and `0` are automatic.
///
/// # Errors
/// It is no size, or below the floor, which is named with its formula, or more than the kernel gives.
pub fn parse_send_buffer(text: &str) -> Result<Setting, String> {
    floor::send_setting(buffer(text)?, RECORD_MAX as u64).map_err(|error| error.to_string())
}

/// A receive buffer as somebody typed it; `auto` and `0` are automatic.
///
/// # Errors
/// It is no size, or below the floor, which is named with its formula, or more than the kernel gives.
pub fn parse_receive_buffer(text: &str) -> Result<Setting, String> {
    floor::receive_setting(buffer(text)?, RECORD_MAX as u64).map_err(|error| error.to_string())
}

/// The memory of all connections as somebody typed it; `auto` and `0` are automatic.
///
/// # Errors
/// It is no size, or below the floor, or more than this host has.
pub fn parse_memory_budget(text: &str) -> Result<Setting, String> {
    let total = howdah_net::memory_limits().total;
    floor::budget_setting(at_most(bytes(text)?, total, "the memory of this host")?)
        .map_err(|error| error.to_string())
}

/// A congestion control as somebody typed it; `auto` and `0` are automatic.
///
/// # Errors
/// This host does not have it, or does not let us choose it; those that it has are named.
pub fn parse_congestion(text: &str) -> Result<Setting<Algorithm>, String> {
    if matches!(text, "auto" | "0") {
        return Ok(Setting::Auto);
    }
    let chosen = Algorithm::parse(text).filter(|name| howdah_net::may_choose_congestion(*name).is_ok());
    match chosen {
        Some(algorithm) => Ok(Setting::Fixed(algorithm)),
        None => Err(format!(
            "this host has {} (net.ipv4.tcp_available_congestion_control), of which {} may be chosen without \
             CAP_NET_ADMIN (net.ipv4.tcp_allowed_congestion_control); auto chooses what suits each peer",
            howdah_net::congestion_controls().join(", "),
            howdah_net::allowed_congestion_controls().join(", ")
        )),
    }
}

fn buffer(text: &str) -> Result<u64, String> {
    at_most(bytes(text)?, BUFFER_MAX, "what the kernel gives to a socket")
}

fn at_most(asked: u64, most: u64, what: &str) -> Result<u64, String> {
    match asked > most {
        true => Err(format!("{asked} bytes are more than {what} ({most} bytes)")),
        false => Ok(asked),
    }
}

/// A size; `auto` is 0.
fn bytes(text: &str) -> Result<u64, String> {
    if text == "auto" { Ok(0) } else { parse_size(text) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sizes_of_2008_are_taken_and_smaller_ones_are_explained() {
        assert_eq!(parse_receive_buffer("3158016"), Ok(Setting::Fixed(3_158_016)));
        assert_eq!(parse_receive_buffer("16M"), Ok(Setting::Fixed(16 << 20)));
        for automatic in ["0", "auto"] {
            assert_eq!(parse_receive_buffer(automatic), Ok(Setting::Auto));
            assert_eq!(parse_send_buffer(automatic), Ok(Setting::Auto));
            assert_eq!(parse_memory_budget(automatic), Ok(Setting::Auto));
            assert_eq!(parse_congestion(automatic), Ok(Setting::Auto));
        }
        let refused = parse_receive_buffer("1M").expect_err("it is too small");
        assert!(refused.contains("floor of 3158016 bytes (3 calls of 1052672 bytes each)"), "{refused}");
        let refused = parse_send_buffer("1M").expect_err("it is too small");
        assert!(refused.contains("floor of 2105344 bytes (2 replies of 1052672 bytes each)"), "{refused}");
        assert!(parse_send_buffer("much").is_err() && parse_memory_budget("1M").is_err());
    }

    #[test]
    fn more_than_there_can_be_is_refused() {
        assert_eq!(parse_send_buffer("2147483647"), Ok(Setting::Fixed(BUFFER_MAX)));
        for refused in [parse_send_buffer("2G"), parse_receive_buffer("100G")] {
            assert!(refused.is_err_and(|why| why.contains("kernel gives to a socket (2147483647 bytes)")));
        }
        let total = howdah_net::memory_limits().total;
        assert_eq!(parse_memory_budget(&total.to_string()), Ok(Setting::Fixed(total)));
        let refused = parse_memory_budget(&(total + 1).to_string());
        assert!(refused.is_err_and(|why| why.contains("the memory of this host")));
    }

    #[test]
    fn a_congestion_control_that_is_not_there_is_refused_with_those_that_are() {
        let refused = parse_congestion("nobody-has-it").expect_err("nobody has it");
        for name in howdah_net::congestion_controls() {
            assert!(refused.contains(&name), "{refused}");
            assert!(parse_congestion("two words").is_err());
        }
    }
}
