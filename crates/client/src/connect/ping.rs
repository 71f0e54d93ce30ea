//! Whether NFS version 3 is there at all: asked once, with a limit, before calls that may wait for ever.

use std::time::Duration;

use howdah_wire::nfs3;

use crate::channel::{Answer, CallError, Channel, Request};
use crate::waiting::wait_at_most;

/// Calls NULL. `None`: no answer in this time.
pub(super) fn ping(channel: &Channel, patience: Duration) -> Option<Result<Answer, CallError>> {
    // The first real call shows what a server makes of credentials.
    let pending = channel.start(Request::null(nfs3::PROGRAM, nfs3::VERSION));
    wait_at_most(pending, patience)
}
