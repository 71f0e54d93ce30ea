//! Running programs whose lines are shown and also looked at.

use std::io::{BufRead, BufReader, IsTerminal, stdout};
use std::process::{Command, ExitStatus, Stdio};

use anyhow::{Context, Result};

/// Who is to see a line. Where nobody watches, as in CI, what is kept is to be short enough to be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Show {
    Always,
    /// Progress: on a terminal alone.
    ToAPerson,
}

/// Whether a person watches.
pub fn is_watched() -> bool {
    stdout().is_terminal()
}

/// Runs a program to its end, gives each line of its standard output to `look` and shows it at once.
pub fn run_and_look(command: &mut Command, mut look: impl FnMut(&str) -> Show) -> Result<ExitStatus> {
    let watched = is_watched();
    let name = command.get_program().to_string_lossy().into_owned();
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .with_context(|| format!("starting {name}"))?;
    let output = child.stdout.take().context("a piped standard output")?;
    let mut reader = BufReader::new(output);
    let mut line = Vec::new();
    while reader.read_until(b'\n', &mut line).with_context(|| format!("reading what {name} says"))? > 0 {
        let text = String::from_utf8_lossy(&line);
        if look(text.trim_end()) == Show::Always || watched {
            print!("{text}");
        }
        line.clear();
    }
    child.wait().with_context(|| format!("waiting for {name}"))
}
