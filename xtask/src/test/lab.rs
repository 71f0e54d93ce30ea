//! Experiments of the laboratory in their short form, as anybody would run them: that plans run, not what they find.

use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result};

use super::processes::{Show, run_and_look};
use super::step::{Context, Report};

/// One over NFS, one with a program of others; each takes about a minute, and a third of that with this level alone.
const PLANS: [(&str, &str); 2] = [("buffers-2008", "rtt=30ms"), ("bdp-article", "buffers=the product")];

/// `howdah lab run`: all cells ran, and a claim did not hold. On a machine that is busy that may be.
const CLAIM_REFUTED: i32 = 4;

/// What it may say where there can be no sandbox. Whatever else keeps it from making one is a fault.
const LACKING: [&str; 3] = ["/dev/net/tun", "namespaces", "/proc"];

/// Runs them; where there can be no sandbox it says why.
pub fn run(context: &Context) -> Result<Report> {
    let howdah = context.workspace.binary("howdah");
    if let Some(why) = refusal(&howdah)? {
        let remark = format!("plans of the laboratory: {why}");
        return Ok(if is_lacking(&why) { Report::skipped(remark) } else { Report::failed(remark) });
    }
    let results = context.workspace.target.join("lab");
    let mut report = Report::default();
    for (plan, level) in PLANS {
        report.add(run_plan(&howdah, plan, context.quick.then_some(level), &results.join(plan))?);
    }
    Ok(report)
}

/// Whether a sandbox is refused because this machine lacks something, and not because of a fault.
pub fn is_lacking(why: &str) -> bool {
    LACKING.iter().any(|thing| why.contains(thing))
}

/// Why there can be no sandbox here.
pub fn refusal(howdah: &Path) -> Result<Option<String>> {
    let mut command = Command::new(howdah);
    command.args(["lab", "shell", "--quiet", "--", "true"]).stdin(Stdio::null());
    let output = command.output().with_context(|| format!("starting {}", howdah.display()))?;
    let why = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    Ok((!output.status.success()).then_some(why))
}

fn run_plan(howdah: &Path, plan: &str, only: Option<&str>, to: &Path) -> Result<Report> {
    // Results of an earlier run would be gone on with.
    if to.exists() {
        std::fs::remove_dir_all(to).with_context(|| format!("removing {}", to.display()))?;
    }
    let mut command = Command::new(howdah);
    command.args(["lab", "run", plan, "--quick", "--to"]).arg(to);
    command.args(only.iter().flat_map(|level| ["--only", *level]));
    let status = run_and_look(&mut command, |_| Show::Always)?;
    let has_report = to.join("report.html").is_file();
    Ok(match status.code() {
        Some(0) if has_report => Report { passed: 1, ..Report::default() },
        Some(CLAIM_REFUTED) if has_report => {
            Report::passed(format!("{plan}: it ran, and a claim did not hold; is this machine busy?"))
        }
        _ => Report::failed(format!("{plan}: howdah lab run ended with {status}; see {}", to.display())),
    })
}
