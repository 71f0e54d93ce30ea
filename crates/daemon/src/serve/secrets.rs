//! The secrets of a server: what signs its handles, and what names it.

use anyhow::{Context, Result};
use howdah_config::ServerConfig;
use howdah_server::{cluster_handle_key, server_name};

use crate::host::{cluster_key, handle_key};

/// How much of the key in the state directory is used.
const SIZE: usize = 16;

/// The secrets of a server.
#[derive(Debug, Clone, Copy)]
pub struct ServerSecrets {
    /// Signs handles: that of the cluster, if the server is a head of one.
    pub handles: [u8; SIZE],
    /// This server's alone.
    pub own: [u8; SIZE],
}

impl ServerSecrets {
    /// Reads them; makes the server's own if there is none.
    pub fn read(config: &ServerConfig) -> Result<Self> {
        let own = *handle_key(&config.state)?.first_chunk::<SIZE>().context("the handle key is too short")?;
        let handles = match &config.cluster {
            Some(cluster) => cluster_handle_key(&cluster_key(&cluster.key_file)?, &cluster.id),
            None => own,
        };
        Ok(Self { handles, own })
    }

    /// The name of all heads of the cluster together, which reveals nothing of the secrets.
    pub fn cluster_name(&self) -> [u8; SIZE] {
        server_name(self.handles)
    }

    /// A number that is this server's own and reveals nothing of the secrets.
    pub fn head(&self) -> u64 {
        (u128::from_be_bytes(server_name(self.own)) >> 64) as u64
    }
}
