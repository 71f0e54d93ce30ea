//! READDIR and READDIRPLUS of a directory that stays as it is.

use crate::conformance::bench::Bench;
use crate::conformance::cases::cases;
use crate::conformance::expect::{equal, failed, holds, refused};
use crate::conformance::verdict::Verdict;
use crate::{Detail, FsError};

cases! { "directory":
    an_empty_directory_lists_itself_and_its_parent,
    the_root_lists_itself_as_its_parent,
    dots_come_with_the_right_nodes_or_none,
    every_entry_is_listed_once,
    file_numbers_are_those_of_the_nodes,
    details_are_those_of_lookup,
    cookies_are_never_zero_and_all_different,
    a_listing_goes_on_at_any_cookie,
    the_end_is_told_at_the_end,
    a_sink_that_wants_nothing_gets_nothing,
    only_directories_are_listed,
    a_cookie_of_nobody_does_no_harm,
}

fn an_empty_directory_lists_itself_and_its_parent(bench: &Bench<'_>) -> Verdict {
    let directory = bench.directory("d")?;
    let mut entries = bench.me.list_by(&directory, usize::MAX, Detail::Names)?;
    entries.sort_by(|one, other| one.name.cmp(&other.name));
    let seen: Vec<_> = entries.iter().map(|entry| (&entry.name[..], entry.file)).collect();
    let own = directory.attributes.file;
    equal("entries", seen, vec![(&b"."[..], own), (&b".."[..], bench.home.attributes.file)])
}

/// What lies above the root is nobody's business.
fn the_root_lists_itself_as_its_parent(bench: &Bench<'_>) -> Verdict {
    let root = bench.root()?;
    for detail in [Detail::Names, Detail::Nodes] {
        let entries = bench.me.list_by(&root, usize::MAX, detail)?;
        for entry in entries.iter().filter(|entry| matches!(&entry.name[..], b"." | b"..")) {
            equal("file number", entry.file, root.attributes.file)?;
            equal("handle", entry.node.map_or(root.handle, |node| node.handle), root.handle)?;
        }
    }
    Ok(())
}

fn dots_come_with_the_right_nodes_or_none(bench: &Bench<'_>) -> Verdict {
    let directory = bench.directory("d")?;
    for entry in bench.me.list_by(&directory, usize::MAX, Detail::Nodes)? {
        let wanted = if entry.name == b"." { directory } else { bench.home };
        let seen = entry.node.unwrap_or(wanted);
        equal("handle", seen.handle, wanted.handle)?;
        equal("file number", seen.attributes.file, entry.file)?;
    }
    Ok(())
}

/// Entries of every kind.
fn fill(bench: &Bench<'_>) -> Verdict<Vec<Vec<u8>>> {
    bench.file("file")?;
    bench.directory("directory")?;
    bench.me.make_link(&bench.home, "link", "nowhere")?;
    bench.me.make_special(&bench.home, "pipe", crate::SpecialKind::Fifo, 0o600)?;
    bench
        .me
        .create(&bench.home, b"\xf0\x9f", 0o600)
        .or_else(|_| bench.me.create(&bench.home, "odd", 0o600))?;
    (0..30).try_for_each(|number| bench.file(&format!("file-{number}")).map(drop))?;
    Ok(bench.me.names(&bench.home)?)
}

fn every_entry_is_listed_once(bench: &Bench<'_>) -> Verdict {
    let names = fill(bench)?;
    equal("entries", names.len(), 35)?;
    for name in &names {
        bench.me.look(&bench.home, name)?;
    }
    let mut once = names.clone();
    once.dedup();
    equal("names", once, names)
}

fn file_numbers_are_those_of_the_nodes(bench: &Bench<'_>) -> Verdict {
    fill(bench)?;
    for entry in bench.me.list_by(&bench.home, 7, Detail::Names)? {
        let wanted = match &entry.name[..] {
            b"." => bench.home.attributes.file,
            b".." => bench.root()?.attributes.file,
            name => bench.me.look(&bench.home, name)?.attributes.file,
        };
        equal(&format!("file number of {}", entry.name.escape_ascii()), entry.file, wanted)?;
    }
    Ok(())
}

fn details_are_those_of_lookup(bench: &Bench<'_>) -> Verdict {
    fill(bench)?;
    for entry in bench.me.list_by(&bench.home, 7, Detail::Nodes)? {
        if matches!(&entry.name[..], b"." | b"..") {
            continue;
        }
        let what = format!("\"{}\"", entry.name.escape_ascii());
        let node = entry.node.ok_or_else(|| failed(format!("{what} comes without its node")))?;
        let found = bench.me.look(&bench.home, &entry.name)?;
        equal(&what, node.handle, found.handle)?;
        equal(&what, node.attributes, found.attributes)?;
    }
    Ok(())
}

fn cookies_are_never_zero_and_all_different(bench: &Bench<'_>) -> Verdict {
    fill(bench)?;
    let entries = bench.me.list_by(&bench.home, usize::MAX, Detail::Names)?;
    let mut cookies: Vec<_> = entries.iter().map(|entry| entry.cookie).collect();
    cookies.sort_unstable();
    cookies.dedup();
    equal("different cookies", cookies.len(), entries.len())?;
    holds("no cookie is 0", !cookies.contains(&0))
}

fn a_listing_goes_on_at_any_cookie(bench: &Bench<'_>) -> Verdict {
    fill(bench)?;
    let whole = bench.me.list_by(&bench.home, usize::MAX, Detail::Names)?;
    for most in [1, 2, 7] {
        equal(
            &format!("{most} at a time"),
            bench.me.list_by(&bench.home, most, Detail::Names)?,
            whole.clone(),
        )?;
    }
    for (at, entry) in whole.iter().enumerate() {
        let rest = bench.me.page(&bench.home, entry.cookie, usize::MAX, Detail::Names)?;
        equal("the rest", &rest.entries[..], &whole[at + 1..])?;
        holds("the rest reaches the end", rest.end)?;
    }
    Ok(())
}

fn the_end_is_told_at_the_end(bench: &Bench<'_>) -> Verdict {
    fill(bench)?;
    let count = bench.me.list_by(&bench.home, usize::MAX, Detail::Names)?.len();
    for most in [1, count - 1] {
        let page = bench.me.page(&bench.home, 0, most, Detail::Names)?;
        equal("entries", page.entries.len(), most)?;
        holds("a part does not reach the end", !page.end)?;
    }
    holds("all of it reaches the end", bench.me.page(&bench.home, 0, count + 1, Detail::Names)?.end)
}

fn a_sink_that_wants_nothing_gets_nothing(bench: &Bench<'_>) -> Verdict {
    fill(bench)?;
    let page = bench.me.page(&bench.home, 0, 0, Detail::Nodes)?;
    equal("entries", page.entries.len(), 0)?;
    holds("that was not the end", !page.end)
}

fn only_directories_are_listed(bench: &Bench<'_>) -> Verdict {
    let file = bench.file("f")?;
    let link = bench.me.make_link(&bench.home, "l", ".")?;
    for (what, node) in [("a file", file), ("a link", link)] {
        for detail in [Detail::Names, Detail::Nodes] {
            refused(what, bench.me.page(&node, 0, 10, detail), &[FsError::NotDirectory])?;
        }
    }
    Ok(())
}

/// A client may bring any cookie: the answer is entries, the end, or BAD_COOKIE.
fn a_cookie_of_nobody_does_no_harm(bench: &Bench<'_>) -> Verdict {
    fill(bench)?;
    for cookie in [3, 12_345, u64::from(u32::MAX), i64::MAX as u64, 1 << 63, u64::MAX] {
        match bench.me.page(&bench.home, cookie, 100, Detail::Nodes) {
            Ok(_) | Err(FsError::BadCookie | FsError::Invalid) => {}
            Err(error) => return Err(failed(format!("cookie {cookie}: refused with {error:?}"))),
        }
    }
    equal("entries afterwards", bench.me.names(&bench.home)?.len(), 35)
}
