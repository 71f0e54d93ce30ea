//! The `howdah` binary, all of which is in the library beside it.

use std::process::ExitCode;

fn main() -> ExitCode {
    howdah::run()
}
