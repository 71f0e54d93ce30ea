//! `howdah lab paths`.

use std::collections::BTreeMap;

use anyhow::{Context, anyhow};
use howdah_link::{Profile, profile, profiles};
use serde_json::{Value, json};

use super::describe::direction;
use crate::arguments::PathsArguments;
use crate::commands::Failure;
use crate::report;

/// Shows them.
pub fn run(arguments: &PathsArguments) -> Result<(), Failure> {
    let text = match &arguments.name {
        name if arguments.json => {
            let shown = name.as_deref().map(named).transpose()?;
            let shown = shown.map_or_else(|| profiles().iter().collect(), |profile| vec![profile]);
            format!("{:#}\n", json!({ "paths": shown.into_iter().map(as_json).collect::<Vec<_>>() }))
        }
        Some(name) => as_plan(name)?,
        None => profiles().iter().map(table).collect::<Vec<_>>().join("\n"),
    };
    report::print(&text);
    Ok(())
}

fn as_json(profile: &Profile) -> Value {
    json!({ "name": profile.name, "what": profile.what, "source": profile.source, "path": profile.path })
}

fn table(profile: &Profile) -> String {
    let path = &profile.path;
    let mut text = format!("{}: {}\n", profile.name, profile.what);
    if path.there == path.back {
        text += &format!("  each way  {}\n", direction(&path.there));
    } else {
        text += &format!("  there     {}\n  back      {}\n", direction(&path.there), direction(&path.back));
    }
    text + &format!("  source    {}\n", profile.source)
}

fn named(name: &str) -> Result<&'static Profile, Failure> {
    let known = || profiles().iter().map(|profile| profile.name).collect::<Vec<_>>().join(", ");
    profile(name).ok_or_else(|| Failure::Usage(anyhow!("there is no path {name:?}; there are {}", known())))
}

fn as_plan(name: &str) -> Result<String, Failure> {
    let profile = named(name)?;
    let text =
        toml::to_string(&BTreeMap::from([("path", &profile.path)])).context("writing a path as TOML")?;
    Ok(format!("# {}: {}\n# {}\n{text}", profile.name, profile.what, profile.source))
}

#[cfg(test)]
mod tests {
    use howdah_link::{DirectionSpec, PathSpec};

    use super::*;

    #[test]
    fn each_printed_path_reads_back_as_the_same_path() {
        for profile in profiles() {
            let text = as_plan(profile.name).expect("a path");
            let read: BTreeMap<String, PathSpec> =
                toml::from_str(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
            assert_eq!(read, [("path".to_owned(), profile.path.clone())].into(), "{text}");
        }
    }

    #[test]
    fn each_listed_direction_reads_back_as_the_same_direction() {
        for Profile { name, path, .. } in profiles() {
            for spec in [&path.there, &path.back] {
                let line = direction(spec);
                let read: BTreeMap<String, DirectionSpec> = toml::from_str(&format!("way = {{ {line} }}"))
                    .unwrap_or_else(|error| panic!("{name}: {error}"));
                assert_eq!(&read["way"], spec, "{name}: {line}");
            }
        }
    }
}
