//! RENAME where it is refused: nothing may have changed.

use crate::FsError;
use crate::conformance::bench::Bench;
use crate::conformance::cases::cases;
use crate::conformance::expect::{equal, refused};
use crate::conformance::verdict::Verdict;

cases! { "rename refused":
    an_unknown_name_is_not_found,
    a_directory_does_not_go_into_itself,
    a_directory_does_not_replace_what_it_lies_in,
    a_directory_with_entries_is_not_replaced,
    a_directory_replaces_no_file,
    a_file_replaces_no_directory,
    names_lie_in_directories,
}

fn an_unknown_name_is_not_found(bench: &Bench<'_>) -> Verdict {
    let target = bench.file("target")?;
    refused("f", bench.me.rename((&bench.home, "f"), (&bench.home, "g")), &[FsError::NotFound])?;
    refused("f", bench.me.rename((&bench.home, "f"), (&bench.home, "target")), &[FsError::NotFound])?;
    equal("target", bench.me.look(&bench.home, "target")?.handle, target.handle)
}

fn a_directory_does_not_go_into_itself(bench: &Bench<'_>) -> Verdict {
    let outer = bench.directory("outer")?;
    let inner = bench.me.make_directory(&outer, "inner", 0o755)?;
    for into in [outer, inner] {
        refused("outer", bench.me.rename((&bench.home, "outer"), (&into, "x")), &[FsError::Invalid])?;
    }
    equal("handle", bench.me.look(&bench.home, "outer")?.handle, outer.handle)?;
    equal("handle", bench.me.look(&outer, "inner")?.handle, inner.handle)
}

fn a_directory_does_not_replace_what_it_lies_in(bench: &Bench<'_>) -> Verdict {
    let outer = bench.directory("outer")?;
    let middle = bench.me.make_directory(&outer, "middle", 0o755)?;
    bench.me.make_directory(&middle, "inner", 0o755)?;
    let full = [FsError::NotEmpty, FsError::Exists];
    refused("inner", bench.me.rename((&middle, "inner"), (&bench.home, "outer")), &full)?;
    refused("middle", bench.me.rename((&outer, "middle"), (&bench.home, "outer")), &full)?;
    bench.me.look(&middle, "inner")?;
    Ok(())
}

fn a_directory_with_entries_is_not_replaced(bench: &Bench<'_>) -> Verdict {
    let (one, other) = (bench.directory("one")?, bench.directory("other")?);
    bench.me.create(&other, "f", 0o644)?;
    let full = [FsError::NotEmpty, FsError::Exists];
    refused("one", bench.me.rename((&bench.home, "one"), (&bench.home, "other")), &full)?;
    equal("one", bench.me.look(&bench.home, "one")?.handle, one.handle)?;
    equal("other", bench.me.look(&bench.home, "other")?.handle, other.handle)?;
    bench.me.look(&other, "f")?;
    Ok(())
}

fn a_directory_replaces_no_file(bench: &Bench<'_>) -> Verdict {
    let (file, _) = (bench.file("f")?, bench.directory("d")?);
    // RFC 1813 3.3.14 says NFS3ERR_EXIST, POSIX ENOTDIR.
    let wrong = [FsError::NotDirectory, FsError::Exists];
    refused("d", bench.me.rename((&bench.home, "d"), (&bench.home, "f")), &wrong)?;
    equal("f", bench.me.look(&bench.home, "f")?.handle, file.handle)
}

fn a_file_replaces_no_directory(bench: &Bench<'_>) -> Verdict {
    let (_, directory) = (bench.file("f")?, bench.directory("d")?);
    bench.me.make_link(&bench.home, "l", "d")?;
    let wrong = [FsError::IsDirectory, FsError::Exists];
    refused("f", bench.me.rename((&bench.home, "f"), (&bench.home, "d")), &wrong)?;
    refused("l", bench.me.rename((&bench.home, "l"), (&bench.home, "d")), &wrong)?;
    equal("d", bench.me.look(&bench.home, "d")?.handle, directory.handle)
}

fn names_lie_in_directories(bench: &Bench<'_>) -> Verdict {
    let (file, other) = (bench.file("f")?, bench.file("g")?);
    let wrong = [FsError::NotDirectory];
    refused("from a file", bench.me.rename((&file, "x"), (&bench.home, "y")), &wrong)?;
    refused("into a file", bench.me.rename((&bench.home, "f"), (&other, "y")), &wrong)?;
    equal("f", bench.me.look(&bench.home, "f")?.handle, file.handle)
}
