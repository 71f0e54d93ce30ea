//! `howdah stat`: of files, or of a running server.

use anyhow::anyhow;

use super::{Failure, counted, file_stat};
use crate::arguments::StatArguments;

/// Shows places; without one, what a server was asked.
pub fn run(arguments: &StatArguments) -> Result<(), Failure> {
    if arguments.places.is_empty() {
        return counted::run(&arguments.counted, arguments.json);
    }
    let asked = &arguments.counted.asked;
    if asked.server.is_some() || asked.state.is_some() {
        return Err(Failure::Usage(anyhow!("--server and --state are for a server, and files were named")));
    }
    file_stat::run(arguments)
}
