//! `howdah relay`.

use std::ffi::OsString;

use clap::Args;

use super::{CachingArguments, ExportArguments, LogArguments, ServeArguments, ServerArguments};

/// Serve a far server's export to clients nearby, with caches between
///
/// Clients mount this host as if it were the far server. Data is read ahead and written behind over connections that size
/// themselves to the path; attributes, names and rights are remembered. Data that a client was told is safe (fsync, close)
/// is safe on the far server.
///
/// The same as `howdah serve --cache URL`. For several exports, write a file with `url = "nfs://…"` and `cache = true`,
/// and pass it to `howdah serve --config`.
#[derive(Debug, Clone, Args)]
#[command(after_help = EXAMPLES)]
pub struct RelayArguments {
    /// The far server's export: nfs://HOST/EXPORT
    #[arg(value_name = "URL", conflicts_with = "config")]
    pub url: OsString,

    /// Settings of the caches.
    #[command(flatten)]
    pub caching: CachingArguments,

    /// Settings of the server.
    #[command(flatten)]
    pub server: ServerArguments,

    /// Settings of the one export.
    #[command(flatten)]
    pub export: ExportArguments,

    /// What is logged and how.
    #[command(flatten)]
    pub log: LogArguments,
}

impl RelayArguments {
    /// The `howdah serve` that it stands for.
    pub fn into_serve(self) -> ServeArguments {
        let Self { url, caching, server, export, log } = self;
        ServeArguments { what: Some(url), cache: true, caching, server, export, log }
    }
}

const EXAMPLES: &str = "\
Examples:
  howdah relay nfs://far.example.org/export
      Clients nearby mount this host's \"/\".
  howdah relay nfs://far.example.org/export --squash none --cache-memory 2G
      Root of a client is root on the far server, if that trusts this host; four times the usual memory.
  howdah relay nfs://far.example.org/export --actimeo 0
      Ask the far server about attributes every time: changes made there are seen at once, and each look takes a
      round trip.

Exit code: 0 ended as asked, 1 could not start or go on, 2 wrong arguments or configuration.
";
