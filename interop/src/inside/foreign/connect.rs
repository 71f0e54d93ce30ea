//! Our client, on its way to a server of other people.

use std::sync::Arc;

use anyhow::{Context, Result};
use howdah_client::Remote;
use howdah_client::connect::{ConnectOptions, connect as connect_to};
use howdah_client::url::NfsUrl;

use super::serving::{MOUNT_PORT, NFS_PORT, Place};
use crate::scenario::{Drive, Transport};

/// The export, as a file system: by its URL, as anybody would name it.
pub fn connect(place: &Place, drive: Drive, lanes: usize) -> Result<Arc<dyn Remote>> {
    let transport = match drive.transport {
        Transport::Tcp => "tcp",
        Transport::Udp => "udp",
    };
    let Place { address, export, .. } = place;
    let url = format!(
        "nfs://{address}{export}?nfsport={NFS_PORT}&mountport={MOUNT_PORT}&proto={transport}&lanes={lanes}&version={}",
        drive.version
    );
    let url: NfsUrl = url.parse().with_context(|| format!("reading {url}"))?;
    Ok(connect_to(&url, &ConnectOptions::default())?)
}
