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

/// Sets the routes that clients and server need to reach each other through other hosts, which forward.
pub fn set(scene: &Scene<'_>) -> Result<()> {
    let spec = &scene.cell.spec;
    let server = &spec.server.host;
    for client in spec.clients.values() {
        let Some(way) = wires_between(spec, &client.host, server, client.wire.as_deref()) else { continue };
        if way.len() < 2 {
            continue;
        }
        let [Some((first, _)), Some((last, _))] = [way.first(), way.last()] else { continue };
        let mut host = client.host.clone();
        for (index, (wire, forwards)) in way.iter().enumerate() {
            if index > 0 {
                let forward = || std::fs::write("/proc/sys/net/ipv4/ip_forward", "1");
                scene.network.host(&host).run_in(forward)??;
            }
            if index + 1 < way.len() {
                route(scene, &host, last, server, wire)?;
            }
            let ends = &spec.all_wires()[wire].between;
            host = if *forwards { ends.1.clone() } else { ends.0.clone() };
            if index > 0 {
                route(scene, &host, first, &client.host, wire)?;
            }
        }
    }
    Ok(())
}

/// On `host`: what is for `of`'s address on `net` goes over `wire`.
fn route(scene: &Scene<'_>, host: &str, net: &str, of: &str, wire: &str) -> Result<()> {
    let address = scene.network.address(of, net).to_string();
    let words = ["ip", "route", "replace", &address, "dev", wire].map(str::to_owned);
    scene.record(host, "route", &words);
    let output = scene.network.host(host).command("ip").args(&words[1..]).output()?;
    if !output.status.success() {
        bail!("{} on {host}: {}", words.join(" "), String::from_utf8_lossy(&output.stderr).trim());
    }
    Ok(())
}
