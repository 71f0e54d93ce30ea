//! SYMLINK and READLINK: the server keeps a target, and never follows it.

use crate::conformance::bench::Bench;
use crate::conformance::cases::cases;
use crate::conformance::expect::{equal, equal_bytes, refused};
use crate::conformance::verdict::Verdict;
use crate::{FileKind, FsError, NewAttributes};

cases! { "symbolic link":
    the_target_comes_back,
    it_is_a_node_of_its_own,
    it_is_never_followed,
    the_longest_target_comes_back,
    a_target_that_is_none_is_refused,
    a_name_that_exists_is_refused,
    nothing_else_has_a_target,
}

fn the_target_comes_back(bench: &Bench<'_>) -> Verdict {
    let targets: [&[u8]; 8] =
        [b"f", b"..", b"../../../../etc/passwd", b"/", b"/etc//passwd/", b"a\nb", b"\xff\xfe\x01", b"-"];
    for (number, target) in targets.into_iter().enumerate() {
        let link = bench.me.make_link(&bench.home, format!("l{number}"), target)?;
        equal_bytes("target", &bench.me.read_link(&link)?, target)?;
        equal("size", link.attributes.size, target.len() as u64)?;
    }
    Ok(())
}

fn it_is_a_node_of_its_own(bench: &Bench<'_>) -> Verdict {
    let file = bench.file("f")?;
    let link = bench.me.make_link(&bench.home, "l", "f")?;
    equal("kind", link.attributes.kind, FileKind::SymbolicLink)?;
    equal("links", link.attributes.links, 1)?;
    let found = bench.me.look(&bench.home, "l")?;
    equal("handle", found.handle, link.handle)?;
    equal("attributes", found.attributes, bench.me.attributes(&link)?)?;
    equal("is the file", found.handle == file.handle, false)
}

fn it_is_never_followed(bench: &Bench<'_>) -> Verdict {
    let (file, directory) = (bench.file("f")?, bench.directory("d")?);
    let to_file = bench.me.make_link(&bench.home, "lf", "f")?;
    let to_directory = bench.me.make_link(&bench.home, "ld", "d")?;
    // Whether a link has a mode of its own, and whether asking is refused, is the file system's affair.
    let _ = bench.me.set(&to_file, NewAttributes::with_mode(0o600));
    let _ = bench.me.set(&to_file, NewAttributes::with_size(100));
    equal("the file it points to", bench.me.attributes(&file)?, file.attributes)?;
    let wrong = [FsError::NotDirectory];
    refused("CREATE", bench.me.create(&to_directory, "x", 0o644), &wrong)?;
    refused("LOOKUP", bench.me.look(&to_directory, "x"), &wrong)?;
    equal("entries", bench.me.names(&directory)?.len(), 0)
}

fn the_longest_target_comes_back(bench: &Bench<'_>) -> Verdict {
    let longest = bench.abilities().longest_link_target;
    for length in [longest / 2, longest - 1, longest] {
        let target = vec![b'x'; length];
        let link = bench.me.make_link(&bench.home, format!("l{length}"), &target)?;
        equal_bytes("target", &bench.me.read_link(&link)?, &target)?;
    }
    Ok(())
}

fn a_target_that_is_none_is_refused(bench: &Bench<'_>) -> Verdict {
    let wrong = [FsError::Invalid, FsError::NotFound, FsError::AccessDenied];
    refused("no target", bench.me.make_link(&bench.home, "l", ""), &wrong)?;
    refused("a NUL", bench.me.make_link(&bench.home, "l", "a\0b"), &wrong)?;
    let too_long = [FsError::NameTooLong, FsError::Invalid];
    refused("4096 bytes", bench.me.make_link(&bench.home, "l", [b'x'; 4096]), &too_long)?;
    equal("names", bench.me.names(&bench.home)?.len(), 0)
}

fn a_name_that_exists_is_refused(bench: &Bench<'_>) -> Verdict {
    bench.file("f")?;
    bench.me.make_link(&bench.home, "l", "f")?;
    for name in ["f", "l"] {
        refused(name, bench.me.make_link(&bench.home, name, "g"), &[FsError::Exists])?;
    }
    equal_bytes("target", &bench.me.read_link(&bench.me.look(&bench.home, "l")?)?, b"f")
}

fn nothing_else_has_a_target(bench: &Bench<'_>) -> Verdict {
    let file = bench.file("f")?;
    refused("a file", bench.me.read_link(&file), &[FsError::Invalid])?;
    refused("a directory", bench.me.read_link(&bench.home), &[FsError::Invalid])
}
