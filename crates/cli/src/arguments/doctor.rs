//! `howdah doctor`: what was typed.

use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;

use clap::Args;
use howdah_doctor::peer::PORT;

use super::quantity::parse_rate;
use crate::configuration::every_address;

/// Find the layer that limits: this host, its interfaces, the path, storage or NFS, and say what to change
///
/// Measures one layer at a time, from below, and names the first that limits. Without a URL it looks at this host: its
/// settings, its interfaces, its NFS mounts. It changes nothing unless asked with --apply.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct DoctorArguments {
    /// The server and export to look along the path to: nfs://HOST/EXPORT
    #[arg(value_name = "URL", conflicts_with = "from")]
    pub url: Option<String>,

    /// Listen for a doctor at the other end: it may then measure the path both ways, and see this host's settings
    ///
    /// Over TCP and UDP at this address [default: every address, port 20490], for an hour at most. It sends nothing to whom
    /// has no TCP connection to it, and in answer to datagrams never more than came.
    #[arg(long, value_name = "ADDRESS:PORT", num_args = 0..=1, default_missing_value = "20490", value_parser = parse_listen,
          conflicts_with_all = ["url", "from", "json", "apply", "storage"])]
    pub listen: Option<SocketAddr>,

    /// Where a doctor listens at the server's end, if it is another port than 20490
    #[arg(long, value_name = "PORT", requires = "url", default_value_t = PORT, hide_default_value = true)]
    pub peer: u16,

    /// Write there too, in a directory of its own that is removed
    #[arg(long, requires = "url")]
    pub write: bool,

    /// Measure this directory of this host too, as what lies behind an export: writes in a directory that is removed
    #[arg(long, value_name = "DIR", conflicts_with = "from")]
    pub storage: Option<String>,

    /// What the path should carry, as 1Gbit or 100MB (bytes) a second; else the interface's speed, if it has one
    #[arg(long, value_name = "RATE", requires = "url", value_parser = parse_rate)]
    pub expect: Option<f64>,

    /// Judge what an earlier run with --json saw, here or on another host
    #[arg(long, value_name = "FILE")]
    pub from: Option<PathBuf>,

    /// Print JSON, for machines: verdicts, findings, remedies, and all figures that were seen
    #[arg(long, conflicts_with = "apply")]
    pub json: bool,

    /// Make the changes that can be made on this host, after asking; print what undoes them
    #[arg(long, conflicts_with = "from")]
    pub apply: bool,

    /// With --apply: do not ask
    #[arg(long, requires = "apply")]
    pub yes: bool,
}

/// An address and port, or only a port of every address.
fn parse_listen(text: &str) -> Result<SocketAddr, String> {
    if let Ok(port) = text.parse::<u16>() {
        return Ok(SocketAddr::new(every_address(), port));
    }
    if let Ok(address) = text.parse::<IpAddr>() {
        return Ok(SocketAddr::new(address, PORT));
    }
    text.parse().map_err(|_| "it is ADDRESS:PORT, an address, or a port".to_owned())
}

const EXAMPLES: &str = "\
Examples:
  howdah doctor nfs://host/export            Up the ladder to that server; nothing is written
  howdah doctor nfs://host/export --write    With writes, in a directory that is removed
  howdah doctor nfs://host/export --expect 1Gbit
  howdah doctor --listen                     At the server, while the one above runs: more is seen
  howdah doctor --storage /srv/data          This host, and what its disks do
  howdah doctor                              This host: settings, interfaces, mounts
  howdah doctor --json > facts.json          What was seen, for another person or later
  howdah doctor --from facts.json            What that says
  sudo howdah doctor --apply                 Change what is worth changing, after asking

Exit code: 0 nothing limits, 1 something does, 2 it could not be found out or the
arguments are wrong.
";

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Typed {
        #[command(flatten)]
        doctor: DoctorArguments,
    }

    #[test]
    fn a_doctor_listens_at_every_address_that_this_host_can_have() {
        let listens = |arguments: &[&str]| {
            let typed = Typed::try_parse_from([&["doctor"], arguments].concat()).expect("well typed");
            typed.doctor.listen.expect("it listens").to_string()
        };
        // Where the kernel runs without IPv6, that of IPv4.
        let every = every_address();
        assert_eq!(listens(&["--listen"]), SocketAddr::new(every, PORT).to_string());
        assert_eq!(listens(&["--listen", "3049"]), SocketAddr::new(every, 3049).to_string());
        assert_eq!(listens(&["--listen", "10.0.0.1"]), "10.0.0.1:20490");
        assert_eq!(listens(&["--listen", "[::1]:3049"]), "[::1]:3049");
    }
}
