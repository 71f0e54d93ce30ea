//! `howdah check`.

use std::fmt::Write;
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Result, anyhow};
use howdah_config::{ClusterConfig, KeytabTrouble, Problems, ServerConfig, asks_kerberos, load_file};
use howdah_daemon::host::cluster_key;
use serde_json::{Value, json};

use super::Failure;
use crate::arguments::CheckArguments;
use crate::heads::{ClusterHead, HeadAnswers, ask, compare};
use crate::report;

/// Says what the file means, or everything that is wrong in it; or compares heads.
pub fn run(arguments: &CheckArguments) -> Result<(), Failure> {
    let Some(file) = &arguments.file else { return heads(arguments) };
    if looks_like_exports(file) {
        return Err(Failure::Usage(anyhow!(
            "{shown} is a Linux exports file, not a configuration of howdah; convert it first: howdah exports --from {shown} > howdah.toml",
            shown = file.display()
        )));
    }
    let checked = load_file(file).and_then(|config| {
        config.cluster.as_ref().map_or(Ok(()), key)?;
        keytab(&config)?;
        Ok(config)
    });
    if arguments.json {
        return as_json(file, &checked);
    }
    let config = checked.map_err(Failure::Usage)?;
    if arguments.quiet {
        return Ok(());
    }
    report::print(&format!("{}\n{}", report::server(&config), report::exports(&config.exports, &[])));
    for warning in config.warnings() {
        report::print(&format!("\nnote: {warning}\n"));
    }
    Ok(())
}

/// Whether it is a file of exports(5): its first line that says something begins with a path.
fn looks_like_exports(file: &Path) -> bool {
    let text = std::fs::read_to_string(file).unwrap_or_default();
    let mut lines = text.lines().map(str::trim_start);
    // A key of TOML that begins with a slash would be quoted.
    lines.find(|line| !line.is_empty() && !line.starts_with('#')).is_some_and(|line| line.starts_with('/'))
        || (text.trim().is_empty() && file == Path::new("/etc/exports"))
}

/// Prints what was found as one object. Problems are part of it, so that standard error stays empty.
fn as_json(file: &Path, checked: &Result<ServerConfig>) -> Result<(), Failure> {
    let problems = match checked {
        Ok(_) => json!([]),
        Err(error) => match error.downcast_ref::<Problems>() {
            Some(problems) => problems.json(),
            None => json!([{
                "file": file.to_string_lossy(), "line": null, "column": null, "message": howdah_units::plain(&format!("{error:#}")), "help": null,
            }]),
        },
    };
    let config = checked.as_ref().ok();
    let value = json!({
        "file": file.to_string_lossy(),
        "problems": problems,
        "notes": config.map_or_else(Vec::new, ServerConfig::warnings),
        "settings": config.map(|config| report::settings_json(config, &[])),
    });
    report::print(&format!("{value:#}\n"));
    // As of a problem that is printed on standard error.
    if config.is_some() { Ok(()) } else { Err(Failure::Ended(ExitCode::from(2))) }
}

/// Checks the key file of the cluster. A user who may not read it is not warned: only the server must read it.
fn key(cluster: &ClusterConfig) -> Result<()> {
    match std::fs::File::open(&cluster.key_file) {
        Err(error) if error.kind() == std::io::ErrorKind::PermissionDenied => Ok(()),
        _ => cluster_key(&cluster.key_file).map(drop),
    }
}

/// Checks the keytab, if the server needs one.
fn keytab(config: &ServerConfig) -> Result<()> {
    match config.kerberos.keytab_trouble().filter(|_| asks_kerberos(&config.exports)) {
        Some(KeytabTrouble::Error(what)) => Err(anyhow!(what)),
        // A note says it.
        Some(KeytabTrouble::Warning(_)) | None => Ok(()),
    }
}

/// Compares heads with the first one.
fn heads(arguments: &CheckArguments) -> Result<(), Failure> {
    let is_silent = arguments.quiet || arguments.json;
    let mut all: Vec<(String, HeadAnswers)> = Vec::new();
    for head in &arguments.cluster {
        let answers = ask(head, all.first().map(|(_, answers)| answers)).map_err(Failure::Runtime)?;
        if !is_silent {
            report::print(&line(head, &answers));
        }
        all.push((head.to_string(), answers));
    }
    let Some((first, others)) = all.split_first() else {
        return Err(Failure::Usage(anyhow!("no head to compare; expected howdah check --cluster HEAD HEAD")));
    };
    let listed: Vec<String> =
        others.iter().flat_map(|other| compare((&first.0, &first.1), (&other.0, &other.1))).collect();
    let agree =
        listed.is_empty() && all.iter().all(|(_, answers)| answers.exports.values().all(Result::is_ok));
    if arguments.json {
        let heads: Vec<Value> = all.iter().map(|(head, answers)| head_json(head, answers)).collect();
        report::print(&format!("{:#}\n", json!({ "agree": agree, "heads": heads, "differences": listed })));
    } else {
        listed.iter().for_each(|what| report::complain(&format!("howdah: {what}")));
        // Without it they were printed with their heads.
        all.iter().filter(|_| arguments.quiet).for_each(|(head, answers)| complain_of(head, answers));
    }
    if !agree {
        return Err(Failure::Told);
    }
    if !is_silent {
        report::print("\nThe heads agree: clients can move from one to another.\n");
    }
    Ok(())
}

/// Names the exports that cannot be compared.
fn complain_of(head: &str, answers: &HeadAnswers) {
    for (name, seen) in &answers.exports {
        if let Err(why) = seen {
            report::complain(&format!("howdah: export {name} of {head} cannot be compared: {why}"));
        }
    }
}

/// The same as [`line`], for machines.
fn head_json(head: &str, answers: &HeadAnswers) -> Value {
    let exports = answers.exports.iter().map(|(name, seen)| {
        json!({
            "name": name,
            "file_system": seen.as_ref().ok().map(|seen| format!("{:016x}", seen.file_system)),
            "names_compared": seen.as_ref().ok().map(|seen| seen.names.len()),
            "error": seen.as_ref().err(),
        })
    });
    json!({ "head": head, "clock_ahead_seconds": answers.ahead, "exports": exports.collect::<Vec<_>>() })
}

/// What was seen of a head.
fn line(head: &ClusterHead, answers: &HeadAnswers) -> String {
    let clock = match answers.ahead {
        None => "its clock is unknown".to_owned(),
        Some(0) => "its clock shows the time of this host".to_owned(),
        Some(ahead) if ahead > 0 => format!("its clock is {ahead} s ahead of this host's"),
        Some(behind) => format!("its clock is {} s behind this host's", -behind),
    };
    let mut text = format!("{head}: {clock}\n");
    for (name, seen) in &answers.exports {
        let _ = match seen {
            Ok(seen) => writeln!(
                text,
                "  {name}  file system {:016x}, {} names compared",
                seen.file_system,
                seen.names.len()
            ),
            Err(why) => writeln!(text, "  {name}  cannot be compared: {why}"),
        };
    }
    text
}
