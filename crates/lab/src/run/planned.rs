//! What a cell would run, before anything is made.

use std::path::Path;

use anyhow::Result;

use super::cell::place;
use super::{Job, client, server};
use crate::record::CommandRecord;

/// The commands of server and clients, in order. Directories that a run makes stand as words in capitals.
pub fn planned_commands(job: &Job, howdah: &Path) -> Result<Vec<CommandRecord>> {
    let place = place(job, howdah, Path::new("TEMPORARY"), Path::new("LOGS"));
    let mut commands = server(job.cell.spec.server.kind)?.commands(&job.cell, &place);
    for (name, spec) in &job.cell.spec.clients {
        commands.extend(client(spec.kind, name)?.commands(&job.cell, &place)?);
    }
    Ok(commands)
}
