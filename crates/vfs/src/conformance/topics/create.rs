//! CREATE, unchecked and guarded, and MKDIR.

use crate::conformance::bench::Bench;
use crate::conformance::cases::cases;
use crate::conformance::expect::{equal, equal_bytes, refused};
use crate::conformance::verdict::Verdict;
use crate::{Create, FileKind, FsError, NewAttributes, SetTime, Timestamp};

cases! { "create":
    unchecked_makes_a_file,
    unchecked_takes_the_file_that_is_there,
    unchecked_truncates_when_a_size_is_given,
    unchecked_takes_nothing_but_a_file,
    guarded_refuses_any_name_that_exists,
    a_new_file_takes_size_and_times,
    a_new_file_takes_its_owner_from_the_superuser [Superuser],
    only_a_directory_takes_names,
    a_directory_refuses_a_name_that_exists,
    directories_nest,
    directories_nest_deeper_than_a_path_is_long,
}

fn unchecked(mode: u32) -> Create {
    Create::Unchecked(NewAttributes::with_mode(mode))
}

fn unchecked_makes_a_file(bench: &Bench<'_>) -> Verdict {
    let file = bench.me.create_how(&bench.home, "f", unchecked(0o640))?;
    equal("kind", file.attributes.kind, FileKind::Regular)?;
    equal("mode", file.attributes.mode, 0o640)?;
    equal("handle", bench.me.look(&bench.home, "f")?.handle, file.handle)
}

fn unchecked_takes_the_file_that_is_there(bench: &Bench<'_>) -> Verdict {
    let file = bench.me.create_holding(&bench.home, "f", b"kept")?;
    let again = bench.me.create_how(&bench.home, "f", unchecked(0o600))?;
    equal("handle", again.handle, file.handle)?;
    equal("size", again.attributes.size, 4)?;
    equal("mode", again.attributes.mode, 0o644)?;
    equal_bytes("content", &bench.me.read_all(&file, 0, 9)?, b"kept")
}

fn unchecked_truncates_when_a_size_is_given(bench: &Bench<'_>) -> Verdict {
    let file = bench.me.create_holding(&bench.home, "f", b"lost")?;
    let how = Create::Unchecked(NewAttributes { size: Some(0), ..NewAttributes::with_mode(0o600) });
    let again = bench.me.create_how(&bench.home, "f", how)?;
    equal("handle", again.handle, file.handle)?;
    equal("size", again.attributes.size, 0)
}

fn unchecked_takes_nothing_but_a_file(bench: &Bench<'_>) -> Verdict {
    let target = bench.file("target")?;
    bench.directory("d")?;
    bench.me.make_link(&bench.home, "l", "target")?;
    bench.me.make_link(&bench.home, "dangling", "nowhere")?;
    let wrong = [FsError::Exists, FsError::IsDirectory, FsError::Invalid];
    let truncating = Create::Unchecked(NewAttributes { size: Some(0), ..NewAttributes::with_mode(0o600) });
    for name in ["d", "l", "dangling"] {
        refused(name, bench.me.create_how(&bench.home, name, unchecked(0o600)), &wrong)?;
        refused(name, bench.me.create_how(&bench.home, name, truncating), &wrong)?;
    }
    equal("the link's target", bench.me.attributes(&target)?, target.attributes)?;
    refused("what a link points to", bench.me.look(&bench.home, "nowhere"), &[FsError::NotFound])
}

fn guarded_refuses_any_name_that_exists(bench: &Bench<'_>) -> Verdict {
    bench.file("f")?;
    bench.directory("d")?;
    bench.me.make_link(&bench.home, "l", "nowhere")?;
    for name in ["f", "d", "l"] {
        refused(name, bench.me.create(&bench.home, name, 0o600), &[FsError::Exists])?;
    }
    refused("what a link points to", bench.me.look(&bench.home, "nowhere"), &[FsError::NotFound])
}

fn a_new_file_takes_size_and_times(bench: &Bench<'_>) -> Verdict {
    let time = Timestamp { seconds: 1_234_567, nanoseconds: 0 };
    let new = NewAttributes {
        size: Some(7),
        accessed: SetTime::To(time),
        modified: SetTime::To(time),
        ..NewAttributes::with_mode(0o600)
    };
    for (name, how) in [("unchecked", Create::Unchecked(new)), ("guarded", Create::Guarded(new))] {
        let file = bench.me.create_how(&bench.home, name, how)?;
        equal("size", file.attributes.size, 7)?;
        equal("modified", file.attributes.modified, time)?;
        equal("accessed", file.attributes.accessed, time)?;
        equal_bytes("content", &bench.me.read_all(&file, 0, 9)?, &[0; 7])?;
    }
    Ok(())
}

fn a_new_file_takes_its_owner_from_the_superuser(bench: &Bench<'_>) -> Verdict {
    let new = NewAttributes { user: Some(1001), group: Some(1002), ..NewAttributes::with_mode(0o600) };
    let file = bench.me.create_how(&bench.home, "f", Create::Guarded(new))?;
    equal("user and group", (file.attributes.user, file.attributes.group), (1001, 1002))
}

fn only_a_directory_takes_names(bench: &Bench<'_>) -> Verdict {
    let file = bench.file("f")?;
    refused("CREATE", bench.me.create(&file, "x", 0o644), &[FsError::NotDirectory])?;
    refused("MKDIR", bench.me.make_directory(&file, "x", 0o755), &[FsError::NotDirectory])?;
    refused("SYMLINK", bench.me.make_link(&file, "x", "y"), &[FsError::NotDirectory])
}

fn a_directory_refuses_a_name_that_exists(bench: &Bench<'_>) -> Verdict {
    bench.file("f")?;
    bench.directory("d")?;
    bench.me.make_link(&bench.home, "l", "nowhere")?;
    for name in ["f", "d", "l"] {
        refused(name, bench.me.make_directory(&bench.home, name, 0o755), &[FsError::Exists])?;
    }
    Ok(())
}

fn directories_nest(bench: &Bench<'_>) -> Verdict {
    let mut directory = bench.home;
    for depth in 0..40 {
        directory = bench.me.make_directory(&directory, format!("depth-{depth}"), 0o755)?;
    }
    let file = bench.me.create_holding(&directory, "f", b"deep")?;
    equal_bytes("content", &bench.me.read_all(&file, 0, 9)?, b"deep")
}

/// Each node has its handle, so the length of its path (4,096 bytes at most for a system call) is no limit.
fn directories_nest_deeper_than_a_path_is_long(bench: &Bench<'_>) -> Verdict {
    let name = [b'd'; 200];
    let mut path = vec![bench.home];
    for depth in 0..25 {
        path.push(bench.me.make_directory(&path[depth], name, 0o755)?);
    }
    let file = bench.me.create_holding(&path[25], "f", b"deep")?;
    bench.me.rename((&path[25], "f"), (&path[24], "g"))?;
    equal_bytes("content", &bench.me.read_all(&file, 0, 9)?, b"deep")?;
    equal("parent", bench.me.parent(&path[25])?.handle, path[24].handle)?;
    bench.me.remove(&path[24], "g")?;
    path[..25].iter().rev().try_for_each(|directory| Ok(bench.me.remove_directory(directory, name)?))
}
