//! Who may do what: the permission bits, for owner, group and others.

use crate::conformance::actor::Actor;
use crate::conformance::bench::Bench;
use crate::conformance::cases::cases;
use crate::conformance::expect::{equal, holds, refused};
use crate::conformance::verdict::Verdict;
use crate::{Access, Detail, FsError, NewAttributes, Node, Stability};

cases! { "permissions":
    access_follows_the_bits_of_a_file [ActsAsCaller],
    access_follows_the_bits_of_a_directory [ActsAsCaller],
    the_superuser_may_what_bits_forbid [ActsAsCaller],
    reading_follows_the_bits [ActsAsCaller],
    writing_follows_the_bits [ActsAsCaller],
    the_owner_reads_and_writes_what_it_has_open [ActsAsCaller],
    who_may_execute_may_read [ActsAsCaller],
    searching_takes_the_execute_bit [ActsAsCaller],
    listing_takes_the_read_bit [ActsAsCaller],
    changing_entries_takes_the_write_bit [ActsAsCaller],
    that_a_name_exists_is_told_to_who_may_search [ActsAsCaller],
    a_move_takes_both_directories [ActsAsCaller],
    a_link_takes_the_directory [ActsAsCaller],
}

/// The access bits of a file or directory, as permission digit.
fn digit(granted: Access, execute: Access) -> u32 {
    let bit = |access, value| if granted.contains(access) { value } else { 0 };
    bit(Access::READ, 4) + bit(Access::MODIFY, 2) + bit(execute, 1)
}

/// Modes in which each class of users has other rights.
const MODES: [u32; 9] = [0o000, 0o700, 0o070, 0o007, 0o421, 0o124, 0o640, 0o755, 0o077];

/// Alice owns it, bob is in its group, carol is neither.
fn classes<'b>(bench: &Bench<'b>, mode: u32) -> [(&'static str, Actor<'b>, u32); 3] {
    [
        ("owner", bench.alice(), mode >> 6 & 7),
        ("group", bench.bob(), mode >> 3 & 7),
        ("others", bench.carol(), mode & 7),
    ]
}

fn access_follows_the_bits_of_a_file(bench: &Bench<'_>) -> Verdict {
    let file = bench.alices_file("f", 0o600)?;
    for mode in MODES {
        bench.set_mode(&file, mode)?;
        for (class, actor, wanted) in classes(bench, mode) {
            let granted = actor.access(&file, Access::ALL)?;
            equal(&format!("rights of {class} with {mode:03o}"), digit(granted, Access::EXECUTE), wanted)?;
            let extend = granted.contains(Access::EXTEND);
            equal(&format!("EXTEND of {class} with {mode:03o}"), extend, wanted & 2 != 0)?;
        }
    }
    Ok(())
}

fn access_follows_the_bits_of_a_directory(bench: &Bench<'_>) -> Verdict {
    let directory = bench.alice().make_directory(&bench.home, "d", 0o700)?;
    for mode in MODES {
        bench.set_mode(&directory, mode)?;
        for (class, actor, wanted) in classes(bench, mode) {
            let granted = actor.access(&directory, Access::ALL)?;
            // Without search permission nothing can be changed: servers differ in whether MODIFY says so.
            let (seen, wanted) = if wanted & 3 == 2 {
                (digit(granted, Access::LOOKUP) & !2, wanted & !2)
            } else {
                (digit(granted, Access::LOOKUP), wanted)
            };
            equal(&format!("rights of {class} with {mode:03o}"), seen, wanted)?;
        }
    }
    Ok(())
}

fn the_superuser_may_what_bits_forbid(bench: &Bench<'_>) -> Verdict {
    let file = bench.alices_file("f", 0o000)?;
    let directory = bench.alice().make_directory(&bench.home, "d", 0o000)?;
    equal("rights to a file", digit(bench.me.access(&file, Access::ALL)?, Access::EXECUTE), 6)?;
    equal("rights to a directory", digit(bench.me.access(&directory, Access::ALL)?, Access::LOOKUP), 7)?;
    bench.me.write_all(&file, 0, b"data")?;
    bench.me.read(&file, 0, 4)?;
    bench.me.create(&directory, "f", 0o600)?;
    bench.me.page(&directory, 0, 10, Detail::Nodes)?;
    bench.set_mode(&file, 0o001)?;
    holds("one execute bit is enough", bench.me.access(&file, Access::ALL)?.contains(Access::EXECUTE))
}

fn reading_follows_the_bits(bench: &Bench<'_>) -> Verdict {
    let file = bench.alices_file("f", 0o600)?;
    for mode in [0o640, 0o604, 0o400, 0o644, 0o200] {
        bench.set_mode(&file, mode)?;
        for (class, actor, rights) in &classes(bench, mode)[1..] {
            let outcome = actor.read(&file, 0, 10);
            if rights & 4 == 0 {
                refused(&format!("{class} with {mode:03o}"), outcome, &[FsError::AccessDenied])?;
            } else {
                outcome?;
            }
        }
    }
    Ok(())
}

fn writing_follows_the_bits(bench: &Bench<'_>) -> Verdict {
    let file = bench.alices_file("f", 0o600)?;
    for mode in [0o620, 0o602, 0o200, 0o622, 0o455] {
        bench.set_mode(&file, mode)?;
        for (class, actor, rights) in &classes(bench, mode)[1..] {
            let what = format!("{class} with {mode:03o}");
            let written = actor.write(&file, 0, b"x", Stability::FileSync);
            let truncated = actor.set(&file, NewAttributes::with_size(1));
            if rights & 2 == 0 {
                refused(&what, written, &[FsError::AccessDenied])?;
                refused(&what, truncated, &[FsError::AccessDenied])?;
            } else {
                written?;
                truncated?;
            }
        }
    }
    Ok(())
}

fn the_owner_reads_and_writes_what_it_has_open(bench: &Bench<'_>) -> Verdict {
    let file = bench.alices_file("f", 0o000)?;
    let alice = bench.alice();
    alice.write_all(&file, 0, b"data")?;
    equal("data", alice.read(&file, 0, 4)?.0, b"data".to_vec())?;
    alice.set(&file, NewAttributes::with_size(2))?;
    equal("size", alice.attributes(&file)?.size, 2)?;
    // ACCESS says what open(2) would say, so that a client refuses the open.
    equal("rights", alice.access(&file, Access::ALL)?, Access::NONE)
}

/// A client reads what it executes, and the protocol does not say why it reads (RFC 1813 4.4).
fn who_may_execute_may_read(bench: &Bench<'_>) -> Verdict {
    let file = bench.alices_file("f", 0o711)?;
    bench.alice().write_all(&file, 0, b"code")?;
    equal("data", bench.carol().read(&file, 0, 4)?.0, b"code".to_vec())?;
    let granted = bench.carol().access(&file, Access::ALL)?;
    equal("rights", digit(granted, Access::EXECUTE), 1)
}

fn searching_takes_the_execute_bit(bench: &Bench<'_>) -> Verdict {
    let directory = bench.alice().make_directory(&bench.home, "d", 0o777)?;
    let inner = bench.alice().create(&directory, "f", 0o666)?;
    bench.set_mode(&directory, 0o766)?;
    let carol = bench.carol();
    let denied = [FsError::AccessDenied];
    refused("LOOKUP", carol.look(&directory, "f"), &denied)?;
    refused("LOOKUP of what is not there", carol.look(&directory, "g"), &denied)?;
    refused("the parent", carol.parent(&directory), &denied)?;
    refused("CREATE", carol.create(&directory, "g", 0o600), &denied)?;
    refused("REMOVE", carol.remove(&directory, "f"), &denied)?;
    equal("LOOKUP by the owner", bench.alice().look(&directory, "f")?.handle, inner.handle)?;
    bench.set_mode(&directory, 0o711)?;
    equal("LOOKUP", carol.look(&directory, "f")?.handle, inner.handle)
}

fn listing_takes_the_read_bit(bench: &Bench<'_>) -> Verdict {
    let directory = bench.alice().make_directory(&bench.home, "d", 0o711)?;
    bench.alice().create(&directory, "f", 0o644)?;
    for detail in [Detail::Names, Detail::Nodes] {
        refused("READDIR", bench.carol().page(&directory, 0, 10, detail), &[FsError::AccessDenied])?;
    }
    bench.set_mode(&directory, 0o744)?;
    equal("names", bench.carol().names(&directory)?, vec![b"f".to_vec()])?;
    // To say what a name leads to takes search permission; the names come all the same.
    let listed = bench.carol().page(&directory, 0, 10, Detail::Nodes)?.entries;
    equal("entries", listed.len(), 3)
}

fn changing_entries_takes_the_write_bit(bench: &Bench<'_>) -> Verdict {
    let directory = bench.alice().make_directory(&bench.home, "d", 0o755)?;
    let file = bench.alice().create(&directory, "f", 0o666)?;
    bench.alice().make_directory(&directory, "e", 0o777)?;
    let carol = bench.carol();
    let denied = [FsError::AccessDenied];
    refused("CREATE", carol.create(&directory, "g", 0o600), &denied)?;
    refused("MKDIR", carol.make_directory(&directory, "g", 0o700), &denied)?;
    refused("SYMLINK", carol.make_link(&directory, "g", "f"), &denied)?;
    refused("MKNOD", carol.make_special(&directory, "g", crate::SpecialKind::Fifo, 0o600), &denied)?;
    refused("REMOVE", carol.remove(&directory, "f"), &denied)?;
    refused("RMDIR", carol.remove_directory(&directory, "e"), &denied)?;
    refused("RENAME", carol.rename((&directory, "f"), (&directory, "g")), &denied)?;
    equal("names", bench.me.names(&directory)?, vec![b"e".to_vec(), b"f".to_vec()])?;
    equal("f", bench.me.look(&directory, "f")?.handle, file.handle)
}

fn that_a_name_exists_is_told_to_who_may_search(bench: &Bench<'_>) -> Verdict {
    let directory = bench.alice().make_directory(&bench.home, "d", 0o755)?;
    bench.alice().create(&directory, "f", 0o666)?;
    let errors = [FsError::Exists, FsError::AccessDenied];
    refused("CREATE", bench.carol().create(&directory, "f", 0o600), &errors)?;
    refused("MKDIR", bench.carol().make_directory(&directory, "f", 0o700), &errors)?;
    refused("REMOVE", bench.carol().remove(&directory, "g"), &[FsError::NotFound, FsError::AccessDenied])
}

fn a_move_takes_both_directories(bench: &Bench<'_>) -> Verdict {
    let make =
        |name: &str, mode| -> Verdict<Node> { Ok(bench.alice().make_directory(&bench.home, name, mode)?) };
    let (open, closed) = (make("open", 0o777)?, make("closed", 0o755)?);
    bench.alice().create(&open, "f", 0o666)?;
    bench.alice().create(&closed, "f", 0o666)?;
    let (carol, denied) = (bench.carol(), [FsError::AccessDenied]);
    refused("out of it", carol.rename((&closed, "f"), (&open, "g")), &denied)?;
    refused("into it", carol.rename((&open, "f"), (&closed, "g")), &denied)?;
    refused("over what is in it", carol.rename((&open, "f"), (&closed, "f")), &denied)?;
    Ok(carol.rename((&open, "f"), (&open, "g"))?)
}

fn a_link_takes_the_directory(bench: &Bench<'_>) -> Verdict {
    let closed = bench.alice().make_directory(&bench.home, "closed", 0o755)?;
    let file = bench.carol().create(&bench.home, "f", 0o666)?;
    refused("LINK", bench.carol().link(&file, &closed, "g"), &[FsError::AccessDenied])?;
    bench.carol().link(&file, &bench.home, "g")?;
    Ok(())
}
