//! `howdah capture`.

use std::fs::OpenOptions;
use std::io::IsTerminal;

use anyhow::{Context, anyhow};
use howdah_capture::Why;
use howdah_server::capture::{CALLS_MOST, SECONDS_MOST};

use super::Failure;
use crate::admin::the_one_server;
use crate::arguments::CaptureArguments;
use crate::capture::{CaptureRecording, RecordOutput, capture};
use crate::report;

/// What stands for standard output where a file is asked for.
const STANDARD_OUTPUT: &str = "-";

/// Records, and says what.
pub fn run(arguments: &CaptureArguments) -> Result<(), Failure> {
    check(arguments).map_err(Failure::Usage)?;
    let server = the_one_server(arguments.asked.server.as_ref(), arguments.asked.state.as_deref())?;
    let is_output = arguments.file == STANDARD_OUTPUT;
    let output = if is_output {
        RecordOutput::Standard
    } else {
        // What it holds goes when the capture has begun: it may be the record of another one that still runs.
        let file = OpenOptions::new().write(true).create(true).truncate(false).open(&arguments.file);
        RecordOutput::File(file.with_context(|| format!("writing {}", arguments.file))?)
    };
    let captured = capture(&server, arguments, output, std::io::stderr().is_terminal())?;
    tell(arguments, &captured, is_output)?;
    match captured.end.end {
        Why::Server | Why::Abandoned => Err(Failure::Told),
        _ => Ok(()),
    }
}

fn check(arguments: &CaptureArguments) -> anyhow::Result<()> {
    if arguments.time.is_zero() || arguments.time.as_secs_f64() > SECONDS_MOST {
        return Err(anyhow!("--time: more than 0, and at most a day"));
    }
    if arguments.calls == 0 || arguments.calls > CALLS_MOST {
        return Err(anyhow!("--calls: at least 1, and at most {CALLS_MOST}"));
    }
    Ok(())
}

/// The figures go beside the calls, if those go to standard output.
fn tell(arguments: &CaptureArguments, captured: &CaptureRecording, is_output: bool) -> anyhow::Result<()> {
    let text = if arguments.json {
        format!("{}\n", serde_json::to_string_pretty(captured).context("writing figures as JSON")?)
    } else {
        report::captured(captured)
    };
    if is_output {
        report::complain(&text.trim_end())
    } else {
        report::print(&text)
    }
    Ok(())
}
