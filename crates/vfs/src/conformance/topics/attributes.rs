//! What GETATTR returns of a fresh node, and how it follows what happens to the node.

use crate::conformance::bench::Bench;
use crate::conformance::cases::cases;
use crate::conformance::expect::{equal, failed, holds};
use crate::conformance::verdict::Verdict;
use crate::{Detail, FileKind, NewAttributes, Node, Result, SetTime, Timestamp};

cases! { "attributes":
    the_root_is_a_directory,
    a_fresh_file_is_as_it_was_made,
    a_fresh_directory_is_as_it_was_made,
    a_fresh_node_belongs_to_its_maker,
    lookup_and_getattr_agree,
    file_numbers_tell_nodes_apart,
    no_file_number_is_0,
    a_write_changes_size_and_times,
    a_read_does_not_change_the_modification_time,
    an_entry_changes_its_directory,
    every_change_moves_the_change_time,
    a_directory_counts_its_children_or_never,
}

/// Long ago, so that any clock's "now" is another time.
const LONG_AGO: Timestamp = Timestamp { seconds: 1_000, nanoseconds: 0 };

fn the_root_is_a_directory(bench: &Bench<'_>) -> Verdict {
    let root = bench.root()?;
    equal("kind", root.attributes.kind, FileKind::Directory)?;
    equal("handle, asked again", bench.me.fs.root(), root.handle)?;
    holds("the root has a link", root.attributes.links > 0)
}

fn a_fresh_file_is_as_it_was_made(bench: &Bench<'_>) -> Verdict {
    for mode in [0o666, 0o777, 0o640, 0o000] {
        let file = bench.me.create(&bench.home, format!("mode-{mode:o}"), mode)?.attributes;
        equal("kind", file.kind, FileKind::Regular)?;
        equal("mode", file.mode, mode)?;
        equal("links", file.links, 1)?;
        equal("size", file.size, 0)?;
        equal("file system", file.file_system, bench.home.attributes.file_system)?;
    }
    Ok(())
}

fn a_fresh_directory_is_as_it_was_made(bench: &Bench<'_>) -> Verdict {
    for mode in [0o777, 0o700, 0o000, 0o1777] {
        let name = format!("mode-{mode:o}");
        let directory = bench.me.make_directory(&bench.home, &name, mode)?.attributes;
        equal("kind", directory.kind, FileKind::Directory)?;
        equal("mode", directory.mode, mode)?;
        holds("a directory has a link", directory.links > 0)?;
        // Who removes all of it may be unable to look into it.
        bench.me.remove_directory(&bench.home, &name)?;
    }
    Ok(())
}

fn a_fresh_node_belongs_to_its_maker(bench: &Bench<'_>) -> Verdict {
    let maker = &bench.me.caller;
    for node in [bench.file("f")?, bench.directory("d")?, bench.me.make_link(&bench.home, "l", "target")?] {
        equal("user", node.attributes.user, maker.user)?;
        equal("group", node.attributes.group, maker.group)?;
    }
    Ok(())
}

fn lookup_and_getattr_agree(bench: &Bench<'_>) -> Verdict {
    let file = bench.me.create_holding(&bench.home, "f", b"some bytes")?;
    let found = bench.me.look(&bench.home, "f")?;
    equal("handle", found.handle, file.handle)?;
    equal("attributes", found.attributes, bench.me.attributes(&file)?)
}

fn file_numbers_tell_nodes_apart(bench: &Bench<'_>) -> Verdict {
    let mut numbers = vec![bench.home.attributes.file];
    for number in 0..20 {
        numbers.push(bench.file(&format!("f{number}"))?.attributes.file);
    }
    let count = numbers.len();
    numbers.sort_unstable();
    numbers.dedup();
    equal("different numbers", numbers.len(), count)
}

/// Some clients take 0 for no number, and one of them panics.
fn no_file_number_is_0(bench: &Bench<'_>) -> Verdict {
    bench.file("f")?;
    bench.directory("d")?;
    bench.me.make_link(&bench.home, "l", "f")?;
    holds("the root has a number", bench.root()?.attributes.file != 0)?;
    for name in ["f", "d", "l"] {
        holds("a node has a number", bench.me.look(&bench.home, name)?.attributes.file != 0)?;
    }
    for entry in bench.me.list_by(&bench.home, usize::MAX, Detail::Names)? {
        holds("an entry has a number", entry.file != 0)?;
    }
    Ok(())
}

fn a_write_changes_size_and_times(bench: &Bench<'_>) -> Verdict {
    let file = bench.file("f")?;
    bench.me.set(&file, NewAttributes { modified: SetTime::To(LONG_AGO), ..NewAttributes::default() })?;
    let before = bench.me.attributes(&file)?;
    bench.me.write_all(&file, 0, b"12345")?;
    let after = bench.me.attributes(&file)?;
    equal("size", after.size, 5)?;
    holds("the modification time moved on", after.modified > LONG_AGO)?;
    holds("the change time did not go back", after.changed >= before.changed)
}

fn a_read_does_not_change_the_modification_time(bench: &Bench<'_>) -> Verdict {
    let file = bench.me.create_holding(&bench.home, "f", b"12345")?;
    let before = bench.me.attributes(&file)?;
    bench.me.read(&file, 0, 5)?;
    let after = bench.me.attributes(&file)?;
    equal("modified", after.modified, before.modified)?;
    equal("changed", after.changed, before.changed)
}

fn an_entry_changes_its_directory(bench: &Bench<'_>) -> Verdict {
    let back = NewAttributes { modified: SetTime::To(LONG_AGO), ..NewAttributes::default() };
    let moved_on = |what: &str| -> Verdict {
        holds(what, bench.me.attributes(&bench.home)?.modified > LONG_AGO)?;
        Ok(bench.me.set(&bench.home, back)?)
    };
    bench.me.set(&bench.home, back)?;
    let file = bench.file("f")?;
    moved_on("CREATE moves its time on")?;
    bench.directory("d")?;
    moved_on("MKDIR moves its time on")?;
    bench.me.link(&file, &bench.home, "g")?;
    moved_on("LINK moves its time on")?;
    bench.me.rename((&bench.home, "g"), (&bench.home, "h"))?;
    moved_on("RENAME moves its time on")?;
    bench.me.remove(&bench.home, "h")?;
    moved_on("REMOVE moves its time on")?;
    bench.me.remove_directory(&bench.home, "d")?;
    moved_on("RMDIR moves its time on")
}

/// Kernels keep the time in ticks, so a change is made again until a tick has passed: this often, at most.
const MOST_CHANGES: usize = 20_000;

/// Caches of clients stand and fall with this: whatever changes a node, its change time shows it.
fn every_change_moves_the_change_time(bench: &Bench<'_>) -> Verdict {
    let (me, home) = (&bench.me, &bench.home);
    let file = bench.file("f")?;
    let times = NewAttributes { modified: SetTime::To(LONG_AGO), ..NewAttributes::default() };
    moves_on(bench, &file, "a mode", &mut || me.set(&file, NewAttributes::with_mode(0o600)))?;
    moves_on(bench, &file, "a time", &mut || me.set(&file, times))?;
    moves_on(bench, &file, "a write", &mut || me.write_all(&file, 0, b"data"))?;
    moves_on(bench, &file, "a truncation", &mut || {
        me.set(&file, NewAttributes::with_size(1))?;
        me.set(&file, NewAttributes::with_size(2))
    })?;
    moves_on(bench, &file, "a link that comes", &mut || {
        me.link(&file, home, "g")?;
        me.remove(home, "g")
    })
}

/// Makes a change until the node's change time is another one.
fn moves_on(bench: &Bench<'_>, node: &Node, what: &str, change: &mut dyn FnMut() -> Result<()>) -> Verdict {
    let before = bench.me.attributes(node)?.changed;
    for _ in 0..MOST_CHANGES {
        change()?;
        let after = bench.me.attributes(node)?.changed;
        holds("the change time does not go back", after >= before)?;
        if after > before {
            return Ok(());
        }
    }
    Err(failed(format!("{what} does not move the change time on")))
}

/// Most file systems count the `..` of each child as a link; some have one link always.
fn a_directory_counts_its_children_or_never(bench: &Bench<'_>) -> Verdict {
    let (directory, other) = (bench.directory("d")?, bench.directory("other")?);
    let links = |directory: &Node| -> Verdict<u32> { Ok(bench.me.attributes(directory)?.links) };
    let none = links(&directory)?;
    let step = if none == 1 { 0 } else { 1 };
    for (count, name) in [(1, "a"), (2, "b"), (3, "c")] {
        bench.me.make_directory(&directory, name, 0o755)?;
        equal("links with children", links(&directory)?, none + count * step)?;
    }
    bench.me.create(&directory, "f", 0o644)?;
    equal("links with a file", links(&directory)?, none + 3 * step)?;
    bench.me.rename((&directory, "a"), (&other, "a"))?;
    equal("links after one moved out", links(&directory)?, none + 2 * step)?;
    equal("links where it moved to", links(&other)?, none + step)?;
    bench.me.rename((&directory, "b"), (&directory, "c"))?;
    equal("links after one replaced another", links(&directory)?, none + step)?;
    bench.me.remove_directory(&directory, "c")?;
    equal("links without children", links(&directory)?, none)
}
