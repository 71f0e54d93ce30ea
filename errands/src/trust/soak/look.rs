//! Looks at the processes of server and client, and at the latencies of calls since the last look.

use std::fs;
use std::path::PathBuf;
use std::time::Instant;

use anyhow::{Context, Result};
use howdah_lab::sample::processor_seconds;
use howdah_server::admin::{Procedure, Procedures, Workers};

use super::load::Load;
use super::record::{Process, Sample};
use crate::bench::ask;
use crate::trust::server::Server;

/// Looks, and knows what was seen last.
pub struct Looker {
    admin: PathBuf,
    began: Instant,
    life: u32,
    born: Instant,
    /// All procedures together, as they were counted at the last look.
    counted: Procedure,
}

impl Looker {
    /// At a server that was just started.
    pub fn begin(server: &Server, began: Instant) -> Result<Self> {
        let admin = server.admin().context("a server that is asked what it counted")?.to_owned();
        Ok(Self { admin, began, life: 1, born: Instant::now(), counted: Procedure::default() })
    }

    /// The server lives anew.
    pub fn restarted(&mut self) {
        (self.life, self.born, self.counted) = (self.life + 1, Instant::now(), Procedure::default());
    }

    /// One look.
    pub fn look(&mut self, server: &Server, load: &Load) -> Result<Sample> {
        let calls = self.calls()?;
        let workers: Workers = serde_json::from_str(&ask(&self.admin, "/v1/workers")?).context("workers")?;
        let seen = of_process(server.process().context("a server that runs")?)?;
        let server = Process {
            calls: calls.latency.calls,
            p50: calls.latency.p50_seconds,
            p99: calls.latency.p99_seconds,
            ..seen
        };
        Ok(Sample {
            at: self.began.elapsed().as_secs_f64(),
            life: self.life,
            age: self.born.elapsed().as_secs_f64(),
            server,
            kept_replies: workers.reply_cache.bytes as u64,
            client: client(load)?,
            models: load.models(),
        })
    }

    /// Calls since the last look, as the server counted them.
    fn calls(&mut self) -> Result<Procedure> {
        let text = ask(&self.admin, "/v1/procedures")?;
        let procedures: Procedures =
            serde_json::from_str(&text).context("reading what the server counted")?;
        let mut now = Procedure::default();
        procedures.procedures.iter().for_each(|procedure| now.add(procedure));
        let since = now.since(&self.counted);
        self.counted = now;
        Ok(since)
    }
}

fn client(load: &Load) -> Result<Process> {
    let seen = of_process(std::process::id())?;
    let Some(summary) = load.take_latencies().summary() else { return Ok(seen) };
    let quantile = |percent: f64| {
        let found = summary.percentiles.iter().find(|percentile| percentile.percent == percent);
        found.map(|percentile| percentile.ms / 1e3)
    };
    Ok(Process { calls: summary.count, p50: quantile(50.0), p99: quantile(99.0), ..seen })
}

/// What the kernel reports of a process.
fn of_process(id: u32) -> Result<Process> {
    let read = |name: &str| {
        let path = format!("/proc/{id}/{name}");
        fs::read_to_string(&path).with_context(|| format!("reading {path}"))
    };
    let (memory, status) = (read("smaps_rollup")?, read("status")?);
    let descriptors = fs::read_dir(format!("/proc/{id}/fd")).context("listing descriptors")?.count();
    Ok(Process {
        anonymous: field(&memory, "Pss_Anon").context("no Pss_Anon")? * 1024,
        files: field(&memory, "Pss_File").context("no Pss_File")? * 1024,
        resident: field(&memory, "Rss").context("no Rss")? * 1024,
        descriptors: descriptors as u64,
        threads: field(&status, "Threads").context("no Threads")?,
        processor: processor_seconds(&[id]),
        ..Process::default()
    })
}

/// The number after `NAME:` at the beginning of a line.
fn field(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
    line.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_is_seen() {
        let seen = of_process(std::process::id()).expect("it runs");
        assert!(seen.anonymous > 1 << 16 && seen.resident >= seen.anonymous / 2, "{seen:?}");
        assert!(seen.files > 1 << 16, "{seen:?}");
        assert!(seen.threads >= 1 && seen.descriptors >= 3, "{seen:?}");
        assert_eq!(field("Pss_Anon:  7 kB\nPss:  12 kB", "Pss"), Some(12));
    }
}
