//! NULL: does nothing, for anybody.

use crate::service::Service;
use crate::{Refusal, Reply, Request};

/// Answers with nothing.
pub fn run(_: &Service, _: &mut Request<'_, '_>, _: &mut Reply) -> Result<(), Refusal> {
    Ok(())
}
