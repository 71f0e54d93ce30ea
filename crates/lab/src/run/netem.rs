//! Netem in a guest, in place of the wire to the server, where a cell says so.

use anyhow::{Context, Result, bail};

use super::Scene;
use super::guest::{Guest, placing};

/// Its number among the guests of a cell: after all clients.
const NUMBER: u8 = 200;
/// Its memory in MiB: for the packets that netem holds.
const MEMORY: u32 = 1024;

/// The guest, if the cell has one in the middle. It is gone when that is dropped.
pub fn start(scene: &Scene<'_>) -> Result<Option<Guest>> {
    let Some(netem) = scene.cell.spec.netem.as_ref().filter(|netem| netem.instead) else { return Ok(None) };
    let host = &scene.cell.spec.server.host;
    let wires: Vec<&String> = scene.network.host(host).addresses().keys().collect();
    let [wire] = wires[..] else { bail!("netem: host {host} is to be on one wire, not {}", wires.len()) };
    let placing = placing(scene.cell, scene.place, host, "netem", NUMBER, MEMORY);
    let words = ["tc", "qdisc", "add", "dev", "vec0", "root", "netem"].map(str::to_owned);
    let words: Vec<String> = words.into_iter().chain(netem.words.split(' ').map(str::to_owned)).collect();
    scene.record(host, "netem", &words);
    Guest::in_the_middle(scene, &placing, wire, &netem.words).context("netem").map(Some)
}
