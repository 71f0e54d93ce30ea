//! Hosts that no wire connects reach each other through others: which wires they take, and the routes for it.

use std::collections::{BTreeMap, VecDeque};

use anyhow::{Result, bail};

use super::Scene;
use crate::plan::CellSpec;

/// The wires from one host to another, in order, each with whether it is gone along from its first host to its second; on
/// `wire` if they share it. None if there is no way.
pub fn wires_between(
    spec: &CellSpec,
    from: &str,
    to: &str,
    wire: Option<&str>,
) -> Option<Vec<(String, bool)>> {
    let wires = spec.all_wires();
    if from == to {
        return Some(Vec::new());
    }
    if let Some(name) = wire
        && let Some(wire) = wires.get(name)
        && [&wire.between.0, &wire.between.1].contains(&&from.to_owned())
        && [&wire.between.0, &wire.between.1].contains(&&to.to_owned())
    {
        return Some(vec![(name.to_owned(), wire.between.0 == from)]);
    }
    // Breadth first: the fewest wires.
    let mut ways: BTreeMap<String, Vec<(String, bool)>> = BTreeMap::from([(from.to_owned(), Vec::new())]);
    let mut next = VecDeque::from([from.to_owned()]);
    while let Some(host) = next.pop_front() {
        for (name, wire) in &wires {
            let forwards = wire.between.0 == host;
            if !forwards && wire.between.1 != host {
                continue;
            }
            let neighbour = if forwards { &wire.between.1 } else { &wire.between.0 };
            if !ways.contains_key(neighbour) {
                let mut way = ways[&host].clone();
                way.push((name.clone(), forwards));
                ways.insert(neighbour.clone(), way);
                next.push_back(neighbour.clone());
            }
        }
    }
    ways.remove(to)
}

/// Sets the routes that clients and servers need to reach each other through other hosts, which forward.
pub fn set(scene: &Scene<'_>) -> Result<()> {
    let spec = &scene.cell.spec;
    for client in spec.clients.values() {
        for server in spec.servers_of(client) {
            if let Some(way) = wires_between(spec, &client.host, server, client.wire.as_deref()) {
                set_along(scene, &client.host, server, &way)?;
            }
        }
    }
    Ok(())
}

fn set_along(scene: &Scene<'_>, client: &str, server: &str, way: &[(String, bool)]) -> Result<()> {
    let [Some((first, _)), Some((last, _))] = [way.first(), way.last()] else { return Ok(()) };
    if way.len() < 2 {
        return Ok(());
    }
    let mut host = client.to_owned();
    for (index, (wire, forwards)) in way.iter().enumerate() {
        if index > 0 {
            let forward = || std::fs::write("/proc/sys/net/ipv4/ip_forward", "1");
            scene.network.host(&host).run_in(forward)??;
        }
        if index + 1 < way.len() {
            route(scene, &host, &scene.network.address(server, last).to_string(), wire)?;
        }
        let ends = &scene.cell.spec.all_wires()[wire].between;
        host = if *forwards { ends.1.clone() } else { ends.0.clone() };
        if index > 0 {
            route(scene, &host, &scene.network.address(client, first).to_string(), wire)?;
        }
    }
    Ok(())
}

/// On `host`: what is for `address` goes over `wire`.
pub fn route(scene: &Scene<'_>, host: &str, address: &str, wire: &str) -> Result<()> {
    ip(scene, host, "route", &["route", "replace", address, "dev", wire])
}

/// Runs ip(8) on a host, and notes it under this name.
pub fn ip(scene: &Scene<'_>, host: &str, name: &str, words: &[&str]) -> Result<()> {
    let words: Vec<String> = ["ip"].iter().chain(words).map(|word| (*word).to_owned()).collect();
    scene.record(host, name, &words);
    let output = scene.network.host(host).command("ip").args(&words[1..]).output()?;
    if !output.status.success() {
        bail!("{} on {host}: {}", words.join(" "), String::from_utf8_lossy(&output.stderr).trim());
    }
    Ok(())
}
