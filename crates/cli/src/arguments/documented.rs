//! The manual's page of the configuration has every key that is read and every flag that is taken, and no other.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use clap::CommandFactory;

use howdah_config::load_text;

use super::Howdah;

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/manual/configuration.md");

/// A key that no table has, in each of them.
const UNKNOWN: &str = "nosuch = 1\n[kerberos]\nnosuch = 1\n[[network]]\nclients = '*'\nnosuch = 1\n[[limit]]\nname = 'a'\ncalls = 1\nnosuch = 1\n[[share]]\nclients = '*'\nweight = 1\nnosuch = 1\n[[export]]\nname = '/x'\npath = '/usr'\nnosuch = 1\n\
                       clients = [{ allow = '*', nosuch = 1 }]\n";

/// The keys of the file, of `[kerberos]`, of `[[network]]`, of `[[limit]]`, of `[[share]]`, of `[[export]]` and of a client, in this order.
fn keys_that_are_read() -> Vec<BTreeSet<String>> {
    let problems = load_text(Path::new("x"), UNKNOWN.to_owned()).expect_err("unknown keys").to_string();
    let lists = problems.lines().filter_map(|line| line.split_once("its settings are: "));
    lists.map(|(_, keys)| keys.split(", ").map(str::to_owned).collect()).collect()
}

/// The first two cells of each row of the tables below a heading.
fn rows<'p>(page: &'p str, heading: &str) -> Vec<(&'p str, &'p str)> {
    let section = page.split_once(&format!("\n## {heading}\n")).expect("a section").1;
    let section = section.split("\n## ").next().unwrap_or_default();
    let rows = section.lines().filter_map(|line| line.strip_prefix("| "));
    rows.filter_map(|row| row.split_once(" | "))
        .map(|(first, rest)| (first, rest.split(" | ").next().unwrap_or_default()))
        .collect()
}

/// What stands between backticks.
fn quoted(cell: &str) -> impl Iterator<Item = &str> {
    cell.split('`').skip(1).step_by(2)
}

fn keys(rows: &[(&str, &str)]) -> BTreeSet<String> {
    let written =
        rows.iter().filter(|(first, _)| !first.starts_with("in ")).flat_map(|(first, _)| quoted(first));
    written
        .map(|key| key.trim_start_matches('[').split([' ', ']']).next().unwrap_or_default().to_owned())
        .collect()
}

#[test]
fn the_page_has_every_key_and_no_other() {
    let page = fs::read_to_string(PAGE).expect("the page");
    let read = keys_that_are_read();
    let [file, kerberos, network, limit, share, export, client] = &read[..] else { panic!("{read:?}") };
    assert_eq!(&keys(&rows(&page, "Server settings")), file, "left: in the page, right: read");
    assert_eq!(&keys(&rows(&page, "Kerberos settings")), kerberos, "left: in the page, right: read");
    assert_eq!(&keys(&rows(&page, "Export settings")), export, "left: in the page, right: read");
    assert_eq!(&keys(&rows(&page, "Limits of clients")), limit, "left: in the page, right: read");
    assert_eq!(&keys(&rows(&page, "Shares of clients")), share, "left: in the page, right: read");
    let both: BTreeSet<String> = network.union(client).cloned().collect();
    assert_eq!(keys(&rows(&page, "Clients and networks")), both, "left: in the page, right: read");
}

#[test]
fn the_page_has_every_flag_and_no_other() {
    let page = fs::read_to_string(PAGE).expect("the page");
    let headings = ["Server settings", "Kerberos settings", "Export settings"];
    let rows = headings.map(|heading| rows(&page, heading)).concat();
    let written: BTreeSet<String> = rows
        .iter()
        .flat_map(|(_, flags)| quoted(flags))
        .filter_map(|flag| flag.strip_prefix("--")?.split([' ', '=']).next().map(str::to_owned))
        .collect();
    let howdah = Howdah::command();
    let serve = howdah.get_subcommands().find(|command| command.get_name() == "serve").expect("serve");
    let longs = serve.get_arguments().filter(|argument| !argument.is_hide_set());
    let taken: BTreeSet<String> =
        longs.filter_map(|argument| argument.get_long().map(str::to_owned)).collect();
    let taken: BTreeSet<String> =
        taken.into_iter().filter(|flag| flag != "config" && flag != "help").collect();
    assert_eq!(written, taken, "left: in the page, right: taken by howdah serve");
}
