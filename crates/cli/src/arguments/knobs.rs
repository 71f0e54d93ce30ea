//! `howdah get` and `howdah set`: what was typed.

use clap::Args;

use super::AskedArguments;

/// Show the settings that can be changed on a running server, their values and bounds
#[derive(Debug, Args)]
#[command(after_help = GET_EXAMPLES)]
pub struct GetArguments {
    /// Only this one, as in tcp_rcvbuf
    #[arg(value_name = "KNOB")]
    pub knob: Option<String>,

    /// Print JSON, for machines
    #[arg(long)]
    pub json: bool,

    /// Which server.
    #[command(flatten)]
    pub asked: AskedArguments,
}

/// Set a size, the congestion control or a limit of clients of a running server, at once
///
/// It applies to open connections too: a send buffer or a larger window at once, a smaller window when the client has used the window
/// offered before, congestion control with the next packet. Values below the minimum are refused, with the reason. The setting is lost
/// when the server stops; the output shows the line of the configuration file that makes it permanent.
///
/// Automatic sizes are nearly always right: compare `howdah why` before and after, and change one setting at a time.
#[derive(Debug, Args)]
#[command(after_help = SET_EXAMPLES)]
pub struct SetArguments {
    /// Which one: tcp_rcvbuf, tcp_sndbuf, tcp_congestion, memory_budget, limit.NAME.read; `howdah get` shows them all
    #[arg(value_name = "KNOB")]
    pub knob: String,

    /// A size (16M is 16 x 1024 x 1024 bytes, 16MB 16,000,000), a name, or auto; 0 is auto, too
    #[arg(value_name = "VALUE")]
    pub value: String,

    /// Print JSON, for machines
    #[arg(long)]
    pub json: bool,

    /// Which server.
    #[command(flatten)]
    pub asked: AskedArguments,
}

const GET_EXAMPLES: &str = "\
Examples:
  howdah get
  howdah get tcp_rcvbuf
  howdah get tcp_rcvbuf --json | jq -r '.servers[].knobs[].set'

Exit code: 0 success, 1 no server runs or it does not answer, 2 wrong arguments or no such knob.
";

const SET_EXAMPLES: &str = "\
Examples:
  howdah set tcp_rcvbuf 16M
      A receive buffer of 16 MiB for every connection, whatever its path.
  howdah set tcp_rcvbuf auto
      Back to what each path needs.
  howdah set limit.backup.read 20MB/s
      The [[limit]] rule named backup: from the next call on, its clients read at most 20 MB/s.
  howdah set tcp_congestion cubic --server :2049
      On the server that listens on port 2049, where several run.

Exit code: 0 success, 1 no server runs or it does not answer, 2 wrong arguments, no such knob, or the value is refused.
";
