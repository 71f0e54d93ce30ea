//! RENAME where it succeeds.

use crate::conformance::bench::Bench;
use crate::conformance::cases::cases;
use crate::conformance::expect::{equal, equal_bytes, failed, refused};
use crate::conformance::verdict::Verdict;
use crate::{FileKind, FsError};

cases! { "rename":
    the_node_stays_the_same,
    it_moves_to_another_directory,
    it_replaces_a_file,
    it_replaces_an_empty_directory,
    it_replaces_other_kinds_of_leaves,
    a_moved_directory_has_another_parent,
    what_lies_below_moves_along,
    a_link_moves_itself,
    a_node_onto_itself_is_nothing,
    two_names_of_one_node_both_stay,
    names_can_be_swapped,
}

fn names(names: &[&str]) -> Vec<Vec<u8>> {
    names.iter().map(|name| name.as_bytes().to_vec()).collect()
}

fn the_node_stays_the_same(bench: &Bench<'_>) -> Verdict {
    let file = bench.me.create_holding(&bench.home, "old", b"data")?;
    bench.me.rename((&bench.home, "old"), (&bench.home, "new"))?;
    equal("names", bench.me.names(&bench.home)?, names(&["new"]))?;
    let found = bench.me.look(&bench.home, "new")?;
    equal("handle", found.handle, file.handle)?;
    equal("file number", found.attributes.file, file.attributes.file)?;
    equal_bytes("content by the old handle", &bench.me.read_all(&file, 0, 9)?, b"data")
}

fn it_moves_to_another_directory(bench: &Bench<'_>) -> Verdict {
    let (from, to) = (bench.directory("from")?, bench.directory("to")?);
    let file = bench.me.create_holding(&from, "f", b"data")?;
    bench.me.rename((&from, "f"), (&to, "g"))?;
    equal("left", bench.me.names(&from)?, names(&[]))?;
    equal("entered", bench.me.names(&to)?, names(&["g"]))?;
    equal("handle", bench.me.look(&to, "g")?.handle, file.handle)?;
    equal_bytes("content by the old handle", &bench.me.read_all(&file, 0, 9)?, b"data")
}

fn it_replaces_a_file(bench: &Bench<'_>) -> Verdict {
    let new = bench.me.create_holding(&bench.home, "new", b"new")?;
    let old = bench.me.create_holding(&bench.home, "old", b"old")?;
    bench.me.rename((&bench.home, "new"), (&bench.home, "old"))?;
    equal("names", bench.me.names(&bench.home)?, names(&["old"]))?;
    equal("handle", bench.me.look(&bench.home, "old")?.handle, new.handle)?;
    refused("what was replaced", bench.me.attributes(&old), &[FsError::Stale])
}

fn it_replaces_an_empty_directory(bench: &Bench<'_>) -> Verdict {
    let (new, old) = (bench.directory("new")?, bench.directory("old")?);
    bench.me.create(&new, "f", 0o644)?;
    bench.me.rename((&bench.home, "new"), (&bench.home, "old"))?;
    let found = bench.me.look(&bench.home, "old")?;
    equal("handle", found.handle, new.handle)?;
    equal("entries", bench.me.names(&found)?, names(&["f"]))?;
    refused("what was replaced", bench.me.attributes(&old), &[FsError::Stale])
}

fn it_replaces_other_kinds_of_leaves(bench: &Bench<'_>) -> Verdict {
    let target = bench.file("target")?;
    bench.me.make_link(&bench.home, "l", "target")?;
    bench.file("f")?;
    bench.me.rename((&bench.home, "f"), (&bench.home, "l"))?;
    equal("kind", bench.me.look(&bench.home, "l")?.attributes.kind, FileKind::Regular)?;
    equal("the link's target", bench.me.look(&bench.home, "target")?.handle, target.handle)?;
    bench.me.make_link(&bench.home, "m", "nowhere")?;
    bench.me.rename((&bench.home, "m"), (&bench.home, "l"))?;
    equal("kind", bench.me.look(&bench.home, "l")?.attributes.kind, FileKind::SymbolicLink)
}

fn a_moved_directory_has_another_parent(bench: &Bench<'_>) -> Verdict {
    let (from, to) = (bench.directory("from")?, bench.directory("to")?);
    let moved = bench.me.make_directory(&from, "d", 0o755)?;
    bench.me.rename((&from, "d"), (&to, "d"))?;
    equal("parent", bench.me.parent(&moved)?.handle, to.handle)?;
    equal("parent by number", dot_dot(bench, &moved)?, to.attributes.file)
}

/// The file number that a directory lists for `..`.
fn dot_dot(bench: &Bench<'_>, directory: &crate::Node) -> Verdict<u64> {
    let entries = bench.me.list_by(directory, usize::MAX, crate::Detail::Names)?;
    let parent = entries.iter().find(|entry| entry.name == b"..");
    Ok(parent.ok_or_else(|| failed("`..` is not listed"))?.file)
}

fn what_lies_below_moves_along(bench: &Bench<'_>) -> Verdict {
    let (top, to) = (bench.directory("top")?, bench.directory("to")?);
    let middle = bench.me.make_directory(&top, "middle", 0o755)?;
    let file = bench.me.create_holding(&middle, "f", b"data")?;
    bench.me.rename((&bench.home, "top"), (&to, "renamed"))?;
    equal_bytes("content by the old handle", &bench.me.read_all(&file, 0, 9)?, b"data")?;
    equal("entries by the old handle", bench.me.names(&middle)?, names(&["f"]))?;
    bench.me.create(&middle, "g", 0o644)?;
    let found = bench.me.look(&bench.me.look(&bench.me.look(&to, "renamed")?, "middle")?, "f")?;
    equal("handle by the new path", found.handle, file.handle)
}

fn a_link_moves_itself(bench: &Bench<'_>) -> Verdict {
    let (file, to) = (bench.file("f")?, bench.directory("to")?);
    let link = bench.me.make_link(&bench.home, "l", "f")?;
    bench.me.rename((&bench.home, "l"), (&to, "l"))?;
    equal("handle", bench.me.look(&to, "l")?.handle, link.handle)?;
    equal_bytes("target", &bench.me.read_link(&link)?, b"f")?;
    equal("what it points to", bench.me.look(&bench.home, "f")?.handle, file.handle)
}

fn a_node_onto_itself_is_nothing(bench: &Bench<'_>) -> Verdict {
    let (file, directory) = (bench.file("f")?, bench.directory("d")?);
    bench.me.create(&directory, "inner", 0o644)?;
    for (name, node) in [("f", file), ("d", directory)] {
        bench.me.rename((&bench.home, name), (&bench.home, name))?;
        equal(name, bench.me.look(&bench.home, name)?.handle, node.handle)?;
    }
    equal("entries", bench.me.names(&directory)?, names(&["inner"]))
}

fn two_names_of_one_node_both_stay(bench: &Bench<'_>) -> Verdict {
    let file = bench.file("f")?;
    bench.me.link(&file, &bench.home, "g")?;
    bench.me.rename((&bench.home, "f"), (&bench.home, "g"))?;
    equal("names", bench.me.names(&bench.home)?, names(&["f", "g"]))?;
    equal("links", bench.me.attributes(&file)?.links, 2)
}

fn names_can_be_swapped(bench: &Bench<'_>) -> Verdict {
    let (one, other) = (bench.file("a")?, bench.file("b")?);
    bench.me.rename((&bench.home, "a"), (&bench.home, "t"))?;
    bench.me.rename((&bench.home, "b"), (&bench.home, "a"))?;
    bench.me.rename((&bench.home, "t"), (&bench.home, "b"))?;
    equal("a", bench.me.look(&bench.home, "a")?.handle, other.handle)?;
    equal("b", bench.me.look(&bench.home, "b")?.handle, one.handle)
}
