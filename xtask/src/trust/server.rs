//! The howdah that is served from: a process that is killed and comes back on the same port and state.

use std::fs::File;
use std::net::{Ipv4Addr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};

/// Its port. The network is a sandbox's own, so nobody else can have it.
const PORT: u16 = 2049;
/// A server that does not listen after this long has not started.
const START: Duration = Duration::from_secs(20);
/// How often it is tried: a port that opens is no event.
const LOOK: Duration = Duration::from_millis(5);

/// A server, running or killed.
pub struct Server {
    binary: PathBuf,
    export: PathBuf,
    state: PathBuf,
    log: PathBuf,
    flags: Vec<String>,
    child: Option<Child>,
}

impl Server {
    /// Starts one that serves `export` of this directory to loopback, and waits until it listens.
    pub fn start(binary: &Path, place: &Path, flags: &[&str]) -> Result<Self> {
        let [export, state] = ["export", "state"].map(|name| place.join(name));
        for directory in [&export, &state] {
            std::fs::create_dir_all(directory).with_context(|| format!("making {}", directory.display()))?;
        }
        let mut server = Self {
            binary: binary.to_owned(),
            export,
            state,
            log: place.join("server.txt"),
            flags: flags.iter().map(|&flag| flag.to_owned()).collect(),
            child: None,
        };
        server.start_again()?;
        server.wait()?;
        Ok(server)
    }

    /// What is served.
    pub fn export(&self) -> &Path {
        &self.export
    }

    /// The URL of a path of the export; `options` begin with `&`.
    pub fn url(&self, path: &str, options: &str) -> String {
        format!("nfs://127.0.0.1/{path}?nfsport={PORT}&mountport={PORT}{options}")
    }

    /// Its process.
    pub fn process(&self) -> Option<u32> {
        self.child.as_ref().map(Child::id)
    }

    /// An error if it ended by itself.
    pub fn must_run(&mut self) -> Result<()> {
        let Some(child) = &mut self.child else { bail!("the server was killed") };
        match child.try_wait().context("looking at the server")? {
            None => Ok(()),
            Some(status) => bail!("the server ended by itself, {status}; it said: {}", self.last_words()),
        }
    }

    /// Kills it, and waits until nothing of it runs.
    pub fn kill(&mut self) -> Result<()> {
        self.must_run()?;
        let mut child = self.child.take().context("a server that runs")?;
        child.kill().context("killing the server")?;
        child.wait().context("waiting for the killed server")?;
        Ok(())
    }

    /// Starts it again where it was, and does not wait: its clients do.
    pub fn start_again(&mut self) -> Result<()> {
        let log = self.open_log()?;
        self.child = Some(self.command().stdout(log).spawn().context("starting the server again")?);
        Ok(())
    }

    /// Waits until it takes connections.
    pub fn wait(&mut self) -> Result<()> {
        let give_up = Instant::now() + START;
        while TcpStream::connect((Ipv4Addr::LOCALHOST, PORT)).is_err() {
            self.must_run()?;
            ensure!(Instant::now() < give_up, "the server does not listen {START:?} after its start");
            std::thread::sleep(LOOK);
        }
        Ok(())
    }

    fn command(&self) -> Command {
        // It dies with us, whatever ends us.
        let mut command = Command::new("setpriv");
        command.args(["--pdeathsig", "KILL", "--"]).arg(&self.binary).arg("serve").arg(&self.export);
        command.args(["--rpcbind", "off", "--squash", "none", "--admin", "off"]);
        command
            .args(["--listen", &format!("127.0.0.1:{PORT}"), "--state"])
            .arg(&self.state)
            .args(&self.flags);
        command.stdin(Stdio::null());
        if let Ok(log) = self.open_log() {
            command.stderr(log);
        }
        command
    }

    fn open_log(&self) -> Result<File> {
        let log = File::options().create(true).append(true).open(&self.log);
        log.with_context(|| format!("opening {}", self.log.display()))
    }

    fn last_words(&self) -> String {
        let text = std::fs::read_to_string(&self.log).unwrap_or_default();
        let lines: Vec<_> = text.lines().rev().filter(|line| !line.trim().is_empty()).take(3).collect();
        lines.into_iter().rev().collect::<Vec<_>>().join(" | ")
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Some(child) = &mut self.child {
            // If it has ended already there is nothing to end.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}
