//! `howdah nfsstat`.

use std::fs;
use std::io::ErrorKind;
use std::sync::Arc;

use anyhow::{Context, anyhow};
use howdah_client::channel::Transport;
use howdah_client::url::url_of;
use howdah_workload::Progress;
use howdah_workload::counters::{
    KernelClient, MOUNT_STATISTICS, MountedOperations, ProcedureCount, mount_statistics,
};
use serde_json::{Value, json};

use super::Failure;
use crate::arguments::{NfsstatArguments, WorkArguments};
use crate::bench::{BenchSession, Opened, Planned, measure, open_place, plans};
use crate::report;

/// What stands for this machine's kernel.
const LOCAL: &str = "local";

/// Shows counters.
pub fn run(arguments: &NfsstatArguments) -> Result<(), Failure> {
    let wrong = |why: &str| Err(Failure::Usage(anyhow!("{why}")));
    match arguments.place.as_str() {
        LOCAL if arguments.run.is_some() => {
            wrong("--run needs an nfs:// URL: the kernel's calls are counted anyway")
        }
        LOCAL => local(arguments.json),
        other if url_of(other).map_err(|error| Failure::Usage(error.into()))?.is_some() => remote(arguments),
        other => wrong(&format!(
            "{other} is no export of a server: type HOST:/EXPORT or nfs://HOST/EXPORT, or local for the kernel's mounts"
        )),
    }
}

/// The kernel's counters.
fn local(as_json: bool) -> Result<(), Failure> {
    let client = read(KernelClient::FILE)?.map(|text| KernelClient::parse(&text));
    let mounts = read(MOUNT_STATISTICS)?.map(|text| mount_statistics(&text));
    if as_json {
        let value = json!({ "kernel": client, "mounts": mounts.unwrap_or_default() });
        report::print(&format!("{value:#}\n"));
        return Ok(());
    }
    report::print(&report::kernel_counts(client.as_ref(), mounts.as_deref().unwrap_or_default()));
    for line in absent(client.is_none(), mounts.as_deref()) {
        report::print(&format!("{line}\n"));
    }
    Ok(())
}

/// The text of a file of the kernel's; none if it is not there.
fn read(file: &str) -> anyhow::Result<Option<String>> {
    match fs::read_to_string(file) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error).with_context(|| format!("reading {file}")),
    }
}

/// What there is nothing to say about.
fn absent(no_client: bool, mounts: Option<&[MountedOperations]>) -> Vec<String> {
    let mut lines = Vec::new();
    if no_client {
        lines.push(format!("{} is not there: the kernel's NFS client is not loaded", KernelClient::FILE));
    }
    match mounts {
        None => lines.push(format!("{MOUNT_STATISTICS} is not there")),
        Some([]) => lines.push("no NFS file system is mounted by the kernel".to_owned()),
        Some(_) => {}
    }
    lines
}

/// This program's own calls.
fn remote(arguments: &NfsstatArguments) -> Result<(), Failure> {
    let planned = arguments.run.map(|_| plans(&work(arguments), true)).transpose().map_err(Failure::Usage)?;
    let transport = planned.as_ref().map_or(Transport::Tcp, Planned::transport);
    let opened = open_place(&arguments.place, transport)?;
    if let Some(planned) = &planned {
        measure(&BenchSession {
            opened: &opened,
            planned,
            replay: None,
            schedule: planned.schedule,
            beside_others: arguments.non_empty,
            keep: false,
            progress: Arc::new(Progress::new()),
            command: String::new(),
        })?;
    }
    let counts = counts(&opened);
    match arguments.json {
        true => report::print(&format!("{:#}\n", as_json(arguments, &counts))),
        false => report::print(&report::client_counts(&counts)),
    }
    Ok(())
}

fn counts(opened: &Opened) -> Vec<ProcedureCount> {
    opened.place.counters.as_ref().map(|counters| counters.counts()).unwrap_or_default()
}

fn work(arguments: &NfsstatArguments) -> WorkArguments {
    WorkArguments {
        profile: arguments.run,
        scale: arguments.scale,
        size: arguments.size,
        ..WorkArguments::default()
    }
}

fn as_json(arguments: &NfsstatArguments, counts: &[ProcedureCount]) -> Value {
    let calls: u64 = counts.iter().map(|count| count.calls).sum();
    let retransmissions: u64 = counts.iter().map(|count| count.retransmissions).sum();
    json!({
        "place": arguments.place,
        "rpc": { "calls": calls, "retransmissions": retransmissions },
        "procedures": counts,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_there_is_said() {
        assert_eq!(absent(true, None).len(), 2);
        assert!(absent(false, Some(&[]))[0].contains("no NFS file system"));
    }
}
