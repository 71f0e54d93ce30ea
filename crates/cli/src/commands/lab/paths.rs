//! `howdah lab paths`.

use anyhow::{Context, anyhow};
use howdah_link::{profile, profiles};

use super::describe::direction;
use crate::arguments::PathsArguments;
use crate::commands::Failure;
use crate::report;

/// Shows them.
pub fn run(arguments: &PathsArguments) -> Result<(), Failure> {
    let text = match &arguments.name {
        Some(name) => as_plan(name)?,
        None => profiles().iter().map(table).collect::<Vec<_>>().join("\n"),
    };
    report::print(&text);
    Ok(())
}

fn table(profile: &howdah_link::Profile) -> String {
    let path = &profile.path;
    let mut text = format!("{}: {}\n", profile.name, profile.what);
    if path.there == path.back {
        text += &format!("  each way  {}\n", direction(&path.there));
    } else {
        text += &format!("  there     {}\n  back      {}\n", direction(&path.there), direction(&path.back));
    }
    text + &format!("  source    {}\n", profile.source)
}

fn as_plan(name: &str) -> Result<String, Failure> {
    let known = || profiles().iter().map(|profile| profile.name).collect::<Vec<_>>().join(", ");
    let profile = profile(name)
        .ok_or_else(|| Failure::Usage(anyhow!("there is no path {name:?}; there are {}", known())))?;
    let text = toml::to_string(&profile.path).context("writing a path as TOML")?;
    Ok(format!("# {}: {}\n# {}\n[path]\n{text}", profile.name, profile.what, profile.source))
}
