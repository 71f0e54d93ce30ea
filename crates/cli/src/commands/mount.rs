//! `howdah mount`.

use super::Failure;
use crate::arguments::MountArguments;
use crate::mounting::{self, MountSettings};

/// Mounts, in the background unless it is asked to stay.
pub fn run(arguments: &MountArguments) -> Result<(), Failure> {
    let settings = MountSettings::parse(&arguments.source, &arguments.options).map_err(Failure::Usage)?;
    if settings.remount {
        return Ok(mounting::remounted(arguments, &settings)?);
    }
    if arguments.foreground || arguments.in_background {
        return Ok(mounting::run(arguments, &settings)?);
    }
    mounting::start_in_background(arguments)
}
