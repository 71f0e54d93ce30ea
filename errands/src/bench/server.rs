//! The server that is measured: built and started on its core, or running already.

use std::fs;
use std::io::{BufRead, BufReader};
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};

use anyhow::{Context, bail, ensure};
use tempfile::TempDir;

use super::arguments::Subject;
use super::cores;
use xtask::clock::ProcessClock;

/// Its package.
const PACKAGE: &str = "howdah";

/// The server; ended when dropped, if it was started here.
#[derive(Debug)]
pub struct Server {
    /// Where it listens.
    pub address: SocketAddr,
    /// The name of the export.
    pub export: String,
    /// Its process.
    pub process: u32,
    /// Its processor time.
    pub clock: ProcessClock,
    child: Option<Child>,
    /// Kept open, so that it may go on printing; and its state.
    _kept: Option<(BufReader<ChildStdout>, TempDir)>,
}

impl Server {
    /// The one that was asked for, on this core, serving this directory.
    pub fn obtain(subject: &Subject, directory: &Path, core: usize) -> anyhow::Result<Self> {
        if let (Some(address), Some(process)) = (subject.address, subject.pid) {
            let process = u32::try_from(process).context("a process id is positive")?;
            let clock = ProcessClock::of(process)?;
            return Ok(Self {
                address,
                export: subject.export.clone(),
                process,
                clock,
                child: None,
                _kept: None,
            });
        }
        let binary = subject.server_bin.clone().map_or_else(build, Ok)?;
        cores::while_on(core, || start(&binary, directory, &subject.server_argument))
    }
}

impl Server {
    /// One that was started here, on whatever cores the kernel gives it.
    pub fn obtain_anywhere(subject: &Subject, directory: &Path) -> anyhow::Result<Self> {
        let binary = subject.server_bin.clone().map_or_else(build, Ok)?;
        start(&binary, directory, &subject.server_argument)
    }
}

impl Server {
    /// Memory that it holds, in bytes.
    pub fn resident(&self) -> anyhow::Result<u64> {
        let path = format!("/proc/{}/statm", self.process);
        let text =
            fs::read_to_string(&path).with_context(|| format!("reading {path}; has the server ended?"))?;
        let pages: u64 =
            text.split(' ').nth(1).and_then(|field| field.parse().ok()).context("no number of pages")?;
        Ok(pages * rustix::param::page_size() as u64)
    }
}

/// Loads come from ordinary ports, which a server that runs as root refuses its own host by default. An older howdah, to
/// compare with, knows no such rule.
fn ports(binary: &Path) -> anyhow::Result<Option<&'static str>> {
    let help = Command::new(binary).args(["serve", "--help"]).output();
    let help = help.with_context(|| format!("starting {}", binary.display()))?;
    let has_rule = String::from_utf8_lossy(&help.stdout).contains("--privileged-ports[=");
    Ok(has_rule.then_some("--privileged-ports=never"))
}

fn start(binary: &Path, directory: &Path, further: &[String]) -> anyhow::Result<Server> {
    let step = || format!("starting {}", binary.display());
    let state = TempDir::new().context("making a directory for the server's state")?;
    let mut child = Command::new(binary)
        .arg("serve")
        .arg(directory)
        .args(["--listen", "127.0.0.1:0", "--rpcbind", "off", "--squash", "none", "--state"])
        .arg(state.path())
        .args(ports(binary)?)
        .args(further)
        .stdout(Stdio::piped())
        .spawn()
        .with_context(step)?;
    let mut output = BufReader::new(child.stdout.take().with_context(step)?);
    let mut server = Server {
        address: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
        export: "/".to_owned(),
        process: child.id(),
        clock: ProcessClock::of(child.id())?,
        child: Some(child),
        _kept: None,
    };
    server.address.set_port(printed_port(&mut output).with_context(step)?);
    server._kept = Some((output, state));
    Ok(server)
}

/// The port in the mount commands that it prints.
fn printed_port(output: &mut impl BufRead) -> anyhow::Result<u16> {
    for line in output.lines() {
        let line = line?;
        let after =
            line.split_once(",port=").or_else(|| line.split_once("127.0.0.1:")).map(|(_, after)| after);
        let digits =
            after.map(|after| after.split(|letter: char| !letter.is_ascii_digit()).next().unwrap_or(""));
        if let Some(port) = digits.and_then(|digits| digits.parse().ok()) {
            return Ok(port);
        }
    }
    bail!("it ended before it said its port")
}

/// Builds howdah, and says where it is.
fn build() -> anyhow::Result<PathBuf> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args([
            "build",
            "--profile",
            "dist",
            "--package",
            PACKAGE,
            "--message-format",
            "json-render-diagnostics",
        ])
        .stderr(Stdio::inherit())
        .output()
        .context("building howdah: running cargo")?;
    ensure!(output.status.success(), "building howdah: {}", output.status);
    let executable = |line: &[u8]| {
        let message: serde_json::Value = serde_json::from_slice(line).ok()?;
        message["executable"].as_str().map(PathBuf::from)
    };
    output
        .stdout
        .split(|&byte| byte == b'\n')
        .find_map(executable)
        .context("building howdah: no binary was built")
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
