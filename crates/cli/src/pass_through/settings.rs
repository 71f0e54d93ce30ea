//! What was typed, and what it means.

use std::net::SocketAddr;
use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use howdah_client::channel::Transport;
use howdah_client::url::{NfsUrl, url_of};
use howdah_config::{AdminSocket, default_listen, state_directory};
use howdah_relay::RelaySettings;

use crate::arguments::RelayArguments;

/// A relay as it is wanted.
pub struct PassingSettings {
    pub far: NfsUrl,
    pub listen: Vec<SocketAddr>,
    pub state: PathBuf,
    pub admin: AdminSocket,
    pub metrics: Option<SocketAddr>,
    pub relay: RelaySettings,
}

impl PassingSettings {
    /// Of these arguments.
    pub fn of(arguments: &RelayArguments) -> Result<Self> {
        let server = &arguments.server;
        let usual = RelaySettings::default();
        Ok(Self {
            far: far(&arguments.url.to_string_lossy())?,
            listen: if server.listen.is_empty() { default_listen() } else { server.listen.clone() },
            state: match &server.state {
                Some(state) => state.clone(),
                None => state_directory()
                    .context("finding the state directory: this user has no home; use --state DIR")?,
            },
            admin: server.admin.clone().unwrap_or(AdminSocket::Auto),
            metrics: server.metrics,
            relay: RelaySettings {
                connections_max: arguments.max_connections.unwrap_or(usual.connections_max),
                ..usual
            },
        })
    }
}

/// Sockets of one relayed connection: the near one and the far one.
const SOCKETS: usize = 2;
/// Descriptors for all else: listeners, pollers, pipes, the admin socket.
const OTHERS: usize = 64;

/// As many connections as are wanted, or fewer where so many open files would not do for them.
pub fn connections_within(wanted: usize, open_files: usize) -> usize {
    let others = OTHERS.min(open_files / 2);
    wanted.min((open_files - others) / SOCKETS).max(1)
}

/// The far server: all of it, by TCP.
fn far(text: &str) -> Result<NfsUrl> {
    let Some(url) = url_of(text)? else {
        bail!("{text:?} names no far server; type nfs://HOST or nfs://HOST:PORT");
    };
    let url: NfsUrl = url.parse()?;
    if !url.path.is_empty() {
        bail!(
            "a pass-through relay carries all exports of the far server: leave the path out of {url}; clients name it when they \
             mount"
        );
    }
    if url.options.transport == Some(Transport::Udp) {
        bail!("a pass-through relay carries TCP: leave proto=udp out of {url}");
    }
    if url.options.transport == Some(Transport::Quic) {
        bail!(
            "a pass-through relay carries TCP: leave proto=quic out of {url}, or relay without --pass-through"
        );
    }
    Ok(url)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_of_open_files_bounds_the_connections() {
        for (wanted, open_files, most) in
            [(4096, usize::MAX, 4096), (4096, 1024, 480), (100, 1024, 100), (4096, 64, 16), (4096, 1, 1)]
        {
            assert_eq!(connections_within(wanted, open_files), most, "{open_files}");
        }
    }

    #[test]
    fn a_far_server_is_named_without_a_path() {
        assert_eq!(far("nfs://far:3049?xprtsec=tls").expect("right").port, Some(3049));
        for (text, wanted) in [
            ("/export", "names no far server"),
            ("far:/export", "leave the path out"),
            ("nfs://far/export", "leave the path out"),
            ("nfs://far?proto=udp", "carries TCP"),
        ] {
            let why = far(text).expect_err("wrong").to_string();
            assert!(why.contains(wanted), "{text}: {why}");
        }
    }
}
