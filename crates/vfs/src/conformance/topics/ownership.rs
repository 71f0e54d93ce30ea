//! Owners: whose a new node is, and who may change what of a node.

use crate::conformance::bench::Bench;
use crate::conformance::cases::cases;
use crate::conformance::expect::{equal, refused};
use crate::conformance::verdict::Verdict;
use crate::{FsError, NewAttributes, SetTime, Timestamp};

cases! { "ownership":
    a_new_node_is_its_makers [ActsAsCaller],
    only_the_superuser_makes_files_of_others [ActsAsCaller],
    a_set_group_id_directory_hands_its_group_on [ActsAsCaller],
    only_the_owner_sets_the_mode [ActsAsCaller],
    a_stranger_to_the_group_gets_no_set_group_id [ActsAsCaller],
    only_the_superuser_gives_away [ActsAsCaller],
    the_owner_chooses_among_its_groups [ActsAsCaller],
    a_new_owner_gets_no_privileged_program [ActsAsCaller],
    a_write_takes_the_privilege_from_a_program [ActsAsCaller],
    who_may_write_may_say_now [ActsAsCaller],
    who_may_write_may_truncate_and_say_now [ActsAsCaller],
    only_the_owner_sets_another_time [ActsAsCaller],
}

fn with_group(group: u32) -> NewAttributes {
    NewAttributes { group: Some(group), ..NewAttributes::default() }
}

fn with_user(user: u32) -> NewAttributes {
    NewAttributes { user: Some(user), ..NewAttributes::default() }
}

fn a_new_node_is_its_makers(bench: &Bench<'_>) -> Verdict {
    let bob = bench.bob();
    for node in [
        bob.create(&bench.home, "f", 0o644)?,
        bob.make_directory(&bench.home, "d", 0o755)?,
        bob.make_link(&bench.home, "l", "f")?,
        bob.make_special(&bench.home, "p", crate::SpecialKind::Fifo, 0o600)?,
    ] {
        equal("user and group", (node.attributes.user, node.attributes.group), (1002, 1002))?;
    }
    Ok(())
}

/// Whether a wish for another owner is refused or left out differs; that it is not granted does not.
fn only_the_superuser_makes_files_of_others(bench: &Bench<'_>) -> Verdict {
    let how = crate::Create::Guarded(NewAttributes { mode: Some(0o644), ..with_user(1001) });
    match bench.carol().create_how(&bench.home, "f", how) {
        Ok(file) => equal("user", file.attributes.user, 1003),
        refusal => refused("CREATE", refusal, &[FsError::NotPermitted]),
    }
}

fn a_set_group_id_directory_hands_its_group_on(bench: &Bench<'_>) -> Verdict {
    let directory = bench.alice().make_directory(&bench.home, "d", 0o777)?;
    bench.set_mode(&directory, 0o2777)?;
    let carol = bench.carol();
    let file = carol.create(&directory, "f", 0o644)?;
    equal("group and mode of a file", (file.attributes.group, file.attributes.mode), (1001, 0o644))?;
    let inner = carol.make_directory(&directory, "e", 0o755)?;
    equal("group and mode of a directory", (inner.attributes.group, inner.attributes.mode), (1001, 0o2755))?;
    equal("group of a link", carol.make_link(&directory, "l", "f")?.attributes.group, 1001)
}

fn only_the_owner_sets_the_mode(bench: &Bench<'_>) -> Verdict {
    let file = bench.alices_file("f", 0o666)?;
    for actor in [bench.bob(), bench.carol()] {
        refused("SETATTR", actor.set(&file, NewAttributes::with_mode(0o777)), &[FsError::NotPermitted])?;
    }
    bench.alice().set(&file, NewAttributes::with_mode(0o600))?;
    equal("mode", bench.me.attributes(&file)?.mode, 0o600)
}

fn a_stranger_to_the_group_gets_no_set_group_id(bench: &Bench<'_>) -> Verdict {
    let file = bench.alices_file("f", 0o755)?;
    bench.me.set(&file, with_group(7777))?;
    bench.alice().set(&file, NewAttributes::with_mode(0o2755))?;
    equal("mode", bench.me.attributes(&file)?.mode, 0o755)?;
    bench.me.set(&file, with_group(1001))?;
    bench.alice().set(&file, NewAttributes::with_mode(0o2755))?;
    equal("mode in a group of hers", bench.me.attributes(&file)?.mode, 0o2755)
}

fn only_the_superuser_gives_away(bench: &Bench<'_>) -> Verdict {
    let file = bench.alices_file("f", 0o666)?;
    for actor in [bench.alice(), bench.bob(), bench.carol()] {
        refused("SETATTR", actor.set(&file, with_user(1003)), &[FsError::NotPermitted])?;
    }
    bench.me.set(&file, with_user(1003))?;
    equal("user", bench.me.attributes(&file)?.user, 1003)
}

fn the_owner_chooses_among_its_groups(bench: &Bench<'_>) -> Verdict {
    let file = bench.bob().create(&bench.home, "f", 0o644)?;
    for group in [1001, 7, 1002] {
        bench.bob().set(&file, with_group(group))?;
        equal("group", bench.me.attributes(&file)?.group, group)?;
    }
    refused("a group that is not his", bench.bob().set(&file, with_group(1003)), &[FsError::NotPermitted])?;
    refused("not his file", bench.carol().set(&file, with_group(1003)), &[FsError::NotPermitted])
}

fn a_new_owner_gets_no_privileged_program(bench: &Bench<'_>) -> Verdict {
    let file = bench.bob().create(&bench.home, "f", 0o755)?;
    bench.bob().set(&file, NewAttributes::with_mode(0o6755))?;
    equal("mode", bench.me.attributes(&file)?.mode, 0o6755)?;
    bench.bob().set(&file, with_group(1001))?;
    equal("mode after its group changed", bench.me.attributes(&file)?.mode, 0o755)
}

fn a_write_takes_the_privilege_from_a_program(bench: &Bench<'_>) -> Verdict {
    let file = bench.alices_file("f", 0o777)?;
    let privileged = || bench.alice().set(&file, NewAttributes::with_mode(0o6777));
    privileged()?;
    bench.carol().write_all(&file, 0, b"code")?;
    equal("mode after WRITE", bench.me.attributes(&file)?.mode, 0o777)?;
    privileged()?;
    bench.carol().set(&file, NewAttributes::with_size(1))?;
    equal("mode after truncation", bench.me.attributes(&file)?.mode, 0o777)
}

fn who_may_write_may_say_now(bench: &Bench<'_>) -> Verdict {
    let now = NewAttributes { accessed: SetTime::Now, modified: SetTime::Now, ..NewAttributes::default() };
    let file = bench.alices_file("f", 0o664)?;
    bench.bob().set(&file, now)?;
    refused("SETATTR", bench.carol().set(&file, now), &[FsError::AccessDenied, FsError::NotPermitted])?;
    bench.set_mode(&file, 0o000)?;
    Ok(bench.alice().set(&file, now)?)
}

/// One time alone is what the Linux client sends with the size, for `O_TRUNC` and `ftruncate`, and by itself where the file is empty.
fn who_may_write_may_truncate_and_say_now(bench: &Bench<'_>) -> Verdict {
    let modified = NewAttributes { modified: SetTime::Now, ..NewAttributes::default() };
    let accessed = NewAttributes { accessed: SetTime::Now, ..NewAttributes::default() };
    let truncated = NewAttributes { size: Some(1), ..modified };
    let file = bench.alices_file("f", 0o664)?;
    bench.alice().write_all(&file, 0, b"data")?;
    for new in [truncated, modified, accessed] {
        refused("SETATTR", bench.carol().set(&file, new), &[FsError::AccessDenied, FsError::NotPermitted])?;
    }
    equal("size after the refusals", bench.me.attributes(&file)?.size, 4)?;
    for new in [truncated, modified, accessed] {
        bench.bob().set(&file, new)?;
    }
    equal("size", bench.me.attributes(&file)?.size, 1)?;
    bench.set_mode(&file, 0o000)?;
    Ok(bench.alice().set(&file, modified)?)
}

fn only_the_owner_sets_another_time(bench: &Bench<'_>) -> Verdict {
    let time = SetTime::To(Timestamp { seconds: 1_000_000, nanoseconds: 0 });
    let then = NewAttributes { accessed: time, modified: time, ..NewAttributes::default() };
    let file = bench.alices_file("f", 0o666)?;
    for actor in [bench.bob(), bench.carol()] {
        refused("SETATTR", actor.set(&file, then), &[FsError::NotPermitted, FsError::AccessDenied])?;
    }
    bench.set_mode(&file, 0o000)?;
    Ok(bench.alice().set(&file, then)?)
}
