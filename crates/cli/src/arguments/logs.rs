//! Which events are logged, and in which form.

use clap::Args;
use howdah_config::LogFormat;

/// Flags about the log, which goes to standard error.
#[derive(Debug, Default, Clone, Args)]
#[command(next_help_heading = "Log")]
pub struct LogArguments {
    /// What to log: error, warn, info, debug (one line per call), trace; or by module, as in
    /// "info,howdah_server=debug" [default: info]
    #[arg(long, value_name = "FILTER", env = "RUST_LOG", hide_env_values = true)]
    pub log: Option<String>,

    /// Format of the log [default: text]
    #[arg(long, value_name = "FORM")]
    pub log_format: Option<LogFormat>,
}
