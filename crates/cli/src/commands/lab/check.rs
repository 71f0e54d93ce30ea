//! What is wrong with the cells of a plan, before anything is made: commands of this program are read as the run would.

use std::path::Path;

use anyhow::{Context, Error, Result, anyhow};
use clap::error::ErrorKind;
use clap::{CommandFactory, Parser};
use howdah_client::url::NfsUrl;
use howdah_lab::record::CommandRecord;
use howdah_lab::run::{Job, planned_commands};

use crate::arguments::load_arguments;
use crate::arguments::{BenchArguments, Command, Howdah, ServeArguments, argument, sentence};
use crate::bench::plans;

/// This program, and the one of libnfs that takes URLs like ours.
const PROGRAMS: [&str; 2] = ["howdah", "nfs-cp"];
/// What is no client's: the server and the relay.
const SERVING: [&str; 2] = ["server", "relay"];

/// Checks each cell once. Errors name the plan, the cell, the key, the wrong word and the possible ones.
pub fn check(plan: &str, jobs: &[Job]) -> Result<()> {
    for job in jobs.iter().filter(|job| job.repetition == jobs[0].repetition) {
        check_cell(job).with_context(|| format!("{plan}: cell {}", job.cell.number))?;
    }
    Ok(())
}

fn check_cell(job: &Job) -> Result<()> {
    howdah_lab::run::check(job)?;
    planned_commands(job, Path::new(PROGRAMS[0]))?.iter().try_for_each(command)
}

/// The words from the program on: other programs may stand before it, which confine it.
fn command(record: &CommandRecord) -> Result<()> {
    let Some(start) = record.command.iter().position(|word| PROGRAMS.contains(&word.as_str())) else {
        return Ok(());
    };
    let words = &record.command[start..];
    let url = words.iter().find(|word| NfsUrl::is_meant(word));
    let checked = url.map_or(Ok(()), |url| url.parse::<NfsUrl>().map(drop));
    checked.with_context(|| key(&record.name, "url"))?;
    if words[0] != PROGRAMS[0] {
        return Ok(());
    }
    let typed = Howdah::try_parse_from(words).map_err(|error| {
        let is_workload = argument(&error) == "--workload";
        usage_error(&error, &words[1])
            .context(key(&record.name, if is_workload { "workload" } else { "options" }))
    })?;
    let checked = match typed.command {
        Command::Serve(arguments) => serve(*arguments),
        Command::Relay(arguments) => load_arguments(&arguments.into_serve()).map(drop),
        Command::Bench(arguments) => bench(&arguments),
        _ => Ok(()),
    };
    checked.with_context(|| key(&record.name, "options"))
}

/// A client's key, or that of the server or the relay, which have no other than their options.
fn key(name: &str, key: &str) -> String {
    // Several servers are called `server-HOST`.
    let kind = name.split('-').next().unwrap_or(name);
    if SERVING.contains(&kind) {
        format!("cell.{kind}.options")
    } else {
        format!("cell.clients.{name}.{key}")
    }
}

fn serve(mut arguments: ServeArguments) -> Result<()> {
    // A configuration file is made for the cell, too, and not by the plan.
    if arguments.server.config.is_some() {
        return Ok(());
    }
    // The directory that a cell serves is made for it: any that is there does for reading the rest.
    arguments.what = arguments.what.map(|_| "/".into());
    load_arguments(&arguments).map(drop)
}

fn bench(arguments: &BenchArguments) -> Result<()> {
    match arguments.replay {
        Some(_) => Ok(()),
        None => plans(&arguments.work, NfsUrl::is_meant(&arguments.place)).map(drop),
    }
}

/// What clap found, in one sentence.
fn usage_error(error: &clap::Error, subcommand: &str) -> Error {
    let sentence = sentence(error, &format!("{} {subcommand}", PROGRAMS[0]));
    match error.kind() {
        ErrorKind::UnknownArgument => anyhow!("{sentence}; it has {}", flags(subcommand).join(", ")),
        _ => anyhow!(sentence),
    }
}

/// The flags of a subcommand.
fn flags(subcommand: &str) -> Vec<String> {
    let howdah = Howdah::command();
    let found = howdah.find_subcommand(subcommand);
    let flags = found.into_iter().flat_map(clap::Command::get_arguments).filter_map(clap::Arg::get_long);
    flags.map(|flag| format!("--{flag}")).collect()
}

#[cfg(test)]
mod tests {
    use howdah_lab::plan::{BUILT_IN, Plan};
    use howdah_lab::run::{Selection, jobs};

    use super::*;

    fn said(name: &str, text: &str, quick: bool) -> String {
        let plan = Plan::parse(name, text).unwrap_or_else(|error| panic!("{error}"));
        let jobs = jobs(&plan, &Selection { quick, ..Selection::default() }).expect("cells");
        check(name, &jobs).err().map_or_else(String::new, |error| format!("{error:#}"))
    }

    #[test]
    fn every_built_in_plan_passes() {
        for (name, text) in BUILT_IN {
            for quick in [false, true] {
                assert_eq!(said(name, text, quick), "", "{name}");
            }
        }
    }

    #[test]
    fn a_wrong_word_is_told_with_plan_cell_key_and_possible_words() {
        let with = |server: &str, client: &str| {
            format!(
                "name = 'small'\ntitle = 'x'\nasks = 'x'\n[cell.server]\n{server}\n[cell.clients.main]\nkind = 'howdah'\n{client}"
            )
        };
        assert_eq!(said("p.toml", &with("", "workload = 'write,read'"), false), "");
        const MAIN: &str = "p.toml: cell 1: cell.clients.main.";
        for (server, client, key, parts) in [
            ("", "workload = 'wrtie'", "workload: ", ["\"wrtie\"", "write, read, files"]),
            ("", "options = ['--sise', '1M']", "options: ", ["no option --sise;", "--size"]),
            ("", "options = ['--size', 'much']", "options: ", ["much", "--size"]),
            (
                "",
                "options = ['--commit', 'sometimes']",
                "options: ",
                ["\"sometimes\"", "inside, outside, each, never"],
            ),
            ("", "options = ['--record', '3', '--transfer', '2']", "options: ", ["planning", "transfer"]),
            ("", "url = 'porto=udp'", "url: ", ["\"porto\"", "proto"]),
            ("", "url = 'proto=upd'", "url: ", ["proto=upd", "tcp, udp or quic"]),
        ] {
            let said = said("p.toml", &with(server, client), false);
            assert!(said.starts_with(&format!("{MAIN}{key}")), "{client}: {said}");
            assert!(parts.iter().all(|part| said.contains(part)), "{client}: {said}");
        }
        for (server, parts) in [
            ("options = ['--no-tunning']", ["no option --no-tunning;", "--no-tuning"]),
            ("options = ['--workers', 'many']", ["\"many\"", "--workers"]),
            ("options = ['--sandbox', 'maybe']", ["maybe", "--sandbox"]),
        ] {
            let said = said("p.toml", &with(server, ""), false);
            assert!(said.starts_with("p.toml: cell 1: cell.server.options: "), "{server}: {said}");
            assert!(parts.iter().all(|part| said.contains(part)), "{server}: {said}");
        }
    }
}
