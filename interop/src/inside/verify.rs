//! After the job: what the client saw against what the server's disk holds, and why a job failed.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};

use crate::job::Job;

/// Checks the checksums that the client left against the files in the export.
pub fn files(job: &Job) -> Result<()> {
    let expected = job.work.join("expected.sha256");
    if !expected.exists() {
        return Ok(());
    }
    let output = Command::new("sha256sum")
        .args(["--check", "--strict", "--quiet"])
        .arg(&expected)
        .current_dir(job.export())
        .stdin(Stdio::null())
        .output()
        .context("starting sha256sum")?;
    let message = String::from_utf8_lossy(&output.stdout);
    ensure!(output.status.success(), "the server's files are not what the client saw: {}", message.trim());
    Ok(())
}

/// The job's last words, which say what failed.
pub fn why_job_failed(job: &Job, code: i32) -> String {
    let read = |directory: &Path| fs::read(directory.join("log/job.txt")).unwrap_or_default();
    let text = [read(&job.second()), read(&job.work)].concat();
    let text = String::from_utf8_lossy(&text);
    let said = text.lines().rev().find(|line| line.starts_with("failed: ")).or(text.lines().last());
    format!(
        "the job ended with {code}: {}",
        said.unwrap_or("(it said nothing)").trim_start_matches("failed: ")
    )
}
