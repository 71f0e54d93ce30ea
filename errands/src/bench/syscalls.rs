//! `cargo xtask bench syscalls`: how many system calls the server makes per call of each row, as strace counts them.
//!
//! strace slows the server, so more calls arrive together than would otherwise: with one call in flight the figure is
//! the most that a call can take, with many it is about the least.
#![allow(clippy::print_stdout, reason = "the table is its purpose")]

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use anyhow::{Context, bail, ensure};
use rustix::process::{Pid, Signal, kill_process};
use tempfile::NamedTempFile;

use super::arguments::Syscalls;
use super::cores::{self, Cores};
use super::export::Export;
use super::generator::{self, Shape};
use super::load::{Counted, Scene};
use super::row::{self, Row};
use super::server::Server;
use super::session::Session;

/// Does it.
pub fn run(arguments: &Syscalls) -> anyhow::Result<()> {
    let rows = row::choose(&arguments.rows);
    ensure!(!rows.is_empty(), "no row starts with {}", arguments.rows.join(" or "));
    let found = Command::new("strace").arg("--version").stdout(Stdio::null()).status();
    found.context("running strace, which counts the calls; on Debian: apt-get install strace")?;
    let cores = Cores::choose()?;
    let export = Export::make(arguments.subject.directory.as_deref())?;
    let server = Server::obtain(&arguments.subject, export.path(), cores.server)?;
    cores::stay_on(cores.load)?;
    println!("System calls per call, over {} warm calls of each row", arguments.calls);
    for row in rows {
        for in_flight in [1, row.in_flight] {
            let counts = count(row, in_flight, arguments.calls, &export, &server)
                .with_context(|| format!("row {}", row.name))?;
            println!("{:<12} {in_flight:>3} in flight: {}", row.name, sentence(&counts, arguments.calls));
            if row.in_flight == 1 {
                break;
            }
        }
    }
    Ok(())
}

/// Runs the calls once to warm up and once under strace.
fn count(
    row: &Row,
    in_flight: u32,
    calls: u64,
    export: &Export,
    server: &Server,
) -> anyhow::Result<BTreeMap<String, u64>> {
    let mut session = Session::mount(server.address, &server.export)?;
    let (stream, _) = generator::connect(server.address)?;
    let mut load = || -> anyhow::Result<_> {
        let load = row.kind.load(&mut Scene { export, session: Some(&mut session), calls })?;
        Ok(Counted::new(load, calls))
    };
    let run = |mut load| generator::drive(&stream, &mut load, Shape::of_calls(in_flight), server.clock);
    run(load()?).context("warming up")?;
    let load = load()?;
    let strace = Strace::attach(server.process)?;
    run(load).context("under strace")?;
    strace.finish()
}

/// Such as "2.02: 1.00 recvfrom, 1.00 sendto, 0.02 epoll_wait".
fn sentence(counts: &BTreeMap<String, u64>, calls: u64) -> String {
    let per_call = |count: u64| count as f64 / calls as f64;
    let mut parts: Vec<_> = counts.iter().collect();
    parts.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
    let shown = parts.iter().map(|(name, count)| format!("{:.2} {name}", per_call(**count)));
    format!("{:.2}: {}", per_call(counts.values().sum()), shown.collect::<Vec<_>>().join(", "))
}

/// strace, attached to all threads of a process.
struct Strace {
    child: Child,
    /// Its table.
    output: NamedTempFile,
    /// Kept open, so that it may go on writing.
    _errors: BufReader<std::process::ChildStderr>,
}

impl Strace {
    fn attach(process: u32) -> anyhow::Result<Self> {
        let output = NamedTempFile::new().context("making a file for strace")?;
        let mut child = Command::new("strace")
            .args(["-f", "-c", "-o"])
            .arg(output.path())
            .args(["-p", &process.to_string()])
            .stderr(Stdio::piped())
            .spawn()
            .context("starting strace")?;
        let mut errors = BufReader::new(child.stderr.take().context("starting strace")?);
        let mut line = String::new();
        errors.read_line(&mut line).context("waiting for strace")?;
        if !line.contains("attached") {
            bail!("strace cannot attach to process {process}: {}", line.trim());
        }
        Ok(Self { child, output, _errors: errors })
    }

    /// Detaches; the counts by name.
    fn finish(mut self) -> anyhow::Result<BTreeMap<String, u64>> {
        let process = Pid::from_child(&self.child);
        kill_process(process, Signal::INT).context("ending strace")?;
        self.child.wait().context("ending strace")?;
        let text = std::fs::read_to_string(self.output.path()).context("reading what strace counted")?;
        Ok(text.lines().filter_map(counted).collect())
    }
}

/// A line of the table: share, seconds, microseconds per call, calls, perhaps errors, name.
fn counted(line: &str) -> Option<(String, u64)> {
    let words: Vec<_> = line.split_whitespace().collect();
    let (share, name) = (words.first()?.parse::<f64>(), words.last()?);
    let calls = words.get(3)?.parse().ok()?;
    (share.is_ok() && *name != "total").then(|| ((*name).to_owned(), calls))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_of_strace_is_understood() {
        assert_eq!(
            counted(" 50.00    0.000100           1       100         5 openat"),
            Some(("openat".into(), 100))
        );
        assert_eq!(
            counted(" 50.00    0.000100           1       100           fstat"),
            Some(("fstat".into(), 100))
        );
        assert_eq!(counted("100.00    0.000200           1       200         5 total"), None);
        assert_eq!(counted("% time     seconds  usecs/call     calls    errors syscall"), None);
        assert_eq!(counted("------ ----------- ----------- --------- --------- ----------------"), None);
    }
}
