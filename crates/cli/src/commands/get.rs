//! `howdah get`.

use howdah_server::admin::KnobList;
use howdah_server::tuning::Knob;
use serde_json::json;

use super::Failure;
use crate::admin::{AskedServer, find_servers};
use crate::arguments::GetArguments;
use crate::report;

/// Shows what may be set.
pub fn run(arguments: &GetArguments) -> Result<(), Failure> {
    let servers = find_servers(arguments.asked.server.as_ref(), arguments.asked.state.as_deref())?;
    let mut answers = Vec::new();
    for server in &servers {
        answers.push((server, knobs(server, arguments.knob.as_deref())?));
    }
    if arguments.json {
        let server = |(server, knobs): &(&AskedServer, Vec<Knob>)| json!({ "server": server.name(), "process": server.process(), "knobs": knobs });
        let value = json!({ "servers": answers.iter().map(server).collect::<Vec<_>>() });
        report::print(&format!("{value:#}\n"));
        return Ok(());
    }
    for (server, knobs) in &answers {
        if answers.len() > 1 {
            report::print(&format!("{}\n", server.name()));
        }
        report::print(&report::knobs(knobs));
    }
    Ok(())
}

fn knobs(server: &AskedServer, name: Option<&str>) -> Result<Vec<Knob>, Failure> {
    let all: KnobList = server.get("/v1/knobs")?;
    let Some(name) = name else { return Ok(all.knobs) };
    let names: Vec<String> = all.knobs.iter().map(|knob| knob.name.clone()).collect();
    match all.knobs.into_iter().find(|knob| knob.name == name) {
        Some(knob) => Ok(vec![knob]),
        None => {
            Err(Failure::Usage(anyhow::anyhow!("no knob is called {name}: there are {}", names.join(", "))))
        }
    }
}
