//! From flags to a path. They become the text that a plan would have, so that both say the same.

use std::fs;

use anyhow::{Context, Result, anyhow};
use howdah_link::PathSpec;
use toml::{Table, Value};

use crate::arguments::PathArguments;

/// The path that the flags describe.
pub fn path(arguments: &PathArguments) -> Result<PathSpec> {
    let mut table = match &arguments.path {
        Some(path) if is_file(path) => from_file(path)?,
        Some(name) => Table::from_iter([("profile".to_owned(), Value::from(name.as_str()))]),
        None => Table::new(),
    };
    for (key, value) in flags(arguments) {
        if let Some(value) = value {
            set(&mut table, key, value)?;
        }
    }
    for (direction, settings) in [("there", &arguments.there), ("back", &arguments.back)] {
        for setting in settings {
            let (key, value) = setting
                .split_once('=')
                .with_context(|| format!("--{direction} {setting}: it is KEY=VALUE, as rate=100Mbit"))?;
            let own = table.entry(direction).or_insert_with(|| Table::new().into());
            set(own.as_table_mut().context("a direction is a table")?, key, value)?;
        }
    }
    let mut spec: PathSpec =
        table.try_into().map_err(|error: toml::de::Error| anyhow!("{}", error.message()))?;
    spec.load(|file| fs::read_to_string(file).map_err(|error| error.to_string()))
        .map_err(anyhow::Error::msg)?;
    Ok(spec)
}

fn flags(arguments: &PathArguments) -> [(&'static str, Option<&str>); 11] {
    [
        ("rtt", arguments.rtt.as_deref()),
        ("rate", arguments.rate.as_deref()),
        ("queue", arguments.queue.as_deref()),
        ("loss", arguments.loss.as_deref()),
        ("bursts", arguments.bursts.as_deref()),
        ("jitter", arguments.jitter.as_deref()),
        ("reorder", arguments.reorder.as_deref()),
        ("duplicate", arguments.duplicate.as_deref()),
        ("corrupt", arguments.corrupt.as_deref()),
        ("mtu", arguments.mtu.as_deref()),
        ("schedule", arguments.schedule.as_deref()),
    ]
}

/// A table and a whole number as TOML has them, all else as a text.
fn set(table: &mut Table, key: &str, value: &str) -> Result<()> {
    let value = match value.parse::<i64>() {
        Ok(number) => Value::from(number),
        Err(_) if value.starts_with('{') => {
            let mut parsed: Table = toml::from_str(&format!("value = {value}"))
                .map_err(|error| anyhow!("--{key} {value}: {}", error.message()))?;
            parsed.remove("value").context("a value was parsed")?
        }
        Err(_) => Value::from(value),
    };
    table.insert(key.to_owned(), value);
    Ok(())
}

/// Profiles have neither slashes nor dots in their names.
fn is_file(path: &str) -> bool {
    path.contains(['/', '.'])
}

fn from_file(path: &str) -> Result<Table> {
    let text = fs::read_to_string(path).with_context(|| format!("reading {path}"))?;
    let mut table: Table = toml::from_str(&text).with_context(|| format!("{path} is no TOML"))?;
    match table.remove("path") {
        Some(Value::Table(inner)) => Ok(inner),
        Some(_) => Err(anyhow!("{path}: [path] is a table")),
        None => Ok(table),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_say_what_a_plan_says() {
        let arguments = PathArguments {
            rtt: Some("30ms".into()),
            rate: Some("1Gbit".into()),
            bursts: Some("{ loss = \"1%\", length = 4 }".into()),
            mtu: Some("9000".into()),
            back: vec!["rate=100Mbit".into()],
            ..PathArguments::default()
        };
        let plan = "rtt = '30ms'\nrate = '1Gbit'\nbursts = { loss = '1%', length = 4 }\nmtu = 9000\nback.rate = '100Mbit'";
        assert_eq!(path(&arguments).expect("a path"), toml::from_str(plan).expect("a path"));
    }

    #[test]
    fn what_is_wrong_is_said() {
        for (arguments, said) in [
            (PathArguments { rate: Some("fast".into()), ..PathArguments::default() }, "fast"),
            (PathArguments { path: Some("mars".into()), ..PathArguments::default() }, "no profile \"mars\""),
            (PathArguments { back: vec!["rate".into()], ..PathArguments::default() }, "KEY=VALUE"),
            (PathArguments { there: vec!["speed=1".into()], ..PathArguments::default() }, "speed"),
        ] {
            let error = format!("{:#}", path(&arguments).expect_err(said));
            assert!(error.contains(said), "{error}");
        }
    }
}
