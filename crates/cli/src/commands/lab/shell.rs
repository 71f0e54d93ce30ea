//! `howdah lab shell`.

use std::env;
use std::ffi::OsString;
use std::process::{Command, ExitCode};

use anyhow::{Context, anyhow};
use howdah_lab::network::{Topology, WireSpec};
use howdah_lab::sandbox::{Guardian, LabSandbox, join};

use super::inside::inside;
use super::{describe, path};
use crate::arguments::ShellArguments;
use crate::commands::Failure;
use crate::report;

/// What the wire is called.
const WIRE: &str = "path0";

/// Runs a shell or a command on a host, and passes its exit code on.
pub fn run(arguments: &ShellArguments) -> Result<(), Failure> {
    if let Some(id) = &arguments.join {
        let joined = join(id)?;
        return passed_on(
            joined.run(&arguments.host, &mut prepared(Command::new(program(arguments)), arguments))?,
        );
    }
    // Before anything is made: what is wrong with the flags is said at once, and once.
    let path = path::path(&arguments.path).map_err(Failure::Usage)?;
    let usual = WireSpec::new(path, arguments.path.seed);
    let wire = WireSpec { punctual: arguments.punctual.unwrap_or(usual.punctual), ..usual };
    let topology = Topology::pair(wire);
    if !topology.hosts.contains_key(&arguments.host) {
        let hosts: Vec<&str> = topology.hosts.keys().map(String::as_str).collect();
        return Err(Failure::Usage(anyhow!(
            "there is no host {:?}; there are {}",
            arguments.host,
            hosts.join(", ")
        )));
    }
    inside(|sandbox| work(arguments, &topology, sandbox))
}

fn work(arguments: &ShellArguments, topology: &Topology, sandbox: &LabSandbox) -> Result<(), Failure> {
    // The network's threads leave signals to the thread that waits for the command.
    let guardian = Guardian::new()?;
    let network = sandbox.network(topology).context("building the network")?;
    let wire = network.wire(WIRE);
    if !arguments.quiet {
        report::status(&describe::network(&network, wire, sandbox.id(), &arguments.host), true);
    }
    let command = network.host(&arguments.host).command(program(arguments));
    let code = guardian.run(&mut prepared(command, arguments))?;
    if !arguments.quiet {
        report::status(&describe::counters(&wire.counters(), &wire.spec().between), true);
    }
    passed_on(code)
}

fn program(arguments: &ShellArguments) -> OsString {
    let shell = || env::var_os("SHELL").unwrap_or_else(|| "/bin/sh".into());
    arguments.command.first().cloned().unwrap_or_else(shell)
}

/// The command with its arguments and environment.
fn prepared(mut command: Command, arguments: &ShellArguments) -> Command {
    // A prompt can show it.
    command.args(arguments.command.iter().skip(1)).env("HOWDAH_LAB_HOST", &arguments.host);
    command
}

fn passed_on(code: ExitCode) -> Result<(), Failure> {
    if code == ExitCode::SUCCESS { Ok(()) } else { Err(Failure::Ended(code)) }
}
