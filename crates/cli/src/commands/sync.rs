//! `howdah sync`.

use std::fs::File;
use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, bail, ensure};
use howdah_client::connect::own_caller;
use howdah_client::url::url_of;
use howdah_daemon::host::start_command_log;
use howdah_daemon::mounts::{
    KIND, Layers, MountSettings, MountStatus, connect_for_mount, find_journal, journals_directory,
    lost_lines, mount_of_process, mounts, root,
};
use howdah_mount::{dead_mounts, from_root, mounted_on};
use howdah_units::{counted, size};

use super::Failure;
use crate::arguments::SyncArguments;
use crate::report;

/// When to say what is waited for, and how often.
const PATIENCE: Duration = Duration::from_secs(3);

/// Waits until all is safe on the server.
pub fn run(arguments: &SyncArguments) -> Result<(), Failure> {
    match arguments.target.to_str().map_or(Ok(None), url_of).map_err(|error| Failure::Usage(error.into()))? {
        Some(url) => send_journal(&url, arguments),
        None => Ok(sync_file(arguments)?),
    }
}

fn sync_file(arguments: &SyncArguments) -> Result<()> {
    let shown = arguments.target.display();
    let whole = std::path::absolute(&arguments.target).with_context(|| format!("finding {shown}"))?;
    let dead = dead_mounts(KIND).unwrap_or_default();
    if let Some((place, source)) = dead.iter().find(|(place, _)| whole.starts_with(place)) {
        let place = place.display();
        bail!(
            "the process of the mount on {place} was killed: howdah umount {place}, then howdah sync {source} sends what is in its journal"
        );
    }
    let path = from_root(&arguments.target).with_context(|| format!("finding {shown}"))?;
    let above = mounts(arguments.state.as_deref())?.into_iter().filter(|on| path.starts_with(on.directory()));
    let mount = above
        .max_by_key(|mount| mount.directory().as_os_str().len())
        .ok_or_else(|| anyhow!("{shown} is not on a mount of howdah; howdah mounts lists them"))?;
    if !mounted_on(mount.directory()).is_ok_and(|there| there.is_some_and(|(_, kind)| kind == KIND)) {
        // It was unmounted, and its process sends the rest: what is there now is another directory.
        let lost = lost_lines(&mount.flush()?);
        ensure!(lost.is_empty(), "{}", lost.join("; "));
        return Ok(());
    }
    let file = File::open(&path).with_context(|| format!("opening {shown}"))?;
    let waiting = || Some(left(&mount.status().ok()?));
    let synced = told_while(arguments.quiet, waiting, move || file.sync_all());
    synced.with_context(|| {
        format!(
            "the server refused a change of {shown} that was answered earlier (howdah refused lists them)"
        )
    })
}

/// Sends what a journal holds that no mount sends.
fn send_journal(url: &str, arguments: &SyncArguments) -> Result<(), Failure> {
    let mut settings = MountSettings::parse(url, &["behind".to_owned()]).map_err(Failure::Usage)?;
    settings.journals = arguments.journals.clone();
    let Some(found) = find_journal(&settings.url, arguments.journals.as_deref())? else {
        let place = journals_directory(arguments.journals.as_deref())?;
        return Err(anyhow!(
            "there is no journal of {url} in {}: name the server as it was named at the mount, and the directory by --journals if the \
             mount had journal=DIR",
            place.display()
        )
        .into());
    };
    start_command_log();
    if let Some(process) = found.summary.holder {
        let mount = mount_of_process(Some(process), arguments.state.as_deref());
        let directory = mount.map_or("the directory of that mount".to_owned(), |mount| {
            mount.directory().display().to_string()
        });
        return Err(
            anyhow!("process {process} sends the journal of {url}: type howdah sync {directory}").into()
        );
    }
    let client = connect_for_mount(&settings)?;
    let caller = settings.url.caller(own_caller());
    let layers = Layers::around(Arc::clone(&client), &settings, root(&*client, &caller)?)?;
    let its = layers.clone();
    let waiting = || {
        let report = its.behind.as_ref()?.report();
        Some(changes_left(report.waiting, report.oldest.unwrap_or_default().as_secs_f64()))
    };
    let count = layers.behind.as_ref().map_or(0, |behind| behind.report().waiting);
    let all = layers.clone();
    told_while(arguments.quiet, waiting, move || all.settle());
    let refused = layers.refused();
    for refused in &refused {
        report::complain(&format!("howdah: the server refused an earlier change: {refused}"));
    }
    if !refused.is_empty() {
        return Err(anyhow!(
            "{} refused by the server; howdah refused lists and saves what was refused",
            counted(refused.len() as u64, "change was", "changes were")
        )
        .into());
    }
    if !arguments.quiet {
        report::print(&format!(
            "{} safe on the server of {url}\n",
            counted(count, "change is", "changes are")
        ));
    }
    Ok(())
}

/// What a mount has not sent yet, and whether its server is there.
fn left(status: &MountStatus) -> String {
    let left = match &status.behind {
        Some(behind) => {
            changes_left(behind.changes_waiting, behind.oldest_change_seconds.unwrap_or_default())
        }
        None => format!("{} not yet on the server", size(status.dirty_bytes)),
    };
    let silent = status.silent_seconds.map(|seconds| format!("; it has not answered for {seconds} s"));
    left + &silent.unwrap_or_default()
}

fn changes_left(count: u64, oldest: f64) -> String {
    format!("{} not yet on the server, oldest {oldest:.1} s", counted(count, "change", "changes"))
}

/// Runs something that may take long, and says every few seconds what is left.
fn told_while<T: Send + 'static>(
    is_quiet: bool,
    waiting: impl Fn() -> Option<String>,
    run: impl FnOnce() -> T + Send + 'static,
) -> T {
    let (done, is_done) = mpsc::channel();
    let worker = thread::spawn(move || {
        let outcome = run();
        let _ = done.send(());
        outcome
    });
    let mut next = Instant::now() + PATIENCE;
    while is_done.recv_timeout(next.saturating_duration_since(Instant::now()))
        == Err(RecvTimeoutError::Timeout)
    {
        next += PATIENCE;
        if !is_quiet && let Some(left) = waiting() {
            report::complain(&format!("howdah: {left}"));
        }
    }
    worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_waited_for_is_said() {
        let mut status = json!({
            "directory": "/mnt", "source": "nfs://server/", "process": 7, "since": 0, "open_files": 0, "requests": 0, "read": 0,
            "written": 0, "read_per_second": 0.0, "written_per_second": 0.0, "connections": 1, "round_trip": null,
            "dirty_bytes": 2_000_000, "limits": []
        });
        let said =
            |status: &serde_json::Value| left(&serde_json::from_value(status.clone()).expect("a status"));
        assert_eq!(said(&status), "2.0 MB not yet on the server");
        status["silent_seconds"] = json!(14);
        assert_eq!(said(&status), "2.0 MB not yet on the server; it has not answered for 14 s");
    }
}
