//! Sockets that the service manager opened for us (LISTEN_FDS). The only file here with unsafe code: only the
//! environment says that these numbers are ours.
#![allow(unsafe_code)]

use std::os::fd::{FromRawFd, OwnedFd};

use anyhow::{Context, Result};

/// The sockets handed to this process; empty if there are none. To be called once, before any other file is
/// opened in their place.
pub fn inherited_sockets() -> Result<Vec<OwnedFd>> {
    let numbers =
        sd_notify::listen_fds().context("taking the sockets of the service manager (LISTEN_FDS)")?;
    let mut sockets = Vec::new();
    for number in numbers {
        // SAFETY: the service manager passes this descriptor to this process (LISTEN_PID is ours), and this
        // function, called once, is the only one that takes it.
        sockets.push(unsafe { OwnedFd::from_raw_fd(number) });
    }
    Ok(sockets)
}
