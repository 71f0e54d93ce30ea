//! Running programs whose lines are shown and also looked at.

use std::io::{BufRead, BufReader};
use std::process::{Command, ExitStatus, Stdio};

use anyhow::{Context, Result};

/// Runs a program to its end, shows each line of its standard output at once and gives it to `look`.
pub fn run_and_look(command: &mut Command, mut look: impl FnMut(&str)) -> Result<ExitStatus> {
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
        print!("{text}");
        look(text.trim_end());
        line.clear();
    }
    child.wait().with_context(|| format!("waiting for {name}"))
}
