//! `howdah get` and `howdah set`: what was typed.

use clap::Args;

use super::AskedArguments;

/// Show what may be set on a running server, what is set, and what bounds it
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

/// Set a size or the congestion control of a running server, at once
///
/// Connections that live have it as far as the kernel allows: a send buffer at once, a larger window at once, a smaller one when
/// what was promised to the client is used up, another congestion control from its next packet on. A value that could not work
/// is refused with the floor and how it is computed. It lasts until the server ends; the answer says which line of the
/// configuration file makes it last.
///
/// Sizes are automatic unless somebody sets them, and automatic is right nearly always: see what `howdah why` says before, and
/// after, and change one thing at a time.
#[derive(Debug, Args)]
#[command(after_help = SET_EXAMPLES)]
pub struct SetArguments {
    /// Which one: tcp_rcvbuf, tcp_sndbuf, tcp_congestion, memory_budget; `howdah get` shows them all
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

Exit code: 0 it was said, 1 no server runs or it cannot be asked, 2 wrong arguments or no such knob.
";

const SET_EXAMPLES: &str = "\
Examples:
  howdah set tcp_rcvbuf 16M
      A receive buffer of 16 MiB for every connection, whatever its path.
  howdah set tcp_rcvbuf auto
      Back to what each path needs.
  howdah set tcp_congestion cubic --server :2049
      On the server that listens on port 2049, where several run.

Exit code: 0 it is set, 1 no server runs or it cannot be asked, 2 wrong arguments, no such knob, or the value is refused.
";
