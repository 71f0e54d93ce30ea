//! Listing a directory page by page while it changes: what stays is listed exactly once.

use std::collections::HashMap;

use crate::conformance::actor::{Actor, Listed};
use crate::conformance::bench::Bench;
use crate::conformance::cases::cases;
use crate::conformance::expect::{equal, failed};
use crate::conformance::verdict::Verdict;
use crate::{Detail, Node};

cases! { "paging":
    a_large_directory_is_listed_exactly_once,
    removing_what_was_listed_loses_nothing,
    removing_what_was_not_listed_loses_nothing_else,
    adding_repeats_nothing,
    renaming_repeats_nothing_else,
    replacing_repeats_nothing,
    a_listing_goes_on_after_a_removed_entry,
    a_directory_is_emptied_while_it_is_listed,
}

/// How many entries the changing directories have: several pages' worth for any page size of a protocol.
const ENTRIES: usize = 300;

/// Entries per page.
const PAGE: usize = 20;

/// More than that, every entry a few times over, is not the way to an end.
const LISTED_MAX: usize = 10 * ENTRIES;

fn name(number: usize) -> String {
    format!("entry-{number:05}")
}

fn fill(bench: &Bench<'_>, count: usize) -> Verdict {
    (0..count).try_for_each(|number| bench.file(&name(number)).map(drop))
}

/// Lists all by pages; after each page `between` may change the directory; it gets what was listed so far.
fn list(
    bench: &Bench<'_>,
    mut between: impl FnMut(&Actor<'_>, &Node, &[Listed]) -> Verdict,
) -> Verdict<Vec<Listed>> {
    let mut listed: Vec<Listed> = Vec::new();
    loop {
        let cookie = listed.last().map_or(0, |last| last.cookie);
        let page = bench.me.page(&bench.home, cookie, PAGE, Detail::Names)?;
        if page.entries.is_empty() && !page.end {
            return Err(failed("neither an entry nor the end"));
        }
        listed.extend(page.entries);
        if page.end {
            return Ok(listed);
        }
        if listed.len() > LISTED_MAX {
            return Err(failed("the listing goes round and round"));
        }
        between(&bench.me, &bench.home, &listed)?;
    }
}

/// Each of these names must be listed exactly once, and no name twice.
fn exactly_once(listed: &[Listed], stayed: impl Iterator<Item = String>) -> Verdict {
    let mut times: HashMap<&[u8], usize> = HashMap::new();
    for entry in listed {
        *times.entry(&entry.name).or_default() += 1;
    }
    for name in stayed {
        equal(&format!("times that {name} is listed"), times.get(name.as_bytes()).copied(), Some(1))?;
    }
    match times.iter().find(|&(_, &times)| times > 1) {
        None => Ok(()),
        Some((name, times)) => Err(failed(format!("{} is listed {times} times", name.escape_ascii()))),
    }
}

/// The number in one of our names.
fn number(entry: &Listed) -> Option<usize> {
    std::str::from_utf8(entry.name.strip_prefix(b"entry-")?).ok()?.parse().ok()
}

fn a_large_directory_is_listed_exactly_once(bench: &Bench<'_>) -> Verdict {
    let count = bench.abilities().many_entries;
    fill(bench, count)?;
    for (most, detail) in [(100, Detail::Names), (1000, Detail::Nodes)] {
        let listed = bench.me.list_by(&bench.home, most, detail)?;
        equal("entries", listed.len(), count + 2)?;
        exactly_once(&listed, (0..count).map(name))?;
    }
    Ok(())
}

fn removing_what_was_listed_loses_nothing(bench: &Bench<'_>) -> Verdict {
    fill(bench, ENTRIES)?;
    let mut removed = Vec::new();
    let listed = list(bench, |me, home, listed| {
        // Every other entry of the page: the last one, whose cookie is used next, among them.
        for entry in listed[listed.len() - PAGE..].iter().rev().step_by(2) {
            if let Some(number) = number(entry) {
                me.remove(home, &entry.name)?;
                removed.push(number);
            }
        }
        Ok(())
    })?;
    exactly_once(&listed, (0..ENTRIES).map(name))?;
    equal("entries left", bench.me.names(&bench.home)?.len(), ENTRIES - removed.len())
}

fn removing_what_was_not_listed_loses_nothing_else(bench: &Bench<'_>) -> Verdict {
    fill(bench, ENTRIES)?;
    let mut there: Vec<bool> = vec![true; ENTRIES];
    let listed = list(bench, |me, home, listed| {
        let mut unseen = there.clone();
        listed.iter().filter_map(number).for_each(|number| unseen[number] = false);
        let victims = (0..ENTRIES).filter(|&number| unseen[number]).step_by(9).take(5);
        for number in victims {
            me.remove(home, name(number))?;
            there[number] = false;
        }
        Ok(())
    })?;
    exactly_once(&listed, (0..ENTRIES).filter(|&number| there[number]).map(name))
}

fn adding_repeats_nothing(bench: &Bench<'_>) -> Verdict {
    fill(bench, ENTRIES)?;
    let mut added = 0;
    let listed = list(bench, |me, home, _| {
        // Fewer than a page, so that the listing comes to its end.
        for _ in 0..PAGE / 4 {
            me.create(home, format!("added-{added}"), 0o600)?;
            added += 1;
        }
        Ok(())
    })?;
    exactly_once(&listed, (0..ENTRIES).map(name))
}

fn renaming_repeats_nothing_else(bench: &Bench<'_>) -> Verdict {
    fill(bench, ENTRIES)?;
    let mut there: Vec<bool> = vec![true; ENTRIES];
    let mut renamed = 0;
    let listed = list(bench, |me, home, _| {
        for _ in 0..3 {
            let victim = (renamed * 37) % ENTRIES;
            renamed += 1;
            if std::mem::replace(&mut there[victim], false) {
                me.rename((home, name(victim)), (home, format!("renamed-{renamed}")))?;
            }
        }
        Ok(())
    })?;
    exactly_once(&listed, (0..ENTRIES).filter(|&number| there[number]).map(name))
}

/// A name that gets another node stays a name all the time, so it is listed exactly once too.
fn replacing_repeats_nothing(bench: &Bench<'_>) -> Verdict {
    fill(bench, ENTRIES)?;
    let spare = bench.directory("spare")?;
    let mut replaced = 0;
    let listed = list(bench, |me, home, _| {
        for _ in 0..3 {
            let victim = (replaced * 41) % ENTRIES;
            replaced += 1;
            me.create(&spare, "new", 0o600)?;
            me.rename((&spare, "new"), (home, name(victim)))?;
        }
        Ok(())
    })?;
    exactly_once(&listed, std::iter::empty())?;
    if !bench.abilities().replaced_names_keep_their_place {
        return Ok(());
    }
    let missing =
        (0..ENTRIES).filter(|&number| !listed.iter().any(|entry| entry.name == name(number).as_bytes()));
    equal("replaced names that were never listed", missing.count(), 0)
}

fn a_listing_goes_on_after_a_removed_entry(bench: &Bench<'_>) -> Verdict {
    fill(bench, 50)?;
    let whole = bench.me.list_by(&bench.home, usize::MAX, Detail::Names)?;
    let ours = |entry: &&Listed| number(entry).is_some();
    for entry in whole.iter().filter(ours).step_by(3) {
        bench.me.remove(&bench.home, &entry.name)?;
    }
    // By name: an entry's cookie may be another once the entry behind it is gone (on ext4 it is the next one's hash).
    let names = |entries: &[Listed]| entries.iter().map(|entry| entry.name.clone()).collect::<Vec<_>>();
    let left = names(&bench.me.list_by(&bench.home, usize::MAX, Detail::Names)?);
    for (at, gone) in whole.iter().enumerate() {
        let rest = bench.me.page(&bench.home, gone.cookie, usize::MAX, Detail::Names)?.entries;
        let mut later = names(&whole[at + 1..]);
        later.retain(|name| left.contains(name));
        equal("the rest", names(&rest), later)?;
    }
    Ok(())
}

/// What `rm -r` does.
fn a_directory_is_emptied_while_it_is_listed(bench: &Bench<'_>) -> Verdict {
    let directory = bench.directory("d")?;
    (0..ENTRIES).try_for_each(|number| bench.me.create(&directory, name(number), 0o600).map(drop))?;
    let mut cookie = 0;
    loop {
        let page = bench.me.page(&directory, cookie, PAGE, Detail::Names)?;
        for entry in &page.entries {
            cookie = entry.cookie;
            if number(entry).is_some() {
                bench.me.remove(&directory, &entry.name)?;
            }
        }
        if page.end {
            break;
        }
    }
    Ok(bench.me.remove_directory(&bench.home, "d")?)
}
