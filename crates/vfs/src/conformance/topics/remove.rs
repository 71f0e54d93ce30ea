//! REMOVE and RMDIR.

use crate::FsError;
use crate::conformance::bench::Bench;
use crate::conformance::cases::cases;
use crate::conformance::expect::{equal, equal_bytes, refused};
use crate::conformance::verdict::Verdict;

cases! { "remove":
    a_removed_name_is_gone,
    an_unknown_name_is_not_found,
    remove_takes_no_directory,
    rmdir_takes_nothing_else,
    a_directory_with_entries_stays,
    an_emptied_directory_goes,
    one_of_two_names_leaves_the_other,
    a_removed_link_leaves_its_target,
    the_root_and_home_stay_usable,
}

fn a_removed_name_is_gone(bench: &Bench<'_>) -> Verdict {
    bench.file("f")?;
    bench.file("g")?;
    bench.me.remove(&bench.home, "f")?;
    refused("f", bench.me.look(&bench.home, "f"), &[FsError::NotFound])?;
    equal("names", bench.me.names(&bench.home)?, vec![b"g".to_vec()])?;
    bench.file("f")?;
    equal("names", bench.me.names(&bench.home)?, vec![b"f".to_vec(), b"g".to_vec()])
}

fn an_unknown_name_is_not_found(bench: &Bench<'_>) -> Verdict {
    let file = bench.file("f")?;
    refused("REMOVE", bench.me.remove(&bench.home, "g"), &[FsError::NotFound])?;
    refused("RMDIR", bench.me.remove_directory(&bench.home, "g"), &[FsError::NotFound])?;
    refused("REMOVE in a file", bench.me.remove(&file, "g"), &[FsError::NotDirectory])?;
    refused("RMDIR in a file", bench.me.remove_directory(&file, "g"), &[FsError::NotDirectory])
}

fn remove_takes_no_directory(bench: &Bench<'_>) -> Verdict {
    let directory = bench.directory("d")?;
    // POSIX says EPERM, Linux EISDIR.
    let wrong = [FsError::IsDirectory, FsError::NotPermitted];
    refused("REMOVE", bench.me.remove(&bench.home, "d"), &wrong)?;
    equal("handle", bench.me.look(&bench.home, "d")?.handle, directory.handle)
}

fn rmdir_takes_nothing_else(bench: &Bench<'_>) -> Verdict {
    bench.file("f")?;
    bench.directory("d")?;
    bench.me.make_link(&bench.home, "l", "d")?;
    for name in ["f", "l"] {
        refused(name, bench.me.remove_directory(&bench.home, name), &[FsError::NotDirectory])?;
        bench.me.look(&bench.home, name)?;
    }
    bench.me.look(&bench.home, "d")?;
    Ok(())
}

fn a_directory_with_entries_stays(bench: &Bench<'_>) -> Verdict {
    let directory = bench.directory("d")?;
    bench.me.create(&directory, "f", 0o644)?;
    let wrong = [FsError::NotEmpty, FsError::Exists];
    refused("RMDIR", bench.me.remove_directory(&bench.home, "d"), &wrong)?;
    bench.me.look(&directory, "f")?;
    Ok(())
}

fn an_emptied_directory_goes(bench: &Bench<'_>) -> Verdict {
    let directory = bench.directory("d")?;
    bench.me.create(&directory, "f", 0o644)?;
    bench.me.make_directory(&directory, "e", 0o755)?;
    bench.me.remove(&directory, "f")?;
    bench.me.remove_directory(&directory, "e")?;
    bench.me.remove_directory(&bench.home, "d")?;
    refused("d", bench.me.look(&bench.home, "d"), &[FsError::NotFound])
}

fn one_of_two_names_leaves_the_other(bench: &Bench<'_>) -> Verdict {
    let file = bench.me.create_holding(&bench.home, "f", b"kept")?;
    bench.me.link(&file, &bench.home, "g")?;
    bench.me.remove(&bench.home, "f")?;
    let other = bench.me.look(&bench.home, "g")?;
    equal("handle", other.handle, file.handle)?;
    equal("links", other.attributes.links, 1)?;
    equal_bytes("content by the old handle", &bench.me.read_all(&file, 0, 9)?, b"kept")
}

fn a_removed_link_leaves_its_target(bench: &Bench<'_>) -> Verdict {
    let file = bench.file("f")?;
    bench.me.make_link(&bench.home, "l", "f")?;
    bench.me.remove(&bench.home, "l")?;
    equal("handle", bench.me.look(&bench.home, "f")?.handle, file.handle)
}

fn the_root_and_home_stay_usable(bench: &Bench<'_>) -> Verdict {
    for number in 0..50 {
        let name = format!("d{number}");
        let directory = bench.directory(&name)?;
        bench.me.create(&directory, "f", 0o644)?;
        bench.me.remove(&directory, "f")?;
        bench.me.remove_directory(&bench.home, &name)?;
    }
    equal("names", bench.me.names(&bench.home)?, Vec::<Vec<u8>>::new())?;
    bench.root().map(drop)
}
