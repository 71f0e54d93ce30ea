//! Runs the test programs of the workspace, several at once, and what is in the documentation.

use std::io::Read;
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Instant;

use anyhow::{Context as _, Result};

use super::processes::{Show, is_watched, run_and_look};
use super::programs::{Program, programs};
use super::step::{Context, Report};
use super::test_output::TestOutput;

/// Test programs that wait more than they work, the longest first: they start before others, and others run beside them.
const LONG: &[&str] = &[
    "interop conformance_wire",
    "crates/lab outage",
    "crates/server adversaries",
    "crates/cli doctor",
    "crates/cli copy",
    "crates/server pressure",
    "crates/store handles",
    "crates/cli cli",
    "crates/client client",
    "crates/server admin",
];

/// Programs that run at once beyond one for each CPU: the long ones leave CPUs idle.
const BESIDE: usize = 1;

/// Runs all tests of the workspace, and counts.
pub fn run(context: &Context) -> Result<Report> {
    let Some(mut programs) = programs(context)? else {
        return Ok(Report::failed("building the tests failed"));
    };
    let place = |name: &str| LONG.iter().position(|long| *long == name).unwrap_or(LONG.len());
    programs.sort_by_key(|program| place(&program.name));
    let mut report = run_all(&programs, thread::available_parallelism().map_or(1, usize::from) + BESIDE);
    report.add(documentation(context)?);
    Ok(report)
}

/// Runs programs, so many at once.
fn run_all(programs: &[Program], at_once: usize) -> Report {
    let (next, total) = (AtomicUsize::new(0), Mutex::new(Report::default()));
    thread::scope(|scope| {
        for _ in 0..at_once {
            scope.spawn(|| {
                while let Some(program) = programs.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let report = run_one(program)
                        .unwrap_or_else(|error| Report::failed(format!("{}: {error:#}", program.name)));
                    total.lock().expect("no thread panics while it holds it").add(report);
                }
            });
        }
    });
    total.into_inner().expect("no thread panicked")
}

/// Runs one to its end, then shows what it printed, so that two programs do not mix their lines.
fn run_one(program: &Program) -> Result<Report> {
    let began = Instant::now();
    let (mut reader, writer) = std::io::pipe().context("making a pipe")?;
    let mut command = Command::new(&program.executable);
    // What tests say that passed is shown too: some say that they were skipped, and why.
    command
        .arg("--show-output")
        .current_dir(&program.directory)
        .env("CARGO_MANIFEST_DIR", &program.directory)
        .stdin(Stdio::null())
        .stdout(writer.try_clone().context("copying a pipe")?)
        .stderr(writer);
    let mut child = command.spawn().context("starting it")?;
    // The command holds the pipe's other end, too.
    drop(command);
    let mut printed = Vec::new();
    reader.read_to_end(&mut printed).context("reading what it prints")?;
    let status = child.wait().context("waiting for it")?;
    let mut output = TestOutput::default();
    let mut shown = format!("     Running {} ({:.1} s)\n", program.name, began.elapsed().as_secs_f64());
    for line in String::from_utf8_lossy(&printed).lines() {
        if output.read(line) == Show::Always || is_watched() {
            shown += line;
            shown.push('\n');
        }
    }
    print!("{shown}");
    let mut report = output.report;
    if !status.success() && report.failed == 0 {
        report.add(Report::failed(format!("{} ended with {status}", program.name)));
    }
    Ok(report)
}

/// Runs the examples in the documentation.
fn documentation(context: &Context) -> Result<Report> {
    let mut command = Command::new(context.workspace.cargo());
    command.args(["test", "--quiet", "--workspace", "--doc", "--no-fail-fast", "--locked"]);
    let mut output = TestOutput::default();
    let status = run_and_look(command.current_dir(&context.workspace.root), |line| output.read(line))?;
    let mut report = output.report;
    if !status.success() && report.failed == 0 {
        report.add(Report::failed(format!("cargo test --doc ended with {status}")));
    }
    Ok(report)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn program(name: &str, script: &str, directory: &std::path::Path) -> Program {
        use std::os::unix::fs::PermissionsExt;
        let executable = directory.join(name);
        std::fs::write(&executable, format!("#!/bin/sh\n{script}\n")).expect("written");
        std::fs::set_permissions(&executable, PermissionsExt::from_mode(0o755)).expect("made executable");
        Program { name: name.to_owned(), directory: directory.to_owned(), executable }
    }

    #[test]
    fn programs_run_at_once_and_each_is_counted() {
        let directory = tempfile::tempdir().expect("a directory");
        let place = directory.path();
        // Each waits for the other one: one after the other they would fail.
        let meet = |own: &str, other: &str| {
            format!(
                "touch {own}; for i in $(seq 200); do test -e {other} && break; sleep 0.05; done; test -e {other} && \
                 echo 'test result: ok. 2 passed; 0 failed; 1 ignored'"
            )
        };
        let programs = [
            program("a", &meet("1", "2"), place),
            program("b", &meet("2", "1"), place),
            program("c", "echo dead >&2; exit 3", place),
        ];
        let report = run_all(&programs, 2);
        assert_eq!((report.passed, report.failed, report.skipped), (4, 1, 2), "{report:?}");
        assert!(report.remarks[0].starts_with("c ended with"), "{report:?}");
    }
}
