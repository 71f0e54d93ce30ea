//! The log: to standard error, as text or as JSON.

use std::io::{self, IsTerminal};

use howdah_config::{LogFormat, parse_log_filter};
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;
use tracing_subscriber::{fmt, registry};

/// Lifecycle and what is worth a look; no line per call.
const USUAL: LevelFilter = LevelFilter::INFO;

/// Starts the log of a command that shows what it does itself: what is worth a look, unless RUST_LOG asks for more.
pub fn start_command_log() {
    start_log(Some(&std::env::var("RUST_LOG").unwrap_or_else(|_| "warn".to_owned())), LogFormat::Text);
}

/// Starts the log. To be called once.
pub fn start_log(filter: Option<&str>, format: LogFormat) {
    let filter = filter.and_then(|filter| parse_log_filter(filter).ok());
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
