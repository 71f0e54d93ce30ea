//! What everything that happens in a cell has at hand.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, Result, bail};
use parking_lot::Mutex;

use super::confined::confined;
use super::{ProcessRan, Running, Stop};
use crate::network::LabNetwork;
use crate::plan::Cell;
use crate::record::CommandRecord;

/// A cell while it runs.
#[derive(Debug)]
pub struct Scene<'a> {
    /// The cell.
    pub cell: &'a Cell,
    /// What everything random in it follows from.
    pub seed: u64,
    /// Its network.
    pub network: &'a LabNetwork,
    /// Where things are.
    pub place: &'a Place,
    /// When it must be over: from when the clients begin, their limit.
    pub deadline: Mutex<Instant>,
    /// Whether everything is to end.
    pub stop: &'a Stop,
    /// What ran so far.
    pub commands: Mutex<Vec<CommandRecord>>,
}

/// Where the things of a cell are: known before anything runs.
#[derive(Debug, Clone)]
pub struct Place {
    /// This program.
    pub howdah: PathBuf,
    /// A directory for whatever is of no interest afterwards; gone with the cell.
    pub temporary: PathBuf,
    /// The exported directory, on the server's host.
    pub export: PathBuf,
    /// Where programs leave what they say.
    pub logs: PathBuf,
    /// Addresses by host and wire.
    pub addresses: BTreeMap<(String, String), IpAddr>,
    /// What everything random follows from.
    pub seed: u64,
}

impl Place {
    /// The file that the export's own file system is in, if it has one: in memory, since a guest flushes no disk.
    pub fn image(&self) -> PathBuf {
        let parts = self.temporary.iter().skip(1).map(|part| part.to_string_lossy());
        Path::new("/dev/shm").join(parts.collect::<Vec<_>>().join("-"))
    }

    /// This program, as a word of a command.
    pub fn howdah(&self) -> String {
        self.howdah.display().to_string()
    }

    /// The address under which this client is to reach the relay, or else the server: on its wire, or on any.
    pub fn server_address(&self, cell: &Cell, client: &str) -> Result<IpAddr> {
        let spec = cell.spec.clients.get(client).with_context(|| format!("no client {client}"))?;
        let server = cell.spec.served_at(spec);
        let chosen = match &spec.wire {
            Some(wire) => self.addresses.get(&(server.to_owned(), wire.clone())).copied(),
            None => self.address_from(&spec.host, server),
        };
        chosen.with_context(|| format!("client {client}: host {server} has no address for it"))
    }

    /// The address of a host for another one: on a wire that both are on, or else whatever routes lead to.
    pub fn address_from(&self, from: &str, host: &str) -> Option<IpAddr> {
        let theirs = || self.addresses.iter().filter(|((of, _), _)| of == host);
        let is_shared = |wire: &str| self.addresses.contains_key(&(from.to_owned(), wire.to_owned()));
        theirs()
            .find(|((_, wire), _)| is_shared(wire))
            .or_else(|| theirs().next())
            .map(|(_, address)| *address)
    }
}

impl Scene<'_> {
    /// Notes a command as one that runs.
    pub fn record(&self, host: &str, name: &str, command: &[String]) {
        let command = command.to_vec();
        self.commands.lock().push(CommandRecord { host: host.to_owned(), name: name.to_owned(), command });
    }

    /// Starts a program on a host.
    pub fn start(&self, host: &str, name: &str, words: &[String]) -> Result<Running> {
        let mut command = self.command(host, name, words)?;
        Running::start(name, &mut command, self.logs(), self.stop)
    }

    /// Starts a program on a host, and waits until it says a line in which `mark` is.
    pub fn start_until(
        &self,
        host: &str,
        name: &str,
        words: &[String],
        mark: &'static str,
    ) -> Result<Running> {
        let mut command = self.command(host, name, words)?;
        Running::start_until(name, &mut command, self.logs(), self.stop, mark, self.deadline())
    }

    /// Runs a program on a host to its end, which must be a good one.
    pub fn run(&self, host: &str, name: &str, words: &[String]) -> Result<ProcessRan> {
        let mut running = self.start(host, name, words)?;
        let status = running.wait(self.deadline())?;
        if !status.success() {
            bail!("{name}: {status}{}", running.last_words());
        }
        Ok(ProcessRan { output: running.output() })
    }

    /// When it must be over.
    pub fn deadline(&self) -> Instant {
        *self.deadline.lock()
    }

    /// Where programs leave what they say.
    pub fn logs(&self) -> &Path {
        &self.place.logs
    }

    fn command(&self, host: &str, name: &str, words: &[String]) -> Result<std::process::Command> {
        let words = confined(&self.cell.spec, host, words);
        self.record(host, name, &words);
        let (program, arguments) = words.split_first().context("a command has a program")?;
        let host = self.network.hosts().get(host).with_context(|| format!("no host {host}"))?;
        let mut command = host.command(program);
        command.args(arguments);
        Ok(command)
    }
}
