//! The howdah that is served from: a process that is killed and comes back on the same port and state.

use std::ffi::OsStr;
use std::fs::File;
use std::net::{IpAddr, Ipv4Addr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use howdah_net::Namespace;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process, waitid};

/// Its port. The network is a sandbox's own, so nobody else can have it.
pub const PORT: u16 = 2049;
/// A server that does not listen after this long has not started.
const START: Duration = Duration::from_secs(20);
/// One that has not ended after this long, asked to, hangs.
const END: Duration = Duration::from_secs(30);
/// Has a process end when its parent does.
const SETPRIV: &str = "setpriv";
/// How often it is tried: a port that opens is no event.
const LOOK: Duration = Duration::from_millis(5);

/// Where a server is, and from where it is called.
#[derive(Clone)]
pub struct Site {
    /// Its address.
    pub address: IpAddr,
    /// The hosts of its clients and its own, if they are not this process's.
    pub hosts: Option<[Namespace; 2]>,
}

impl Site {
    const LOOPBACK: Self = Self { address: IpAddr::V4(Ipv4Addr::LOCALHOST), hosts: None };

    /// A command where the clients are, which dies with us, whatever ends us.
    pub fn client_command(&self, program: &Path) -> Command {
        self.command(0, program)
    }

    fn command(&self, host: usize, program: &Path) -> Command {
        let mut command = match &self.hosts {
            Some(hosts) => hosts[host].command(SETPRIV),
            None => Command::new(SETPRIV),
        };
        command.args(["--pdeathsig", "KILL", "--"]).arg(program).stdin(Stdio::null());
        command
    }

    fn is_open(&self) -> bool {
        let connect = || TcpStream::connect((self.address, PORT)).is_ok();
        match &self.hosts {
            Some([_, server]) => server.run_in(connect).is_ok_and(|is_open| is_open),
            None => connect(),
        }
    }
}

/// A server, running or killed.
pub struct Server {
    binary: PathBuf,
    offer: Offer,
    log: PathBuf,
    child: Option<Child>,
}

/// What is served, where, and to which clients.
pub struct Offer {
    /// The directory.
    pub export: PathBuf,
    /// Where the server keeps its state, and we what it says.
    pub place: PathBuf,
    /// Where the server is.
    pub site: Site,
    /// Where it is asked what it counted, if it is.
    pub admin: Option<PathBuf>,
    /// Who may come; nobody named: everybody.
    pub clients: Vec<String>,
    /// Whether the port is registered with rpcbind.
    pub is_registered: bool,
    /// The other flags of `howdah serve`.
    pub flags: Vec<String>,
    /// What is relayed in place of the directory, if it is a relay.
    pub relayed: Option<Relayed>,
}

/// The URL of what a relay relays.
pub enum Relayed {
    /// Through caches.
    Cached(String),
    /// Passed through.
    Passed(String),
}

impl Offer {
    /// `export` of this directory, with the state beside it, to loopback.
    pub fn below(place: &Path) -> Self {
        Self {
            export: place.join("export"),
            place: place.to_owned(),
            site: Site::LOOPBACK,
            admin: None,
            clients: Vec::new(),
            is_registered: false,
            flags: Vec::new(),
            relayed: None,
        }
    }

    fn state(&self) -> PathBuf {
        self.place.join("state")
    }

    /// The arguments of a server of this directory or URL.
    fn serve(&self, command: &mut Command, what: &OsStr) -> Result<()> {
        match self.clients.is_empty() {
            true => command.arg(what).args(["--squash", "none", "--privileged-ports=never"]),
            false => command.arg("--config").arg(self.configuration()?),
        };
        command.args(["--rpcbind", if self.is_registered { "auto" } else { "off" }]);
        Ok(())
    }

    /// The configuration of a server that not everybody may come to.
    fn configuration(&self) -> Result<PathBuf> {
        let file = self.place.join("howdah.toml");
        let text = format!(
            "[[export]]\nname = \"/\"\npath = {:?}\nprivileged_ports = false\nsquash = \"none\"\nclients = {:?}\n",
            self.export, self.clients
        );
        std::fs::write(&file, text).with_context(|| format!("writing {}", file.display()))?;
        Ok(file)
    }
}

impl Server {
    /// Starts one that serves `export` of this directory to loopback, and waits until it listens.
    pub fn start(binary: &Path, place: &Path) -> Result<Self> {
        Self::start_with(binary, Offer::below(place))
    }

    /// Starts one that serves what is offered, and waits until it listens.
    pub fn start_with(binary: &Path, offer: Offer) -> Result<Self> {
        // The server makes its state itself, for nobody else to change: this process has no umask.
        std::fs::create_dir_all(&offer.export)
            .with_context(|| format!("making {}", offer.export.display()))?;
        let log = offer.place.join("server.txt");
        let mut server = Self { binary: binary.to_owned(), offer, log, child: None };
        server.start_again()?;
        server.wait()?;
        Ok(server)
    }

    /// What is served.
    pub fn export(&self) -> &Path {
        &self.offer.export
    }

    /// The URL of a path of the export; `options` begin with `&`.
    pub fn url(&self, path: &str, options: &str) -> String {
        let address = self.offer.site.address;
        format!("nfs://{address}/{path}?nfsport={PORT}&mountport={PORT}{options}")
    }

    /// Where it is.
    pub fn site(&self) -> &Site {
        &self.offer.site
    }

    /// Where it is asked what it counted.
    pub fn admin(&self) -> Option<&Path> {
        self.offer.admin.as_deref()
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

    /// Asks it to end, which lets calls in progress end, and waits until it has.
    pub fn end(&mut self) -> Result<()> {
        self.must_run()?;
        let mut child = self.child.take().context("a server that runs")?;
        kill_process(Pid::from_child(&child), Signal::TERM).context("asking the server to end")?;
        let give_up = Instant::now() + END;
        while child.try_wait().context("waiting for the server to end")?.is_none() {
            if Instant::now() > give_up {
                // It is not waited for any longer, and not left either.
                let _ = child.kill();
                let _ = child.wait();
                bail!("the server has not ended {END:?} after SIGTERM");
            }
            std::thread::sleep(LOOK);
        }
        Ok(())
    }

    /// Kills it, and waits until nothing of it runs.
    pub fn kill(&mut self) -> Result<()> {
        self.must_run()?;
        let mut child = self.child.take().context("a server that runs")?;
        child.kill().context("killing the server")?;
        child.wait().context("waiting for the killed server")?;
        Ok(())
    }

    /// Runs this while no thread of it runs, if any does: who reads a file that is being written may see half of a page.
    ///
    /// # Errors
    /// It cannot be stopped, or goes on no more.
    pub fn while_stopped<T>(&self, run: impl FnOnce() -> T) -> Result<T> {
        let Some(child) = &self.child else { return Ok(run()) };
        let process = Pid::from_child(child);
        kill_process(process, Signal::STOP).context("stopping the server")?;
        // waitid returns when its last thread has come back from its call.
        let stopped = waitid(
            WaitId::Pid(process),
            WaitIdOptions::STOPPED | WaitIdOptions::EXITED | WaitIdOptions::NOWAIT,
        );
        let outcome = run();
        kill_process(process, Signal::CONT).context("letting the server go on")?;
        stopped.context("waiting until the server has stopped")?;
        Ok(outcome)
    }

    /// Starts it again where it was, and does not wait: its clients do.
    pub fn start_again(&mut self) -> Result<()> {
        self.child = Some(self.command()?.spawn().context("starting the server")?);
        Ok(())
    }

    /// Waits until it takes connections.
    pub fn wait(&mut self) -> Result<()> {
        let give_up = Instant::now() + START;
        while !self.offer.site.is_open() {
            self.must_run()?;
            ensure!(
                Instant::now() < give_up,
                "the server does not listen {START:?} after its start; it said: {}",
                self.last_words()
            );
            std::thread::sleep(LOOK);
        }
        Ok(())
    }

    fn command(&self) -> Result<Command> {
        let offer = &self.offer;
        let mut command = offer.site.command(1, &self.binary);
        match &offer.relayed {
            Some(Relayed::Passed(url)) => {
                command.args(["relay", "--pass-through", url]);
            }
            Some(Relayed::Cached(url)) => offer.serve(command.arg("relay"), OsStr::new(url))?,
            None => offer.serve(command.arg("serve"), offer.export.as_os_str())?,
        }
        command.arg("--admin").arg(offer.admin.as_deref().unwrap_or(Path::new("off")));
        command.args(["--listen", &format!("{}:{PORT}", offer.site.address), "--state"]).arg(offer.state());
        command.args(&offer.flags).stdout(self.open_log()?).stderr(self.open_log()?);
        Ok(command)
    }

    /// What it said so far.
    pub fn said(&self) -> Result<String> {
        let text = std::fs::read(&self.log).with_context(|| format!("reading {}", self.log.display()))?;
        Ok(String::from_utf8_lossy(&text).into_owned())
    }

    fn open_log(&self) -> Result<File> {
        let log = File::options().create(true).append(true).open(&self.log);
        log.with_context(|| format!("opening {}", self.log.display()))
    }

    fn last_words(&self) -> String {
        let text = self.said().unwrap_or_default();
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
