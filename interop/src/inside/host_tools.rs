//! A job that runs on the host, beside the server.

use std::path::Path;

use anyhow::Result;

use super::command::Running;
use super::environment::Values;
use crate::job::Job;

/// Starts the script.
pub fn start(job: &Job, script: &str, values: &Values) -> Result<Running> {
    start_with_log(job, script, values, "job.txt")
}

/// The same with another log.
pub fn start_with_log(job: &Job, script: &str, values: &Values, log: &str) -> Result<Running> {
    Running::start(Path::new("/bin/sh"), &job.log(log), |command| {
        command
            .arg("-eu")
            .arg(job.work.join("scripts").join(script))
            .current_dir(&job.work)
            .envs(values.iter().map(|(name, value)| (*name, value)));
    })
}
