//! How a command fails, and its exit code. One rule for all commands:
//!
//! - 0: done.
//! - 1: it failed: a server, a disk or the system refused, or something is not there.
//! - 2: wrong usage: arguments, a configuration or a plan, with which it cannot succeed however the world is.
//! - 3 and above, and what `howdah doctor` ends with, are answers that the help of the command names.

use std::fmt;
use std::process::ExitCode;

use howdah_config::Problems;

/// A failure.
#[derive(Debug)]
pub enum Failure {
    /// The arguments or the configuration are wrong: exit code 2, as for flags that do not exist.
    Usage(anyhow::Error),
    /// The world is: exit code 1.
    Runtime(anyhow::Error),
    /// The world is, and each trouble has been reported already: exit code 1.
    Told,
    /// A command that was run for somebody ended with this code, which is passed on.
    Ended(ExitCode),
}

impl Failure {
    /// The exit code.
    pub fn code(&self) -> ExitCode {
        match self {
            Self::Usage(_) => ExitCode::from(2),
            Self::Runtime(_) | Self::Told => ExitCode::from(1),
            Self::Ended(code) => *code,
        }
    }
}

impl From<anyhow::Error> for Failure {
    fn from(error: anyhow::Error) -> Self {
        Self::Runtime(error)
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Self::Usage(error) | Self::Runtime(error)) = self else { return Ok(()) };
        match error.downcast_ref::<Problems>() {
            // They name the file, line by line, in the form that editors understand.
            Some(problems) => problems.fmt(f),
            None => write!(f, "howdah: {error:#}"),
        }
    }
}
