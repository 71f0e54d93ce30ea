//! `howdah doctor`: what was typed.

use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;

use clap::Args;
use howdah_config::every_address;
use howdah_doctor::peer::PORT;

use super::quantity::parse_rate;

/// Find the bottleneck (host, interfaces, path, storage or NFS) and what to change
///
/// Measures one layer at a time, from the bottom, and names the first bottleneck. Without a URL it examines this host: settings,
/// interfaces and NFS mounts. It changes nothing without --apply.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct DoctorArguments {
    /// The server and export to examine: nfs://HOST/EXPORT
    #[arg(value_name = "URL", conflicts_with = "from")]
    pub url: Option<String>,

    /// Wait for a doctor on another host, which can then measure the path in both directions and read this host's settings
    ///
    /// Listens on TCP and UDP [default: every address, port 20490], for an hour at most. It answers only hosts with a TCP connection to it,
    /// and a reply to a datagram is never larger than the datagram.
    #[arg(long, value_name = "ADDRESS:PORT", num_args = 0..=1, default_missing_value = "20490", value_parser = parse_listen,
          conflicts_with_all = ["url", "from", "json", "apply", "storage"])]
    pub listen: Option<SocketAddr>,

    /// Port of the doctor on the server, if it is not 20490
    #[arg(long, value_name = "PORT", requires = "url", default_value_t = PORT, hide_default_value = true)]
    pub peer: u16,

    /// Check each step that Kerberos needs from here to the server, and name the first that fails
    ///
    /// Name, ticket, key distribution center (KDC), service, and the server's answer. It measures nothing.
    #[arg(long, requires = "url", conflicts_with_all = ["write", "storage", "json", "apply"])]
    pub kerberos: bool,

    /// Measure writes too, in a temporary directory that is removed
    #[arg(long, requires = "url")]
    pub write: bool,

    /// Measure this directory of this host too, as the storage of an export: writes in a temporary directory that is removed
    #[arg(long, value_name = "DIR", conflicts_with = "from")]
    pub storage: Option<String>,

    /// Expected rate of the path per second, as in 1Gbit or 100MB [default: the speed of the interface]
    #[arg(long, value_name = "RATE", requires = "url", value_parser = parse_rate)]
    pub expect: Option<f64>,

    /// Judge the output of an earlier run with --json, of this or another host
    #[arg(long, value_name = "FILE")]
    pub from: Option<PathBuf>,

    /// Print JSON: verdicts, findings, remedies and all figures
    #[arg(long, conflicts_with = "apply")]
    pub json: bool,

    /// Apply the changes that this host allows, after confirmation; print how to undo them
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
  howdah doctor nfs://host/export            This host, the path and that server; nothing is written
  howdah doctor nfs://host/export --write    With writes, in a temporary directory
  howdah doctor nfs://host/export --expect 1Gbit
  howdah doctor --kerberos nfs://host/export What sec=krb5 needs, step by step
  howdah doctor --listen                     On the server, while the command above runs: measures more
  howdah doctor --storage /srv/data          This host and its disks
  howdah doctor                              This host: settings, interfaces, mounts
  howdah doctor --json > facts.json          Figures, for another person or later
  howdah doctor --from facts.json            Judge them
  sudo howdah doctor --apply                 Apply recommended changes, after confirmation

Exit code: 0 no bottleneck, 1 a bottleneck, 2 it could not be measured or the
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
