//! `howdah clients` and `howdah release`: what was typed.

use clap::Args;

use super::AskedArguments;

/// Show what NFSv4 clients have open and locked, and who waits for whom
///
/// A client that says nothing for a lease (90 seconds, unless the server was told otherwise) keeps what nobody else wants. What
/// it holds is let go as soon as another client needs it.
#[derive(Debug, Args)]
#[command(after_help = CLIENTS_EXAMPLES)]
pub struct ClientsArguments {
    /// Print JSON, for machines
    #[arg(long)]
    pub json: bool,

    /// Which server.
    #[command(flatten)]
    pub asked: AskedArguments,
}

/// Take all opens and locks from an NFSv4 client
///
/// For a client that is gone and still holds a lock. If it lives, its programs lose their locks: they get an I/O error.
#[derive(Debug, Args)]
#[command(after_help = RELEASE_EXAMPLES)]
pub struct ReleaseArguments {
    /// Which one, by the id that `howdah clients` shows
    #[arg(value_name = "CLIENT")]
    pub client: String,

    /// Print JSON, for machines
    #[arg(long)]
    pub json: bool,

    /// Which server.
    #[command(flatten)]
    pub asked: AskedArguments,
}

const CLIENTS_EXAMPLES: &str = "\
Examples:
  howdah clients
  howdah clients --json | jq -r '.servers[].state.locks[] | select(.waiting != []) | .holder'

Exit code: 0 it was said, 1 no server runs or it cannot be asked, 2 wrong arguments.
";

const RELEASE_EXAMPLES: &str = "\
Examples:
  howdah clients
  howdah release 6746c2a100000001

Exit code: 0 it was released, 1 no server runs or it cannot be asked, 2 wrong arguments or no such client.
";
