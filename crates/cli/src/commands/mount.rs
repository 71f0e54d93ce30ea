//! `howdah mount`.

use howdah_daemon::mounts::{MountRequest, MountSettings, remounted, run as mount};

use super::Failure;
use super::mount_background::start_in_background;
use crate::arguments::MountArguments;

/// Mounts, in the background unless it is asked to stay.
pub fn run(arguments: &MountArguments) -> Result<(), Failure> {
    let settings = MountSettings::parse(&arguments.source, &arguments.options).map_err(Failure::Usage)?;
    let request = MountRequest {
        directory: &arguments.directory,
        state: arguments.state.as_deref(),
        nonempty: arguments.nonempty,
        verbose: arguments.verbose,
        quiet: arguments.quiet,
        in_background: arguments.in_background,
    };
    if settings.remount {
        return Ok(remounted(&request, &settings)?);
    }
    if arguments.foreground || arguments.in_background {
        return Ok(mount(&request, &settings)?);
    }
    start_in_background(arguments)
}
