//! `howdah clients` and `howdah release`: what was typed.

use clap::Args;

use super::AskedArguments;

/// List NFSv4 clients, their open files, and all locks with the clients that wait for them
///
/// A client's lease ends when the server has not heard from it for 90 seconds (see serve --lease). It then keeps its opens and
/// locks until another client needs them.
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

/// Release all opens and locks of an NFSv4 client
///
/// Use this for a client that is gone and still holds a lock. If the client still runs, its programs lose their locks and get
/// I/O errors.
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

Exit code: 0 success, 1 no server runs or it does not answer, 2 wrong arguments.
";

const RELEASE_EXAMPLES: &str = "\
Examples:
  howdah clients
  howdah release 6746c2a100000001

Exit code: 0 success, 1 no server runs or it does not answer, 2 wrong arguments or no such client.
";
