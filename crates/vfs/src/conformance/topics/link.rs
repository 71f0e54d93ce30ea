//! LINK: several names of one node.

use crate::conformance::bench::Bench;
use crate::conformance::cases::cases;
use crate::conformance::expect::{equal, equal_bytes, refused};
use crate::conformance::verdict::Verdict;
use crate::{FileKind, FsError, NewAttributes, SpecialKind};

cases! { "link":
    two_names_are_one_node,
    it_crosses_directories,
    a_name_that_exists_is_refused,
    a_directory_has_one_name,
    leaves_of_other_kinds_have_names_too,
    a_node_goes_with_its_last_name,
    only_a_directory_takes_a_link,
    attributes_are_shared,
}

fn two_names_are_one_node(bench: &Bench<'_>) -> Verdict {
    let file = bench.file("f")?;
    let after = bench.me.link(&file, &bench.home, "g")?;
    equal("links", after.links, 2)?;
    let other = bench.me.look(&bench.home, "g")?;
    equal("handle", other.handle, file.handle)?;
    equal("file number", other.attributes.file, file.attributes.file)?;
    equal("links", other.attributes.links, 2)
}

fn it_crosses_directories(bench: &Bench<'_>) -> Verdict {
    let (file, directory) = (bench.me.create_holding(&bench.home, "f", b"data")?, bench.directory("d")?);
    bench.me.link(&file, &directory, "f")?;
    let other = bench.me.look(&directory, "f")?;
    equal("handle", other.handle, file.handle)?;
    bench.me.remove(&bench.home, "f")?;
    equal_bytes("content", &bench.me.read_all(&other, 0, 9)?, b"data")?;
    equal("links", bench.me.attributes(&file)?.links, 1)
}

fn a_name_that_exists_is_refused(bench: &Bench<'_>) -> Verdict {
    let file = bench.file("f")?;
    bench.file("g")?;
    bench.directory("d")?;
    for name in ["f", "g", "d"] {
        refused(name, bench.me.link(&file, &bench.home, name), &[FsError::Exists])?;
    }
    equal("links", bench.me.attributes(&file)?.links, 1)
}

fn a_directory_has_one_name(bench: &Bench<'_>) -> Verdict {
    let directory = bench.directory("d")?;
    let wrong = [FsError::NotPermitted, FsError::IsDirectory, FsError::Invalid];
    refused("LINK", bench.me.link(&directory, &bench.home, "e"), &wrong)?;
    refused("e", bench.me.look(&bench.home, "e"), &[FsError::NotFound])
}

fn leaves_of_other_kinds_have_names_too(bench: &Bench<'_>) -> Verdict {
    bench.file("target")?;
    let link = bench.me.make_link(&bench.home, "l", "target")?;
    let fifo = bench.me.make_special(&bench.home, "p", SpecialKind::Fifo, 0o644)?;
    for (name, node, kind) in [("m", link, FileKind::SymbolicLink), ("q", fifo, FileKind::Fifo)] {
        bench.me.link(&node, &bench.home, name)?;
        let other = bench.me.look(&bench.home, name)?;
        equal("kind", other.attributes.kind, kind)?;
        equal("handle", other.handle, node.handle)?;
    }
    equal("links of the target", bench.me.look(&bench.home, "target")?.attributes.links, 1)
}

fn a_node_goes_with_its_last_name(bench: &Bench<'_>) -> Verdict {
    let file = bench.file("f")?;
    for name in ["g", "h"] {
        bench.me.link(&file, &bench.home, name)?;
    }
    for (name, links) in [("f", 2), ("h", 1)] {
        bench.me.remove(&bench.home, name)?;
        equal("links", bench.me.attributes(&file)?.links, links)?;
    }
    bench.me.remove(&bench.home, "g")?;
    refused("GETATTR", bench.me.attributes(&file), &[FsError::Stale])
}

fn only_a_directory_takes_a_link(bench: &Bench<'_>) -> Verdict {
    let (file, other) = (bench.file("f")?, bench.file("g")?);
    refused("LINK", bench.me.link(&file, &other, "x"), &[FsError::NotDirectory])?;
    equal("links", bench.me.attributes(&file)?.links, 1)
}

fn attributes_are_shared(bench: &Bench<'_>) -> Verdict {
    let file = bench.file("f")?;
    bench.me.link(&file, &bench.home, "g")?;
    let other = bench.me.look(&bench.home, "g")?;
    bench.me.set(&other, NewAttributes::with_mode(0o600))?;
    equal("mode", bench.me.look(&bench.home, "f")?.attributes.mode, 0o600)
}
