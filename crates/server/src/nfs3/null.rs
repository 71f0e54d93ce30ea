//! NULL: does nothing, for anybody.

use super::Nfs3;
use crate::{Refusal, Reply, Request};

/// Answers with nothing.
pub fn run(_: &Nfs3, _: &mut Request<'_, '_>, _: &mut Reply) -> Result<(), Refusal> {
    Ok(())
}
