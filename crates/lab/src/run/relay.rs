//! `howdah relay`, of this very program: clients reach it instead of the server.

use std::net::IpAddr;

use anyhow::{Context, Result};

use super::{Place, Running, Scene, server};
use crate::plan::{Cell, RelaySpec};
use crate::record::CommandRecord;

/// The last line of the screen that it shows when it is ready.
const READY: &str = "Stop: ";

/// The URL under which clients reach it.
pub fn url(address: IpAddr) -> String {
    format!("nfs://{address}/?nfsport=2049&mountport=2049")
}

/// What it runs, if the cell has one. It starts without knowing the path, whatever other cells found.
pub fn command(cell: &Cell, place: &Place) -> Result<Option<CommandRecord>> {
    let Some(RelaySpec { host, options }) = &cell.spec.relay else { return Ok(None) };
    let address = place
        .address_from(host, &cell.spec.server.host)
        .with_context(|| format!("cell.relay: host {} has no address", cell.spec.server.host))?;
    let far = server(cell.spec.server.kind)?.url(address);
    let own = |name: &str| place.temporary.join(name).display().to_string();
    let memory = format!("XDG_RUNTIME_DIR={}", own("relay-runtime"));
    let mut command = vec!["env".to_owned(), memory, place.howdah(), "relay".to_owned(), far];
    command.extend(["--state".to_owned(), own("relay-state")]);
    command.extend(["--rpcbind", "off", "--squash", "none", "--log", "info"].map(str::to_owned));
    command.extend(options.iter().cloned());
    Ok(Some(CommandRecord { host: host.clone(), name: "relay".to_owned(), command }))
}

/// Starts it, and waits until it is ready.
pub fn start(scene: &Scene<'_>) -> Result<Option<Running>> {
    let Some(command) = command(scene.cell, scene.place)? else { return Ok(None) };
    std::fs::create_dir_all(scene.place.temporary.join("relay-runtime")).context("its runtime directory")?;
    scene.start_until(&command.host, &command.name, &command.command, READY).map(Some)
}
