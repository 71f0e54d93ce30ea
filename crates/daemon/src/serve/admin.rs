//! The admin socket: where it is, and what to say where it cannot be.

use std::io::ErrorKind;
use std::net::SocketAddr;
use std::path::Path;

use anyhow::{Context, Result, anyhow};
use howdah_config::AdminSocket;
use howdah_net::{Listener, LocalListener};

use crate::host::RunningFile;

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

/// Listens where monitors ask.
pub fn metrics_socket(address: SocketAddr) -> Result<Listener> {
    let step = || format!("listening on {address} for metrics; --metrics names another place");
    let listener = Listener::bind(address).with_context(step)?;
    tracing::info!("metrics: http://{}/metrics", listener.address());
    Ok(listener)
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
