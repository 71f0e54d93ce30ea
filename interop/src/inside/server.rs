//! The howdah under test: started, signalled, restarted on the same port and state, ended.

use std::env;
use std::fs;
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::path::PathBuf;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use rustix::process::Signal;

use super::command::Running;
use super::container;
use super::isolation::Network;
use crate::job::Job;

/// How the last line of howdah's first screen starts.
const LAST_LINE: &str = "Stop: ";
/// A server that does not listen after this long has not started.
const START: Duration = Duration::from_secs(20);
/// A server must finish what is in flight and go within this time of SIGTERM.
const END: Duration = Duration::from_secs(20);

/// A server, running or ended on purpose.
pub struct Server {
    job: Job,
    port: u16,
    process: Option<Running>,
}

impl Server {
    /// Starts it and waits until it listens.
    pub fn start(job: &Job, network: &Network) -> Result<Self> {
        let mut server = Self { job: job.clone(), port: network.port, process: None };
        if job.scenario.configured {
            write_configuration(job, "")?;
        }
        if job.scenario.container {
            container::prepare(job).context("unpacking the container image")?;
        }
        server.launch()?;
        if job.scenario.container {
            container::must_be_confined(server.process_id())?;
        }
        Ok(server)
    }

    /// Where it listens.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Its process; 0 if none runs.
    pub fn process_id(&self) -> u32 {
        self.process.as_ref().map_or(0, Running::process_id)
    }

    /// An error if it ended by itself.
    pub fn must_run(&mut self) -> Result<()> {
        let Some(process) = &mut self.process else { return Ok(()) };
        match process.ended()? {
            None => Ok(()),
            Some(status) => bail!("howdah ended by itself with {status}; it said: {}", self.last_words()),
        }
    }

    /// Changes the configuration file and sends SIGHUP.
    pub fn reload(&self) -> Result<()> {
        let path = self.job.state();
        let more = format!("[[export]]\nname = \"/reloaded\"\npath = {path:?}\nread_only = true\n");
        write_configuration(&self.job, &more)?;
        self.running()?.signal(Signal::HUP)
    }

    /// Kills it, and starts it again.
    pub fn kill_and_start(&mut self) -> Result<()> {
        self.process.take().context("killing a server that does not run")?.kill()?;
        self.launch()
    }

    /// Ends it well, and starts it again.
    pub fn restart(&mut self) -> Result<()> {
        self.end()?;
        self.launch()
    }

    /// Ends it by SIGTERM, which must succeed; nothing to do if it was ended before.
    pub fn end(&mut self) -> Result<()> {
        let Some(mut process) = self.process.take() else { return Ok(()) };
        process.signal(Signal::TERM)?;
        let give_up = Instant::now() + END;
        loop {
            if let Some(status) = process.ended()? {
                ensure!(
                    status.success(),
                    "howdah ended with {status} on SIGTERM; it said: {}",
                    self.last_words()
                );
                return Ok(());
            }
            ensure!(Instant::now() < give_up, "howdah still runs {END:?} after SIGTERM");
            thread::sleep(super::LOOK);
        }
    }

    fn running(&self) -> Result<&Running> {
        self.process.as_ref().context("the server does not run")
    }

    fn launch(&mut self) -> Result<()> {
        let job = &self.job;
        let log = job.log("server.txt");
        let said_before = fs::metadata(&log).map_or(0, |metadata| metadata.len());
        let process = if job.scenario.container {
            let this = env::current_exe().context("asking for the path of this program")?;
            Running::start(&this, &log, |command| container::configure(command, job))?
        } else {
            Running::start(&job.binary, &log, |command| configure(command, job, self.port))?
        };
        let give_up = Instant::now() + START;
        self.process = Some(process);
        loop {
            self.must_run()?;
            if self.port == 0 {
                self.port = self.port_it_says(said_before).unwrap_or(0);
            }
            let address = SocketAddr::from((Ipv4Addr::LOCALHOST, self.port));
            // Its screen comes last: by then it listens, and rpcbind knows it.
            let says_all = self.says(said_before).is_some_and(|text| text.contains(LAST_LINE));
            if says_all && self.port != 0 && TcpStream::connect(address).is_ok() {
                return Ok(());
            }
            ensure!(
                Instant::now() < give_up,
                "howdah does not listen {START:?} after its start; it said: {}",
                self.last_words()
            );
            thread::sleep(super::LOOK);
        }
    }

    /// The port in the mount command that it prints: `…,port=N,…`.
    fn port_it_says(&self, from: u64) -> Option<u16> {
        let text = self.says(from)?;
        let (_, after) = text.split_once("port=")?;
        after.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
    }

    /// What it has said since its log was so long.
    fn says(&self, from: u64) -> Option<String> {
        let text = fs::read(self.job.log("server.txt")).ok()?;
        Some(String::from_utf8_lossy(text.get(usize::try_from(from).ok()?..)?).into_owned())
    }

    fn last_words(&self) -> String {
        let text = fs::read_to_string(self.job.log("server.txt")).unwrap_or_default();
        let lines: Vec<_> = text.lines().rev().filter(|line| !line.trim().is_empty()).take(3).collect();
        lines.into_iter().rev().collect::<Vec<_>>().join(" | ")
    }
}

fn configure(command: &mut Command, job: &Job, port: u16) {
    command.arg("serve").arg("--state").arg(job.state());
    if job.scenario.configured {
        command.arg("--config").arg(configuration(job));
    } else {
        command.arg(job.export()).args(["--name", job.scenario.export]);
    }
    if !job.scenario.isolated() {
        // Loopback only, and no word to the machine's own rpcbind.
        command.args(["--rpcbind", "off", "--listen", &format!("127.0.0.1:{port}")]);
    }
    command.args(job.scenario.server);
    command.env("HOME", job.work.join("home")).env("RUST_BACKTRACE", "1").env_remove("NOTIFY_SOCKET");
}

fn configuration(job: &Job) -> PathBuf {
    job.work.join("howdah.toml")
}

/// Writes the file again, as an editor does: a reader sees the old one or the new one.
fn write_configuration(job: &Job, more: &str) -> Result<()> {
    let (export, name) = (job.export(), job.scenario.export);
    let text = format!("[[export]]\nname = {name:?}\npath = {export:?}\nsquash = \"none\"\n\n{more}");
    let (path, draft) = (configuration(job), job.work.join("howdah.toml.new"));
    fs::write(&draft, text).with_context(|| format!("writing {}", draft.display()))?;
    fs::rename(&draft, &path).with_context(|| format!("replacing {}", path.display()))
}
