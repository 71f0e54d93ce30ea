//! The log: to standard error, as text or as JSON.

use std::io::{self, IsTerminal};

use tracing_subscriber::filter::{LevelFilter, ParseError, Targets};
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;
use tracing_subscriber::{fmt, registry};

use crate::arguments::LogFormat;

/// Lifecycle and what is worth a look; no line per call.
const USUAL: LevelFilter = LevelFilter::INFO;

const EXPECTED: &str = "expected error, warn, info, debug or trace, or module=level,...";

/// Whether a filter can be understood.
pub fn check_log_filter(filter: &str) -> Result<(), String> {
    match filter.split(',').map(str::trim).find(|part| is_stray_word(part)) {
        Some(word) => Err(format!("{word} is no level; {EXPECTED}")),
        None => parse(filter).map(|_| ()).map_err(|error| format!("{error}; {EXPECTED}")),
    }
}

/// A word that is no level would be taken for a module, and all else would be silent.
fn is_stray_word(part: &str) -> bool {
    let is_word =
        |part: &str| part.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_:-".contains(&byte));
    !part.is_empty() && is_word(part) && part.parse::<LevelFilter>().is_err()
}

/// Starts the log of a command that shows what it does itself: what is worth a look, unless RUST_LOG asks for more.
pub fn start_command_log() {
    start_log(Some(&std::env::var("RUST_LOG").unwrap_or_else(|_| "warn".to_owned())), LogFormat::Text);
}

/// Starts the log. To be called once.
pub fn start_log(filter: Option<&str>, format: LogFormat) {
    let filter = filter.and_then(|filter| parse(filter).ok());
    let filter = filter.unwrap_or_else(|| Targets::new().with_default(USUAL));
    let log = fmt::layer().with_writer(io::stderr);
    // A failure means that a log runs already, which is as good.
    let _ = match format {
        LogFormat::Json => registry().with(filter).with(log.json().flatten_event(true)).try_init(),
        // The journal adds the time itself.
        LogFormat::Text if std::env::var_os("JOURNAL_STREAM").is_some() => {
            registry().with(filter).with(log.with_ansi(false).without_time()).try_init()
        }
        LogFormat::Text => registry().with(filter).with(log.with_ansi(io::stderr().is_terminal())).try_init(),
    };
}

/// Levels by module; nothing but blanks is nothing to log.
fn parse(filter: &str) -> Result<Targets, ParseError> {
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
