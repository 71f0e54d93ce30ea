//! `howdah relay`: `howdah serve` of a far server, with caches.

use super::{Failure, serve};
use crate::arguments::RelayArguments;

/// Serves until a signal says to stop.
pub fn run(arguments: &RelayArguments) -> Result<(), Failure> {
    serve::run(&arguments.clone().into_serve())
}
