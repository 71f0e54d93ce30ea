//! Weak cache consistency: every call that changes a node reports it before and after, when refused too.

use crate::conformance::bench::Bench;
use crate::conformance::cases::cases;
use crate::conformance::expect::{equal, failed, refused};
use crate::conformance::verdict::Verdict;
use crate::{
    AddLink, Before, Caller, Change, CommitFile, Create, CreateFile, Data, FileKind, FileSystem, FsError,
    Handle, MakeDirectory, MakeLink, MakeSpecial, Name, NewAttributes, Node, Result, SetAttributes,
    SpecialKind, Stability, Timestamp, WriteFile,
};

cases! { "change data":
    every_new_name_is_told,
    every_name_that_goes_is_told,
    refusals_tell_of_the_directory,
    every_change_of_a_file_is_told,
    refusals_tell_of_the_file,
    a_rename_tells_of_both_directories,
}

/// A call on a directory and a name in it, and the file that a LINK gives the name to.
struct Target<'t> {
    fs: &'t dyn FileSystem,
    caller: &'t Caller,
    directory: &'t Handle,
    file: &'t Handle,
    name: Name<'t>,
}

type Call = fn(&Target<'_>, &mut Change) -> Result<()>;

const MAKING: [(&str, Call); 5] = [
    ("CREATE", |at, change| {
        let how = Create::Guarded(NewAttributes::with_mode(0o644));
        at.fs.create(at.caller, CreateFile::new(at.directory, at.name, &how), change).map(drop)
    }),
    ("MKDIR", |at, change| {
        let new = NewAttributes::with_mode(0o755);
        at.fs.make_directory(at.caller, MakeDirectory::new(at.directory, at.name, &new), change).map(drop)
    }),
    ("SYMLINK", |at, change| {
        at.fs
            .make_link(
                at.caller,
                MakeLink::new(at.directory, at.name, b"x", &NewAttributes::default()),
                change,
            )
            .map(drop)
    }),
    ("MKNOD", |at, change| {
        let new = NewAttributes::with_mode(0o600);
        at.fs
            .make_special(at.caller, MakeSpecial::new(at.directory, at.name, SpecialKind::Fifo, &new), change)
            .map(drop)
    }),
    ("LINK", |at, change| {
        at.fs.link(at.caller, AddLink::new(at.file, at.directory, at.name), change).map(drop)
    }),
];

const TAKING: [(&str, Call); 2] = [
    ("REMOVE", |at, change| at.fs.remove(at.caller, at.directory, at.name, change)),
    ("RMDIR", |at, change| at.fs.remove_directory(at.caller, at.directory, at.name, change)),
];

/// Makes a call, and compares what it reports of the node with what GETATTR says before and after.
fn reported(
    bench: &Bench<'_>,
    what: &str,
    node: &Node,
    call: impl FnOnce(&mut Change) -> Result<()>,
) -> Verdict<Result<()>> {
    let before = bench.me.attributes(node)?;
    let mut change = Change::default();
    let outcome = call(&mut change);
    // It may be left out of a file, which others may write at the same time.
    if before.kind == FileKind::Directory && !what.starts_with("WRITE") || change.before.is_some() {
        equal(&format!("before {what}"), change.before, Some(Before::from(&before)))?;
    }
    equal(&format!("after {what}"), change.after, Some(bench.me.attributes(node)?))?;
    Ok(outcome)
}

/// Makes one of the calls above in a directory.
fn told_in(
    bench: &Bench<'_>,
    (what, call): (&str, Call),
    directory: &Node,
    file: &Node,
    name: &str,
) -> Verdict<Result<()>> {
    let name = Name::parse(name.as_bytes()).map_err(|error| failed(error.to_string()))?;
    let (directory_handle, file) = (&directory.handle, &file.handle);
    let at = Target { fs: bench.me.fs, caller: &bench.me.caller, directory: directory_handle, file, name };
    reported(bench, what, directory, |change| call(&at, change))
}

fn every_new_name_is_told(bench: &Bench<'_>) -> Verdict {
    let (file, directory) = (bench.file("f")?, bench.directory("d")?);
    for call in MAKING {
        told_in(bench, call, &directory, &file, call.0)??;
    }
    Ok(())
}

fn every_name_that_goes_is_told(bench: &Bench<'_>) -> Verdict {
    let (file, directory) = (bench.file("f")?, bench.directory("d")?);
    bench.me.create(&directory, "f", 0o644)?;
    bench.me.make_directory(&directory, "e", 0o755)?;
    told_in(bench, TAKING[0], &directory, &file, "f")??;
    told_in(bench, TAKING[1], &directory, &file, "e")??;
    Ok(())
}

fn refusals_tell_of_the_directory(bench: &Bench<'_>) -> Verdict {
    let (file, directory) = (bench.file("f")?, bench.directory("d")?);
    bench.me.create(&directory, "exists", 0o644)?;
    for call in MAKING {
        refused(call.0, told_in(bench, call, &directory, &file, "exists")?, &[FsError::Exists])?;
    }
    for call in TAKING {
        refused(call.0, told_in(bench, call, &directory, &file, "missing")?, &[FsError::NotFound])?;
    }
    let outcome = told_in(bench, TAKING[1], &directory, &file, "exists")?;
    refused("RMDIR of a file", outcome, &[FsError::NotDirectory])
}

fn every_change_of_a_file_is_told(bench: &Bench<'_>) -> Verdict {
    let file = bench.file("f")?;
    let (fs, caller) = (bench.me.fs, &bench.me.caller);
    for stability in [Stability::Unstable, Stability::DataSync, Stability::FileSync] {
        reported(bench, "WRITE", &file, |change| {
            fs.write(caller, WriteFile::new(&file.handle, 5, Data::Bytes(b"data"), stability), change)
                .map(drop)
        })??;
    }
    reported(bench, "COMMIT", &file, |change| {
        fs.commit(caller, CommitFile::new(&file.handle, 0, 0), change).map(drop)
    })??;
    for new in [NewAttributes::with_mode(0o600), NewAttributes::with_size(1), NewAttributes::default()] {
        reported(bench, "SETATTR", &file, |change| {
            fs.set_attributes(caller, SetAttributes::new(&file.handle, &new, None), change)
        })??;
    }
    Ok(())
}

fn refusals_tell_of_the_file(bench: &Bench<'_>) -> Verdict {
    let file = bench.me.create_holding(&bench.home, "f", b"data")?;
    let (fs, caller) = (bench.me.fs, &bench.me.caller);
    let guard = Some(Timestamp { seconds: 1, nanoseconds: 2 }.into());
    let outcome = reported(bench, "SETATTR", &file, |change| {
        fs.set_attributes(
            caller,
            SetAttributes::new(&file.handle, &NewAttributes::with_size(0), guard),
            change,
        )
    })?;
    refused("SETATTR", outcome, &[FsError::NotSynchronised])?;
    let outcome = reported(bench, "WRITE", &file, |change| {
        fs.write(
            caller,
            WriteFile::new(&file.handle, u64::MAX, Data::Bytes(b"data"), Stability::Unstable),
            change,
        )
        .map(drop)
    })?;
    refused("WRITE", outcome, &[FsError::TooBig, FsError::Invalid])?;
    let outcome = reported(bench, "WRITE", &bench.home, |change| {
        fs.write(
            caller,
            WriteFile::new(&bench.home.handle, 0, Data::Bytes(b"data"), Stability::Unstable),
            change,
        )
        .map(drop)
    })?;
    refused("WRITE to a directory", outcome, &[FsError::Invalid, FsError::IsDirectory])
}

fn a_rename_tells_of_both_directories(bench: &Bench<'_>) -> Verdict {
    let (from, to) = (bench.directory("from")?, bench.directory("to")?);
    bench.me.create(&from, "f", 0o644)?;
    let rename = |name: &'static str| -> Verdict<Result<()>> {
        let name = Name::parse(name.as_bytes()).map_err(|error| failed(error.to_string()))?;
        let mut entered = Change::default();
        let before = bench.me.attributes(&to)?;
        let outcome = reported(bench, "RENAME, left", &from, |left| {
            let (from, to) = ((&from.handle, name), (&to.handle, name));
            bench.me.fs.rename(&bench.me.caller, from, to, (left, &mut entered))
        })?;
        equal("before RENAME, entered", entered.before, Some(Before::from(&before)))?;
        equal("after RENAME, entered", entered.after, Some(bench.me.attributes(&to)?))?;
        Ok(outcome)
    };
    rename("f")??;
    refused("RENAME", rename("missing")?, &[FsError::NotFound])
}
