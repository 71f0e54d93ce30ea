//! `howdah check`.

use std::fmt::Write;

use anyhow::{Result, anyhow};

use super::Failure;
use crate::arguments::CheckArguments;
use crate::comparing::{ClusterHead, HeadAnswers, ask, compare};
use crate::configuration::{ClusterConfig, load_file};
use crate::report;
use crate::running::cluster_key;

/// Says what the file means, or everything that is wrong in it; or compares heads.
pub fn run(arguments: &CheckArguments) -> Result<(), Failure> {
    let Some(file) = &arguments.file else { return heads(&arguments.cluster) };
    let config = load_file(file).map_err(Failure::Usage)?;
    config.cluster.as_ref().map_or(Ok(()), key).map_err(Failure::Usage)?;
    report::print(&format!("{}\n{}", report::server(&config), report::exports(&config.exports, &[])));
    for warning in config.warnings() {
        report::print(&format!("\nnote: {warning}\n"));
    }
    Ok(())
}

/// Looks at the key of a cluster. Whoever checks may be another user than who serves, who alone can read it.
fn key(cluster: &ClusterConfig) -> Result<()> {
    match std::fs::File::open(&cluster.key_file) {
        Err(error) if error.kind() == std::io::ErrorKind::PermissionDenied => Ok(()),
        _ => cluster_key(&cluster.key_file).map(drop),
    }
}

/// Compares heads with the first one.
fn heads(heads: &[ClusterHead]) -> Result<(), Failure> {
    let mut all: Vec<(String, HeadAnswers)> = Vec::new();
    for head in heads {
        let answers = ask(head, all.first().map(|(_, answers)| answers)).map_err(Failure::Runtime)?;
        report::print(&line(head, &answers));
        all.push((head.to_string(), answers));
    }
    let Some((first, others)) = all.split_first() else {
        return Err(Failure::Usage(anyhow!("no head to compare; expected howdah check --cluster HEAD HEAD")));
    };
    let told: Vec<String> =
        others.iter().flat_map(|other| compare((&first.0, &first.1), (&other.0, &other.1))).collect();
    if told.is_empty() && all.iter().all(|(_, answers)| answers.exports.values().all(Result::is_ok)) {
        report::print("\nThe heads agree: clients can move from one to another.\n");
        return Ok(());
    }
    for what in told {
        report::complain(&format!("howdah: {what}"));
    }
    Err(Failure::Told)
}

/// What was seen of a head.
fn line(head: &ClusterHead, answers: &HeadAnswers) -> String {
    let clock = match answers.ahead {
        None => "tells no time".to_owned(),
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
