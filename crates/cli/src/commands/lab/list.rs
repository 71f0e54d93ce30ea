//! `howdah lab list`.

use anyhow::anyhow;
use howdah_lab::plan::{BUILT_IN, Plan, Time};

use crate::arguments::ListArguments;
use crate::commands::Failure;
use crate::report;

/// Shows them.
pub fn run(arguments: &ListArguments) -> Result<(), Failure> {
    if let Some(name) = &arguments.name {
        let found = BUILT_IN.iter().find(|(built_in, _)| built_in == name);
        let known = || BUILT_IN.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ");
        let (_, text) = found
            .ok_or_else(|| Failure::Usage(anyhow!("no plan is called \"{name}\"; there are: {}", known())))?;
        report::print(text);
        return Ok(());
    }
    let mut text = String::new();
    for (name, plan) in BUILT_IN {
        let plan = Plan::parse(name, plan).map_err(anyhow::Error::from)?;
        text.push_str(&described(&plan)?);
    }
    report::print(&text);
    Ok(())
}

fn described(plan: &Plan) -> Result<String, Failure> {
    let origin = plan.origin.as_ref().map_or(String::new(), |origin| format!(" (origin {origin})"));
    let cells = |quick| -> Result<String, Failure> {
        let cells = plan.cells(quick).map_err(anyhow::Error::from)?.len();
        let each = plan.repetitions(quick);
        let takes = plan.takes(quick).map_or(String::new(), |takes| format!(", about {}", spoken(takes)));
        Ok(format!("{cells} cells x {each}{takes}"))
    };
    Ok(format!(
        "{:<20} {}{origin}\n{:20} {}; --quick: {}\n",
        plan.name,
        plan.title,
        "",
        cells(false)?,
        cells(true)?
    ))
}

fn spoken(time: Time) -> String {
    match time.0.as_secs() {
        seconds if seconds < 120 => format!("{seconds} s"),
        seconds => format!("{} min", seconds.div_ceil(60)),
    }
}
