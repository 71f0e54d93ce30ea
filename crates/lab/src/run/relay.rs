//! `howdah relay`, of this very program: clients reach it instead of the server.

use std::net::IpAddr;

use anyhow::{Context, Result};

use super::{Place, Running, Scene, server};
use crate::plan::{Cell, RelaySpec};
use crate::record::CommandRecord;

/// The last line of the screen that it shows when it is ready.
const READY: &str = "Stop: ";

/// The URL under which clients reach at a relay what a server has at `far`: one that passes through has the server's own exports.
pub fn url(relay: &RelaySpec, address: IpAddr, far: &str) -> String {
    let export = if relay.pass_through { path(far) } else { "/" };
    format!("nfs://{address}{export}?nfsport=2049&mountport=2049")
}

/// The path of a URL, with its first slash.
fn path(url: &str) -> &str {
    let place = url.split('?').next().unwrap_or(url).trim_start_matches("nfs://");
    place.find('/').map_or("/", |slash| &place[slash..])
}

/// The same URL of the whole server.
fn without_path(url: &str) -> String {
    let (place, query) = url.split_once('?').unwrap_or((url, ""));
    format!("{}?{query}", place.strip_suffix(path(url)).unwrap_or(place))
}

/// What it runs, if the cell has one. It starts without knowing the path, whatever other cells found.
pub fn command(cell: &Cell, place: &Place) -> Result<Option<CommandRecord>> {
    let Some(RelaySpec { host, pass_through, options }) = &cell.spec.relay else { return Ok(None) };
    let address = place
        .address_from(host, &cell.spec.server.host)
        .with_context(|| format!("cell.relay: host {} has no address", cell.spec.server.host))?;
    let far = server(cell.spec.server.kind)?.url(address);
    let own = |name: &str| place.temporary.join(name).display().to_string();
    let memory = format!("XDG_RUNTIME_DIR={}", own("relay-runtime"));
    let mut command = vec!["env".to_owned(), memory, place.howdah(), "relay".to_owned()];
    command.extend(["--state".to_owned(), own("relay-state"), "--log".to_owned(), "info".to_owned()]);
    match pass_through {
        true => command.extend(["--pass-through".to_owned(), without_path(&far)]),
        false => command.extend([&far, "--rpcbind", "off", "--squash", "none"].map(ToString::to_string)),
    }
    command.extend(options.iter().cloned());
    Ok(Some(CommandRecord { host: host.clone(), name: "relay".to_owned(), command }))
}

/// Starts it, and waits until it is ready.
pub fn start(scene: &Scene<'_>) -> Result<Option<Running>> {
    let Some(command) = command(scene.cell, scene.place)? else { return Ok(None) };
    std::fs::create_dir_all(scene.place.temporary.join("relay-runtime")).context("its runtime directory")?;
    scene.start_until(&command.host, &command.name, &command.command, READY).map(Some)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_relay_that_passes_through_is_told_of_the_server_and_has_its_exports() {
        let address = IpAddr::from([10, 0, 0, 1]);
        let passing = RelaySpec { pass_through: true, ..RelaySpec::default() };
        let far = "nfs://10.1.0.1/mnt/s?nfsport=2049&mountport=20048";
        assert_eq!(without_path(far), "nfs://10.1.0.1?nfsport=2049&mountport=20048");
        assert_eq!(url(&passing, address, far), "nfs://10.0.0.1/mnt/s?nfsport=2049&mountport=2049");
        let caching = RelaySpec::default();
        assert_eq!(url(&caching, address, far), "nfs://10.0.0.1/?nfsport=2049&mountport=2049");
    }
}
