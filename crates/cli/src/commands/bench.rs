//! `howdah bench`.

use std::ffi::OsString;
use std::fs::OpenOptions;
use std::io::{ErrorKind, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::Arc;

use anyhow::Context;
use howdah_daemon::host::start_command_log;
use howdah_daemon::places::{Location, umask};
use howdah_workload::{BenchReport, Progress, Recording, Replay, Schedule, Speed};
use rustix::fs::Access;

use super::Failure;
use crate::arguments::{BenchArguments, InFlight, ProgressWhen};
use crate::bench::{BenchSession, Planned, Watch, is_at_server, measure, no_plans, open_place, plans};
use crate::report;

/// What stands for standard output where a file is asked for.
const STANDARD_OUTPUT: &str = "-";

/// Measures and reports.
pub fn run(arguments: &BenchArguments) -> Result<(), Failure> {
    bench(arguments).inspect_err(|failure| {
        let location = Location::try_from(OsString::from(&arguments.place));
        let is_root_at_server = location.is_ok_and(|location| location.is_root_at_server());
        if let Failure::Runtime(error) = failure
            && let Some(note) = report::squash_note(error, is_root_at_server)
        {
            report::complain(&note);
        }
    })
}

fn bench(arguments: &BenchArguments) -> Result<(), Failure> {
    start_command_log();
    let planned = planned(arguments).map_err(Failure::Usage)?;
    let replay = record(arguments, planned.seed)?;
    let opened = open_place(&arguments.place, planned.transport())?;
    let output = arguments.json.as_deref().map(output).transpose()?;
    let progress = Arc::new(Progress::new());
    let schedule = Schedule {
        warm_up: arguments.warm_up.unwrap_or(planned.schedule.warm_up),
        runs: arguments.runs.unwrap_or(planned.schedule.runs),
    };
    let watch = Watch::start(
        Arc::clone(&progress),
        if arguments.quiet { ProgressWhen::Never } else { arguments.progress },
    );
    let measured = measure(&BenchSession {
        opened: &opened,
        planned: &planned,
        replay: replay.as_ref(),
        schedule,
        beside_others: arguments.non_empty,
        keep: arguments.keep,
        progress,
        command: command(arguments, planned.seed),
    });
    // The line of progress ends before anything else is said.
    drop(watch);
    tell(&measured?, output, arguments.quiet)?;
    Ok(())
}

fn planned(arguments: &BenchArguments) -> anyhow::Result<Planned> {
    match arguments.replay {
        Some(_) => Ok(no_plans(&arguments.work)),
        None => plans(&arguments.work, is_at_server(&arguments.place)?),
    }
}

/// The record that is to be played: read before anything is begun.
fn record(arguments: &BenchArguments, seed: u64) -> anyhow::Result<Option<Replay>> {
    let Some(file) = &arguments.replay else { return Ok(None) };
    let recording = Recording::read(file)?;
    let speed = arguments.speed.unwrap_or(Speed::Times(1.0));
    let in_flight = arguments.work.in_flight.and_then(InFlight::fixed);
    Ok(Some(Replay { recording, speed, in_flight, seed, keep: arguments.keep }))
}

/// Where the figures go as JSON.
enum Output {
    Standard,
    File(String),
}

/// Before anything is measured: figures take longer than a path to correct.
fn output(name: &str) -> anyhow::Result<Output> {
    // Before a local directory resets it.
    umask();
    if name == STANDARD_OUTPUT {
        return Ok(Output::Standard);
    }
    // What it holds goes when there are figures to take its place; and it may lie in the directory that is to be empty.
    may_write(Path::new(name)).with_context(|| format!("writing {name}"))?;
    Ok(Output::File(name.to_owned()))
}

fn may_write(file: &Path) -> std::io::Result<()> {
    if file.is_dir() {
        return Err(ErrorKind::IsADirectory.into());
    }
    // Not opened: a pipe's reader would take that for all there is.
    if file.exists() {
        return Ok(rustix::fs::access(file, Access::WRITE_OK)?);
    }
    let above = file.parent().filter(|above| !above.as_os_str().is_empty()).unwrap_or(Path::new("."));
    Ok(rustix::fs::access(above, Access::WRITE_OK | Access::EXEC_OK)?)
}

/// With the user's umask, which a local directory that was measured may have reset.
fn write(name: &str, text: &str) -> std::io::Result<()> {
    let mode = 0o666 & !umask();
    let file = OpenOptions::new().write(true).create(true).truncate(true).mode(mode).open(name);
    file?.write_all(text.as_bytes())
}

fn tell(measured: &BenchReport, output: Option<Output>, is_quiet: bool) -> anyhow::Result<()> {
    let show = || {
        if !is_quiet {
            report::print(&report::bench(measured));
        }
    };
    let Some(output) = output else {
        show();
        return Ok(());
    };
    let mut text = serde_json::to_string_pretty(measured).context("writing figures as JSON")?;
    text.push('\n');
    match output {
        Output::Standard => report::print(&text),
        Output::File(name) => {
            // On the screen first: the disk may be full.
            show();
            write(&name, &text).with_context(|| format!("writing {name}"))?;
        }
    }
    Ok(())
}

/// The command that does the same again: as typed, with the seed.
fn command(arguments: &BenchArguments, seed: u64) -> String {
    let typed = std::env::args().skip(1).map(|word| quoted(&word));
    let mut words: Vec<String> = std::iter::once("howdah".to_owned()).chain(typed).collect();
    if arguments.work.seed.is_none() {
        words.extend(["--seed".to_owned(), seed.to_string()]);
    }
    words.join(" ")
}

/// A word as a shell takes it.
pub(super) fn quoted(word: &str) -> String {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "-_./:=,+%@[]".contains(letter);
    match !word.is_empty() && word.chars().all(plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_survive_a_shell() {
        for (word, shown) in [
            ("nfs://host/x", "nfs://host/x"),
            ("nfs://host/x?proto=udp", "'nfs://host/x?proto=udp'"),
            ("it's", r"'it'\''s'"),
            ("", "''"),
        ] {
            assert_eq!(quoted(word), shown);
        }
    }
}
