//! `howdah lab shell`: what was typed.

use std::ffi::OsString;

use clap::Args;

use super::PathArguments;

/// Two hosts, `client` and `server`, with a path between them, and a shell or a command on one of them
///
/// On the other host: `ip netns exec server COMMAND`, from the same shell. Programs find the hosts by name. At the end it
/// prints what the path did to packets.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct ShellArguments {
    /// The path.
    #[command(flatten)]
    pub path: PathArguments,

    /// Send packets on time even on busy hosts: the thread that carries them runs before all others, at most half of the time;
    /// needs root [default: true for paths of up to 1 Gb/s, where it costs the hosts nothing]
    #[arg(long, conflicts_with = "join", value_name = "true|false", hide_possible_values = true, num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub punctual: Option<bool>,

    /// Host of the shell or command
    #[arg(long, value_name = "NAME", default_value = "client")]
    pub host: String,

    /// Join the sandbox of another `lab shell`, from another terminal; it prints its number at the start
    #[arg(long, value_name = "NUMBER", conflicts_with = "PathArguments")]
    pub join: Option<String>,

    /// Print nothing at the start and at the end
    #[arg(long, short)]
    pub quiet: bool,

    /// Run this command instead of a shell; its exit code is passed on
    #[arg(last = true, value_name = "COMMAND")]
    pub command: Vec<OsString>,
}

const EXAMPLES: &str = "\
Examples:
  howdah lab shell --path wan-30ms                    A shell on the client
  howdah lab shell --path dsl --back rate=2Mbit       A line of that kind, with another rate to the client
  howdah lab shell --join 4711 --host server          From another terminal: a shell on its server
  howdah lab shell --rtt 20ms -- sh -c 'ip netns exec server iperf3 -s -1 & sleep 1; iperf3 -c server'
";
