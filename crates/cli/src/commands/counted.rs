//! `howdah stat` of a running server: sums since it started, or what comes in each interval.

use std::process::ExitCode;
use std::thread::sleep;

use howdah_server::admin::{Export, Exports, Procedures, Workers};
use howdah_top::{exports_since, since};
use serde_json::{Value, json};

use super::Failure;
use crate::admin::{AskedServer, find_servers};
use crate::arguments::CountedArguments;
use crate::report::{self, Counted};

/// The export that was named is not served.
const NOT_SERVED: u8 = 3;

/// One look at a server.
struct Look {
    seconds: f64,
    exports: Vec<Export>,
    procedures: Procedures,
    workers: Workers,
}

/// Shows it, once or in intervals.
pub fn run(arguments: &CountedArguments, as_json: bool) -> Result<(), Failure> {
    let servers = find_servers(arguments.asked.server.as_ref(), arguments.asked.state.as_deref())?;
    let mut before = look_at_all(&servers)?;
    if let Some(name) = &arguments.export {
        is_served(name, &before)?;
    }
    let Some(interval) = arguments.interval else {
        show(arguments, as_json, &servers, &before, None);
        return Ok(());
    };
    let mut shown = 0;
    while arguments.count.is_none_or(|count| shown < count) && !report::is_unread() {
        sleep(interval);
        let now = look_at_all(&servers)?;
        show(arguments, as_json, &servers, &now, Some(&before));
        before = now;
        shown += 1;
    }
    Ok(())
}

fn look_at_all(servers: &[AskedServer]) -> anyhow::Result<Vec<Look>> {
    servers.iter().map(look).collect()
}

fn look(server: &AskedServer) -> anyhow::Result<Look> {
    let Exports { seconds, exports } = server.get("/v1/exports")?;
    let (procedures, workers) = (server.get("/v1/procedures")?, server.get("/v1/workers")?);
    Ok(Look { seconds, exports, procedures, workers })
}

fn is_served(name: &str, looks: &[Look]) -> Result<(), Failure> {
    let names = || looks.iter().flat_map(|look| look.exports.iter().map(|export| export.export.as_str()));
    if names().any(|known| known == name) {
        return Ok(());
    }
    let known: Vec<&str> = names().collect();
    report::complain(&format!("howdah: no export is called {name}; there is {}", known.join(", ")));
    Err(Failure::Ended(ExitCode::from(NOT_SERVED)))
}

fn show(
    arguments: &CountedArguments,
    as_json: bool,
    servers: &[AskedServer],
    now: &[Look],
    before: Option<&Vec<Look>>,
) {
    let each = servers.iter().zip(now).enumerate();
    let counted =
        each.map(|(at, (server, now))| (server, counted(arguments, now, before.map(|all| &all[at]))));
    let counted: Vec<(&AskedServer, Counted)> = counted.collect();
    if as_json {
        let servers: Vec<Value> = counted.iter().map(|(server, counted)| json(server, counted)).collect();
        let value = json!({ "servers": servers });
        let text = if before.is_some() { format!("{value}\n") } else { format!("{value:#}\n") };
        return report::print(&text);
    }
    if before.is_some() {
        report::print(&format!("{}\n", jiff::Zoned::now().strftime("%H:%M:%S")));
    }
    for (server, counted) in &counted {
        if counted.is_rate {
            let name = if servers.len() > 1 { format!("{}\n", server.name()) } else { String::new() };
            report::print(&format!("{name}{}\n", report::counted(counted)));
        } else {
            report::print(&format!("{}\n{}", server.name(), report::counted(counted)));
        }
    }
}

/// What was asked for: of one export or all, since the start or since the look before.
fn counted(arguments: &CountedArguments, now: &Look, before: Option<&Look>) -> Counted {
    let before = before.filter(|before| before.seconds <= now.seconds);
    let mut exports = exports_since(&now.exports, before.map_or(&[], |before| &before.exports));
    let procedures = match &arguments.export {
        Some(name) => {
            let named = exports.drain(..).find(|export| export.export == *name);
            named.map(|export| export.procedures).unwrap_or_default()
        }
        None => {
            let earlier = before.map(|before| &before.procedures.procedures[..]);
            since(&now.procedures.procedures, earlier)
        }
    };
    Counted {
        seconds: now.seconds - before.map_or(0.0, |before| before.seconds),
        is_rate: arguments.interval.is_some(),
        procedures,
        exports,
        unheard: now.procedures.unheard,
        workers: now.workers,
    }
}

fn json(server: &AskedServer, counted: &Counted) -> Value {
    json!({
        "server": server.name(),
        "process": server.process(),
        "seconds": counted.seconds,
        "procedures": counted.procedures,
        "exports": counted.exports,
        "unheard": counted.unheard,
        "workers": counted.workers,
    })
}
