//! `howdah set`.

use anyhow::anyhow;
use howdah_client::url::encoded;
use howdah_server::admin::KnobList;
use howdah_server::tuning::Knob;
use serde_json::json;

use super::Failure;
use crate::admin::the_one_server;
use crate::arguments::SetArguments;
use crate::report;

/// Sets a knob of a running server.
pub fn run(arguments: &SetArguments) -> Result<(), Failure> {
    let server = the_one_server(arguments.asked.server.as_ref(), arguments.asked.state.as_deref())?;
    let before: KnobList = server.get("/v1/knobs")?;
    let before = before.knobs.into_iter().find(|knob| knob.name == arguments.knob).map(|knob| knob.set);
    let path = format!("/v1/knobs/{}", encoded(&arguments.knob));
    let answer = server.put::<Knob>(&path, &json!({ "value": arguments.value }))?;
    let knob = answer.map_err(|refused| Failure::Usage(anyhow!("{}; {}", refused.error, refused.hint)))?;
    match arguments.json {
        true => {
            let value = json!({ "server": server.name(), "process": server.process(), "before": before, "knob": knob });
            report::print(&format!("{value:#}\n"));
        }
        false => report::print(&report::knob_set(&knob, before.as_deref(), &arguments.value)),
    }
    Ok(())
}
