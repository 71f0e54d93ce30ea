//! The admin socket: where it is, and what to say where it cannot be.

use std::io::ErrorKind;
use std::path::Path;

use anyhow::{Result, anyhow};
use howdah_net::LocalListener;

use crate::configuration::AdminSocket;
use crate::running::RunningFile;

/// Listens where the configuration says. A place that somebody named must do; without one the server serves all the same.
pub fn admin_socket(place: &AdminSocket, file: &RunningFile) -> Result<Option<LocalListener>> {
    match place {
        AdminSocket::Off => Ok(None),
        AdminSocket::At(path) => {
            let listener = LocalListener::bind(path).map_err(|error| explained(path, &error))?;
            file.show_admin_at(path)?;
            Ok(Some(listener))
        }
        AdminSocket::Auto => Ok(LocalListener::bind(&file.admin())
            .inspect_err(|error| {
                let why = explained(&file.admin(), error);
                tracing::warn!("{why}; howdah why, get and set do not reach this server");
            })
            .ok()),
    }
}

fn explained(path: &Path, error: &std::io::Error) -> anyhow::Error {
    let step = format!("making the admin socket {}", path.display());
    match error.kind() {
        ErrorKind::AddrInUse => {
            anyhow!(
                "{step}: somebody listens there, another howdah perhaps; --admin names another place, or off"
            )
        }
        ErrorKind::AlreadyExists => anyhow!("{step}: something that is no socket is there"),
        _ => anyhow!("{step}: {error}; --admin names another place, or off"),
    }
}
