//! What is kept with a session of NFSv4.

use howdah_wire::nfs4::create_session::ChannelSizes;

/// What is kept with a session.
#[derive(Debug, Clone, Copy)]
pub struct SessionData {
    /// The sizes of its channel for calls.
    pub fore: ChannelSizes,
}
