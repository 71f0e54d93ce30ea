//! `howdah check`.

use super::Failure;
use crate::arguments::CheckArguments;
use crate::configuration::load_file;
use crate::report;

/// Says what the file means, or everything that is wrong in it.
pub fn run(arguments: &CheckArguments) -> Result<(), Failure> {
    let config = load_file(&arguments.file).map_err(Failure::Usage)?;
    report::print(&format!("{}\n{}", report::server(&config), report::exports(&config.exports, &[])));
    for warning in config.warnings() {
        report::print(&format!("\nnote: {warning}\n"));
    }
    Ok(())
}
