//! SETATTR: mode, size and owner.

use crate::conformance::bench::Bench;
use crate::conformance::cases::cases;
use crate::conformance::expect::{equal, equal_bytes, refused};
use crate::conformance::verdict::Verdict;
use crate::{FileKind, FsError, NewAttributes, SetTime, Timestamp};

cases! { "setting attributes":
    a_mode_is_set,
    the_size_of_a_file_is_set,
    nothing_else_has_a_size_to_set,
    the_superuser_gives_files_away [Superuser],
    nothing_is_nothing,
    several_are_set_at_once,
}

fn a_mode_is_set(bench: &Bench<'_>) -> Verdict {
    let (file, directory) = (bench.file("f")?, bench.directory("d")?);
    for (node, kind) in [(file, FileKind::Regular), (directory, FileKind::Directory)] {
        for mode in [0o000, 0o777, 0o644, 0o1755, 0o4711, 0o2755, 0o7777] {
            bench.me.set(&node, NewAttributes::with_mode(mode))?;
            let attributes = bench.me.attributes(&node)?;
            equal("mode", attributes.mode, mode)?;
            equal("kind", attributes.kind, kind)?;
        }
    }
    Ok(())
}

fn the_size_of_a_file_is_set(bench: &Bench<'_>) -> Verdict {
    let file = bench.me.create_holding(&bench.home, "f", b"0123456789")?;
    for size in [10, 4, 0, 100_000, 4096] {
        bench.me.set(&file, NewAttributes::with_size(size))?;
        equal("size", bench.me.attributes(&file)?.size, size)?;
    }
    equal_bytes("content", &bench.me.read_all(&file, 0, 10_000)?, &[0; 4096])
}

fn nothing_else_has_a_size_to_set(bench: &Bench<'_>) -> Verdict {
    let link = bench.me.make_link(&bench.home, "l", "target")?;
    let pipe = bench.me.make_special(&bench.home, "p", crate::SpecialKind::Fifo, 0o600)?;
    let wrong = [FsError::IsDirectory, FsError::Invalid, FsError::NoDevice, FsError::BadType];
    for (what, node) in [("a directory", bench.home), ("a link", link), ("a pipe", pipe)] {
        refused(what, bench.me.set(&node, NewAttributes::with_size(0)), &wrong)?;
    }
    equal_bytes("the link's target", &bench.me.read_link(&link)?, b"target")
}

fn the_superuser_gives_files_away(bench: &Bench<'_>) -> Verdict {
    let link = bench.me.make_link(&bench.home, "l", "nowhere")?;
    for node in [bench.file("f")?, bench.directory("d")?, link] {
        let new = NewAttributes { user: Some(1234), group: Some(5678), ..NewAttributes::default() };
        bench.me.set(&node, new)?;
        let attributes = bench.me.attributes(&node)?;
        equal("user and group", (attributes.user, attributes.group), (1234, 5678))?;
        bench.me.set(&node, NewAttributes { group: Some(4), ..NewAttributes::default() })?;
        let attributes = bench.me.attributes(&node)?;
        equal("user and group", (attributes.user, attributes.group), (1234, 4))?;
    }
    Ok(())
}

fn nothing_is_nothing(bench: &Bench<'_>) -> Verdict {
    let file = bench.me.create_holding(&bench.home, "f", b"data")?;
    let before = bench.me.attributes(&file)?;
    bench.me.set(&file, NewAttributes::default())?;
    let after = bench.me.attributes(&file)?;
    equal("mode", after.mode, before.mode)?;
    equal("size", after.size, before.size)?;
    equal("modified", after.modified, before.modified)
}

fn several_are_set_at_once(bench: &Bench<'_>) -> Verdict {
    let file = bench.me.create_holding(&bench.home, "f", b"0123456789")?;
    let time = Timestamp { seconds: 77_777, nanoseconds: 0 };
    let new = NewAttributes {
        mode: Some(0o600),
        size: Some(3),
        accessed: SetTime::To(time),
        modified: SetTime::To(time),
        ..NewAttributes::default()
    };
    bench.me.set(&file, new)?;
    let attributes = bench.me.attributes(&file)?;
    equal("mode and size", (attributes.mode, attributes.size), (0o600, 3))?;
    equal("times", (attributes.accessed, attributes.modified), (time, time))
}
