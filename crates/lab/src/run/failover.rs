//! The address of one head moves to another while clients work. Heads are behind a router, which sends the address elsewhere
//! from then on: what gratuitous ARP does on an Ethernet.

use anyhow::{Context, Result, ensure};

use super::Scene;
use super::routes::{ip, wires_between};
use super::server::ServedExport;
use super::word::one_of;
use crate::plan::{CellSpec, FailoverSpec, HeadLoss, ServerKind};

/// The first rule that a router follows, after that for its own addresses.
const FIRST_RULE: &str = "1";

/// Moves it now.
pub fn run(scene: &Scene<'_>, spec: &FailoverSpec, served: &mut dyn ServedExport) -> Result<()> {
    let (router, from) = uplink(&scene.cell.spec, &spec.from)?;
    let (_, to) = uplink(&scene.cell.spec, &spec.to)?;
    let address = scene.network.address(&spec.from, &from).to_string();
    match spec.loses {
        HeadLoss::Address => {
            ip(scene, &spec.from, "failover", &["address", "del", &format!("{address}/24"), "dev", &from])?;
        }
        HeadLoss::Server | HeadLoss::Host => {
            // The network goes first, as that of a host which loses its power: no connection is closed.
            let rule = ["rule", "add", "pref", FIRST_RULE, "iif", &from, "type", "blackhole"];
            ip(scene, &router, "failover", &rule)?;
            served.lose(&spec.from, spec.loses)?;
        }
    }
    ip(scene, &spec.to, "failover", &["address", "add", &format!("{address}/32"), "dev", &to])?;
    ip(scene, &router, "failover", &["route", "replace", &address, "dev", &to])
}

/// The router that a head is behind, and the wire between them.
fn uplink(spec: &CellSpec, head: &str) -> Result<(String, String)> {
    let client = spec.clients.values().find(|client| spec.servers_of(client).any(|server| server == head));
    let client = client.with_context(|| format!("no client uses {head}"))?;
    let way = wires_between(spec, &client.host, head, client.wire.as_deref());
    let last = way.filter(|way| way.len() > 1).and_then(|mut way| way.pop());
    let (wire, forwards) =
        last.with_context(|| format!("{head} and its clients are not on different sides of a router"))?;
    let between = &spec.all_wires()[&wire].between;
    let router = if forwards { &between.0 } else { &between.1 };
    Ok((router.clone(), wire))
}

/// Refuses what could not be moved.
pub fn check(spec: &CellSpec) -> Result<()> {
    let Some(failover) = &spec.failover else { return Ok(()) };
    ensure!(spec.server.kind == ServerKind::Heads, "cell.server.kind must be \"heads\"");
    let heads: Vec<&str> = spec.server.heads.iter().map(String::as_str).collect();
    one_of("from", &failover.from, &heads)?;
    one_of("to", &failover.to, &heads)?;
    ensure!(failover.from != failover.to, "from and to are the same head");
    let routers = [&failover.from, &failover.to].map(|head| uplink(spec, head).map(|(router, _)| router));
    let [from, to] = routers;
    ensure!(from? == to?, "from and to must be behind the same router");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const CELL: &str = "[server]\nkind = 'heads'\nhost = 'storage'\nheads = ['one', 'two']\n\
        [wires.near]\nbetween = ['client', 'router']\n[wires.first]\nbetween = ['router', 'one']\n\
        [wires.second]\nbetween = ['two', 'router']\n[clients.a]\nkind = 'howdah'\nto = 'one'\n\
        [failover]\nafter = '3s'\nfrom = 'one'\nto = 'two'\nloses = 'host'\n";

    fn cell(was: &str, is: &str) -> CellSpec {
        toml::from_str(&CELL.replacen(was, is, 1)).expect("a cell")
    }

    #[test]
    fn heads_are_behind_a_router() {
        let cell = cell("", "");
        assert_eq!(uplink(&cell, "one").expect("found"), ("router".to_owned(), "first".to_owned()));
        assert_eq!(uplink(&cell, "two").expect("found"), ("router".to_owned(), "second".to_owned()));
        check(&cell).expect("possible");
    }

    #[test]
    fn what_cannot_be_moved_is_refused() {
        for (was, is, says) in [
            ("kind = 'heads'", "kind = 'howdah'", "kind must be \"heads\""),
            ("from = 'one'", "from = 'three'", "possible words are one, two"),
            ("from = 'one'", "from = 'two'", "same head"),
            ("to = 'one'", "to = 'two'", "no client uses one"),
            ("'router', 'one'", "'client', 'one'", "different sides of a router"),
        ] {
            let error = check(&cell(was, is)).expect_err(is).to_string();
            assert!(error.contains(says), "{is}: {error}");
        }
    }
}
