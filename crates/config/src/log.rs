//! What is logged, and in which form.

use clap::ValueEnum;
use tracing_subscriber::filter::{LevelFilter, ParseError, Targets};

const EXPECTED: &str = "expected error, warn, info, debug or trace, or module=level,...";

/// Whether a filter can be understood.
pub fn check_log_filter(filter: &str) -> Result<(), String> {
    match filter.split(',').map(str::trim).find(|part| is_stray_word(part)) {
        Some(word) => Err(format!("{word} is no level; {EXPECTED}")),
        None => parse_log_filter(filter).map(|_| ()).map_err(|error| format!("{error}; {EXPECTED}")),
    }
}

/// A word that is no level would be taken for a module, and all else would be silent.
fn is_stray_word(part: &str) -> bool {
    let is_word =
        |part: &str| part.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_:-".contains(&byte));
    !part.is_empty() && is_word(part) && part.parse::<LevelFilter>().is_err()
}

/// The form of log lines.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum LogFormat {
    /// For people
    #[default]
    Text,
    /// One JSON object per line, for machines
    Json,
}

/// Levels by module; nothing but blanks is nothing to log.
pub fn parse_log_filter(filter: &str) -> Result<Targets, ParseError> {
    let parts = filter.split(',').map(str::trim).filter(|part| !part.is_empty());
    parts.collect::<Vec<_>>().join(",").parse()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_alone_is_a_level() {
        for good in ["info", "WARN", "off", "", "info,howdah_rpc=debug", "howdah_server::mount=trace, warn"] {
            assert_eq!(check_log_filter(good), Ok(()), "{good}");
        }
        for wrong in ["warning", "loud", "info,howdah_rpc", "howdah_rpc=loud", "howdah_rpc=debug,verbose"] {
            let why = check_log_filter(wrong).expect_err(wrong);
            assert!(why.contains("error, warn, info, debug or trace"), "{why}");
        }
    }
}
