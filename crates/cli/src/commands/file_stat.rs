//! `howdah stat` of files.

use std::fmt::Write;

use anyhow::Context;
use howdah_daemon::places::{Following, LOCAL, Location, Place, open};
use howdah_vfs::{Attributes, FileKind, Limits, Node, Shown, Statistics};
use serde_json::{Value, json};

use super::Failure;
use crate::arguments::StatArguments;
use crate::report::{self, attributes_json, exact_time, kind_word, mode_letters, name_json};

/// Shows each place; goes on with the others where one cannot be had.
pub fn run(arguments: &StatArguments) -> Result<(), Failure> {
    let mut failed = 0;
    for location in &arguments.places {
        match show(location, arguments) {
            Ok(text) => report::print(&text),
            Err(error) => {
                failed += 1;
                report::complain(&format!("howdah: {error:#}"));
            }
        }
    }
    match failed {
        0 => Ok(()),
        _ => Err(Failure::Told),
    }
}

/// A node, and the file system it is on if that is asked for.
struct Seen {
    node: Node,
    target: Option<Vec<u8>>,
    file_system: Option<(Statistics, Limits)>,
}

fn show(location: &Location, arguments: &StatArguments) -> anyhow::Result<String> {
    let place = open(location, Following::Nothing)?;
    let seen = look(&place, location, arguments.file_system)?;
    match arguments.json {
        true => Ok(format!("{}\n", as_json(location, &seen))),
        false => Ok(as_text(location, &seen)),
    }
}

fn look(place: &Place, location: &Location, file_system: bool) -> anyhow::Result<Seen> {
    let node = place.node().with_context(|| format!("cannot find {location}"))?;
    let (files, caller) = (&place.file_system, &place.caller);
    let mut target = Vec::new();
    if node.attributes.kind == FileKind::SymbolicLink {
        files
            .read_link(caller, &node.handle, &mut target)
            .with_context(|| format!("reading the link {location}"))?;
    }
    let is_root = place.realm != LOCAL && node.handle == files.root();
    let file_system = match file_system || is_root {
        true => Some((
            files
                .statistics(caller, &node.handle)
                .with_context(|| format!("asking how full {location} is"))?,
            files.limits(caller, &node.handle).with_context(|| format!("asking the limits of {location}"))?,
        )),
        false => None,
    };
    let is_link = node.attributes.kind == FileKind::SymbolicLink;
    Ok(Seen { node, target: is_link.then_some(target), file_system })
}

fn as_text(location: &Location, seen: &Seen) -> String {
    let Attributes { size, used, links, user, group, file, file_system, mode, device, .. } =
        seen.node.attributes;
    let attributes = &seen.node.attributes;
    let mut text = String::new();
    let mut line = |label: &str, value: String| {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{label:>12}: {value}");
    };
    let target = seen.target.as_ref().map(|target| format!(" -> {}", Shown(target)));
    line("Name", format!("{location}{}", target.unwrap_or_default()));
    line("Kind", kind_word(attributes.kind).to_owned());
    if matches!(attributes.kind, FileKind::BlockDevice | FileKind::CharacterDevice) {
        line("Device", format!("{}, {}", device.major, device.minor));
    }
    line("Size", format!("{size} bytes, {used} in use"));
    line("Mode", format!("{mode:04o} ({})", mode_letters(attributes)));
    line("Owner", format!("user {user}, group {group}"));
    line("Links", links.to_string());
    line("Number", format!("{file} on file system {file_system:x}"));
    line("Accessed", exact_time(attributes.accessed));
    line("Modified", exact_time(attributes.modified));
    line("Changed", exact_time(attributes.changed));
    if let Some((statistics, limits)) = &seen.file_system {
        line("Bytes", fullness(statistics.total_bytes, statistics.free_bytes, statistics.available_bytes));
        line("Files", fullness(statistics.total_files, statistics.free_files, statistics.available_files));
        line("Limits", limits_text(limits));
    }
    text
}

fn fullness(total: u64, free: u64, available: u64) -> String {
    let shown = |count: u64| if count >= NO_LIMIT { "no limit".to_owned() } else { count.to_string() };
    format!("{} in all, {} free, {} for this user", shown(total), shown(free), shown(available))
}

/// Servers without a limit of their own name the largest offset that there can be, give or take a block.
const NO_LIMIT: u64 = 1 << 62;

fn largest_file(bytes: u64) -> String {
    if bytes >= NO_LIMIT {
        "no limit of a file's size".to_owned()
    } else {
        format!("files up to {bytes} bytes")
    }
}

fn most_links(links: u32) -> String {
    if links == u32::MAX { "no limit of links".to_owned() } else { format!("up to {links} links of a node") }
}

fn limits_text(limits: &Limits) -> String {
    let can = |can: bool, what: &str| format!("{} {what}", if can { "has" } else { "no" });
    [
        largest_file(limits.largest_file),
        format!("names up to {} bytes", limits.longest_name),
        most_links(limits.most_links),
        format!("times in steps of {} ns", limits.time_step_nanoseconds),
        can(limits.hard_links, "hard links"),
        can(limits.symbolic_links, "symbolic links"),
        can(!limits.case_insensitive, "names that differ in case only"),
    ]
    .join(", ")
}

fn as_json(location: &Location, seen: &Seen) -> Value {
    let mut value = attributes_json(&seen.node.attributes);
    name_json(&mut value, "place", location.as_bytes());
    if let Some(target) = &seen.target {
        name_json(&mut value, "target", target);
    }
    if let Some((statistics, limits)) = &seen.file_system {
        value["statistics"] = json!({
            "total_bytes": statistics.total_bytes,
            "free_bytes": statistics.free_bytes,
            "available_bytes": statistics.available_bytes,
            "total_files": statistics.total_files,
            "free_files": statistics.free_files,
            "available_files": statistics.available_files,
        });
        value["limits"] = json!({
            "largest_file": limits.largest_file,
            "longest_name": limits.longest_name,
            "most_links": limits.most_links,
            "time_step_nanoseconds": limits.time_step_nanoseconds,
            "hard_links": limits.hard_links,
            "symbolic_links": limits.symbolic_links,
            "chown_restricted": limits.chown_restricted,
            "case_insensitive": limits.case_insensitive,
            "case_preserving": limits.case_preserving,
        });
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_limited_says_so() {
        assert_eq!(largest_file(i64::MAX as u64 - 4095), "no limit of a file's size");
        assert_eq!(largest_file(1 << 44), "files up to 17592186044416 bytes");
        assert_eq!(
            (most_links(u32::MAX), most_links(65_000)),
            ("no limit of links".to_owned(), "up to 65000 links of a node".to_owned())
        );
        assert_eq!(fullness(u64::MAX, u64::MAX, 5), "no limit in all, no limit free, 5 for this user");
    }
}
