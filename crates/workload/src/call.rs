//! Calls that change names, made so that an answer which shows an earlier try of the same call is understood.
//!
//! A server that was killed after it carried out a call, and before it answered, is asked again when it is back and
//! has forgotten: CREATE finds the file that it made, REMOVE no file any more. Names here are made by nobody else, so
//! that the state of the directory decides. Where calls cannot be repeated such an answer stays an error.

use howdah_vfs::{Change, Create, CreateFile, FsError, Handle, MakeDirectory, NewAttributes, Node, Result};

use super::names::parsed;
use super::performance::Deeds;
use super::place::Place;

/// Permission bits of files: nobody else's business.
const FILE_MODE: u32 = 0o600;

/// Permission bits of directories.
const DIRECTORY_MODE: u32 = 0o700;

/// Makes an empty file, which must not exist.
pub(super) fn create(place: &Place, directory: &Handle, name: &str, deeds: &mut Deeds) -> Result<Node> {
    let how = Create::Guarded(NewAttributes::with_mode(FILE_MODE));
    match place.file_system.create(
        &place.caller,
        CreateFile::new(directory, parsed(name), &how),
        &mut Change::default(),
    ) {
        Err(FsError::Exists) if place.kind.may_repeat_calls() => {
            let found = lookup(place, directory, name)?;
            deeds.repeated_answers += 1;
            Ok(found)
        }
        answer => answer,
    }
}

/// Makes a directory, which must not exist.
pub(super) fn make_directory(place: &Place, directory: &Handle, name: &str) -> Result<Node> {
    let new = NewAttributes::with_mode(DIRECTORY_MODE);
    let mut change = Change::default();
    match place.file_system.make_directory(
        &place.caller,
        MakeDirectory::new(directory, parsed(name), &new),
        &mut change,
    ) {
        Err(FsError::Exists) if place.kind.may_repeat_calls() => lookup(place, directory, name),
        answer => answer,
    }
}

/// The node of that name.
pub(super) fn lookup(place: &Place, directory: &Handle, name: &str) -> Result<Node> {
    place.file_system.lookup(&place.caller, directory, parsed(name)).map(|found| found.node)
}

/// Removes a file.
pub(super) fn remove(place: &Place, directory: &Handle, name: &str, deeds: &mut Deeds) -> Result<()> {
    match place.file_system.remove(&place.caller, directory, parsed(name), &mut Change::default()) {
        Err(FsError::NotFound) if place.kind.may_repeat_calls() => {
            deeds.repeated_answers += 1;
            Ok(())
        }
        answer => answer,
    }
}

/// Renames a file within a directory.
pub(super) fn rename(
    place: &Place,
    directory: &Handle,
    (from, to): (&str, &str),
    deeds: &mut Deeds,
) -> Result<()> {
    let (mut left, mut entered) = (Change::default(), Change::default());
    let (from, target) = ((directory, parsed(from)), (directory, parsed(to)));
    match place.file_system.rename(&place.caller, from, target, (&mut left, &mut entered)) {
        Err(FsError::NotFound) if place.kind.may_repeat_calls() => {
            lookup(place, directory, to)?;
            deeds.repeated_answers += 1;
            Ok(())
        }
        answer => answer,
    }
}
