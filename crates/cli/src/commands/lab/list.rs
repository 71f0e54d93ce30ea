//! `howdah lab list`.

use anyhow::anyhow;
use howdah_lab::plan::{BUILT_IN, Plan, Time};
use serde_json::{Value, json};

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
    let plans = BUILT_IN.iter().map(|(name, plan)| Plan::parse(name, plan).map_err(anyhow::Error::from));
    let plans = plans.collect::<anyhow::Result<Vec<Plan>>>()?;
    if arguments.json {
        let plans = plans.iter().map(as_json).collect::<Result<Vec<_>, _>>()?;
        report::print(&format!("{:#}\n", json!({ "plans": plans })));
        return Ok(());
    }
    let text = plans.iter().map(described).collect::<Result<String, _>>()?;
    report::print(&text);
    Ok(())
}

fn as_json(plan: &Plan) -> Result<Value, Failure> {
    let form = |quick| -> Result<Value, Failure> {
        Ok(json!({
            "cells": plan.cells(quick).map_err(anyhow::Error::from)?.len(),
            "repetitions": plan.repetitions(quick),
            "takes_seconds": plan.takes(quick).map(|takes| takes.0.as_secs()),
        }))
    };
    Ok(json!({
        "name": plan.name,
        "title": plan.title,
        "origin": plan.origin,
        "full": form(false)?,
        "quick": form(true)?,
    }))
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
