//! What holds for some connections instead of what holds for all.

use super::Settings;
use crate::{Algorithm, Setting};

/// What somebody set for a connection, as a rule for all clients of its network. What is `None` is as for all others.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Own {
    /// Its send buffer.
    pub send_buffer: Option<Setting>,
    /// Its receive buffer.
    pub receive_buffer: Option<Setting>,
    /// By what it sends.
    pub congestion: Option<Setting<Algorithm>>,
}

impl Own {
    /// The send buffer that holds.
    pub(super) fn send_buffer(&self, all: &Settings) -> Setting {
        self.send_buffer.unwrap_or(all.send_buffer)
    }

    /// The receive buffer that holds.
    pub(super) fn receive_buffer(&self, all: &Settings) -> Setting {
        self.receive_buffer.unwrap_or(all.receive_buffer)
    }
}
