//! The sizes of connections, for those who want to set them: automatic unless somebody says otherwise.

use howdah_server::Tuning;
use howdah_server::limits::RECORD_MAX;
use howdah_tune::Setting;
use howdah_tune::budget::BUDGET_MIN;
use howdah_tune::floor::{receive_floor, send_floor};

use crate::arguments::quantity::parse_size;

/// What is said of sizes, by flags or by the file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Sizes {
    /// The send buffer of each connection.
    pub tcp_sndbuf: Option<Setting>,
    /// The receive buffer of each connection.
    pub tcp_rcvbuf: Option<Setting>,
    /// The memory of all connections in the kernel; 0: automatic.
    pub memory_budget: Option<u64>,
    /// Whether connections are looked at and sized at all.
    pub tuning: Option<bool>,
}

impl Sizes {
    /// What these do not say, the others do.
    pub fn or(self, others: Self) -> Self {
        Self {
            tcp_sndbuf: self.tcp_sndbuf.or(others.tcp_sndbuf),
            tcp_rcvbuf: self.tcp_rcvbuf.or(others.tcp_rcvbuf),
            memory_budget: self.memory_budget.or(others.memory_budget),
            tuning: self.tuning.or(others.tuning),
        }
    }

    /// What they mean.
    pub fn decide(self) -> Tuning {
        Tuning {
            enabled: self.tuning.unwrap_or(true),
            send_buffer: self.tcp_sndbuf.unwrap_or_default(),
            receive_buffer: self.tcp_rcvbuf.unwrap_or_default(),
            memory_budget: self.memory_budget.filter(|&bytes| bytes > 0),
        }
    }
}

/// The size of a send buffer.
pub fn parse_send_buffer(text: &str) -> Result<Setting, String> {
    let floor = send_floor(RECORD_MAX as u64);
    parse(text, floor, "2 replies of 1 MiB and 4 KiB each")
}

/// The size of a receive buffer.
pub fn parse_receive_buffer(text: &str) -> Result<Setting, String> {
    let floor = receive_floor(RECORD_MAX as u64);
    parse(text, floor, "3 calls of 1 MiB and 4 KiB each")
}

/// The memory of all connections.
pub fn parse_memory_budget(text: &str) -> Result<u64, String> {
    match bytes(text)? {
        bytes if bytes > 0 && bytes < BUDGET_MIN => Err(format!(
            "{bytes} bytes do not serve one client well: {BUDGET_MIN} at least, or 0 for automatic"
        )),
        bytes => Ok(bytes),
    }
}

fn parse(text: &str, floor: u64, formula: &'static str) -> Result<Setting, String> {
    Setting::checked(bytes(text)?, floor, formula).map_err(|error| error.to_string())
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
        }
        let refused = parse_receive_buffer("1M").expect_err("it is too small");
        assert!(refused.contains("floor of 3158016 bytes (3 calls of"), "{refused}");
        let refused = parse_send_buffer("1M").expect_err("it is too small");
        assert!(refused.contains("floor of 2105344 bytes (2 replies of"), "{refused}");
        assert!(parse_send_buffer("much").is_err() && parse_memory_budget("1M").is_err());
    }

    #[test]
    fn flags_win_over_the_file() {
        let file =
            Sizes { tcp_sndbuf: Some(Setting::Fixed(4 << 20)), tuning: Some(false), ..Sizes::default() };
        let flags =
            Sizes { tcp_sndbuf: Some(Setting::Auto), memory_budget: Some(64 << 20), ..Sizes::default() };
        let decided = flags.or(file).decide();
        assert_eq!((decided.enabled, decided.send_buffer), (false, Setting::Auto));
        assert_eq!((decided.receive_buffer, decided.memory_budget), (Setting::Auto, Some(64 << 20)));
    }
}
