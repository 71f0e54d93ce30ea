//! NULL: does nothing, for anybody.

use super::Nfs3Program;
use crate::{Refusal, Reply, Request};

/// Answers with nothing.
pub fn run(_: &Nfs3Program, _: &mut Request<'_, '_>, _: &mut Reply) -> Result<(), Refusal> {
    Ok(())
}
