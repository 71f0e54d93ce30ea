//! `howdah release`.

use anyhow::anyhow;
use howdah_client::url::encoded;
use howdah_server::admin::StateReport;
use serde_json::json;

use super::Failure;
use crate::admin::the_one_server;
use crate::arguments::ReleaseArguments;
use crate::report;

/// Takes everything from a client.
pub fn run(arguments: &ReleaseArguments) -> Result<(), Failure> {
    let server = the_one_server(arguments.asked.server.as_ref(), arguments.asked.state.as_deref())?;
    let path = format!("/v1/state/{}", encoded(&arguments.client));
    let answer = server.put::<StateReport>(&path, &json!({ "release": true }))?;
    let state = answer.map_err(|refused| Failure::Usage(anyhow!("{}; {}", refused.error, refused.hint)))?;
    match arguments.json {
        true => {
            let value = json!({ "server": server.name(), "process": server.process(), "state": state });
            report::print(&format!("{value:#}\n"));
        }
        false => report::print(&format!("{} has no opens and no locks any more\n", arguments.client)),
    }
    Ok(())
}
