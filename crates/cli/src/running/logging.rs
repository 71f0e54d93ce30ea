//! The log: to standard error, as text or as JSON.

use std::io::{self, IsTerminal};

use tracing_subscriber::EnvFilter;

use crate::arguments::LogFormat;

/// Lifecycle and what is worth a look; no line per call.
const USUAL: &str = "info";

/// Whether a filter can be understood.
pub fn check_log_filter(filter: &str) -> Result<(), String> {
    EnvFilter::try_new(filter)
        .map(|_| ())
        .map_err(|error| format!("{error}; expected error, warn, info, debug or trace, or module=level,..."))
}

/// Starts the log of a command that shows what it does itself: what is worth a look, unless RUST_LOG asks for more.
pub fn start_command_log() {
    start_log(Some(&std::env::var("RUST_LOG").unwrap_or_else(|_| "warn".to_owned())), LogFormat::Text);
}

/// Starts the log. To be called once.
pub fn start_log(filter: Option<&str>, format: LogFormat) {
    let filter = EnvFilter::try_new(filter.unwrap_or(USUAL)).unwrap_or_else(|_| EnvFilter::new(USUAL));
    let log = tracing_subscriber::fmt().with_env_filter(filter).with_writer(io::stderr);
    // A failure means that a log runs already, which is as good.
    let _ = match format {
        LogFormat::Json => log.json().flatten_event(true).try_init(),
        // The journal adds the time itself.
        LogFormat::Text if std::env::var_os("JOURNAL_STREAM").is_some() => {
            log.with_ansi(false).without_time().try_init()
        }
        LogFormat::Text => log.with_ansi(io::stderr().is_terminal()).try_init(),
    };
}
