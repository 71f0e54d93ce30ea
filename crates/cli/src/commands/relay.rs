//! `howdah relay`: `howdah serve` of a far server, with caches, or a relay that passes calls through.

use super::{Failure, serve};
use crate::arguments::RelayArguments;
use crate::pass_through;

/// Serves until a signal says to stop.
pub fn run(arguments: &RelayArguments) -> Result<(), Failure> {
    if arguments.pass_through {
        return pass_through::run(arguments);
    }
    serve::run(&arguments.clone().into_serve())
}
