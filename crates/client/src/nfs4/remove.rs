//! REMOVE, which takes names of all kinds: what kind it is is checked in the same compound.

use howdah_vfs::{Caller, Change, FsError, Handle, Name, Result};
use howdah_wire::nfs4::attributes::{self as wire, Values};
use howdah_wire::nfs4::{FileType, Status, lookup, nverify, putfh, remove, verify};

use super::change::{LOOK, changed};
use super::client::Nfs4Client;
use super::compound::Compound;
use super::operation::Operation;
use super::results::{ResultReader, Stopped};

impl Nfs4Client {
    /// Removes a name that is not a directory's.
    pub(super) fn remove_name(
        &self,
        caller: &Caller,
        name: (&Handle, Name<'_>),
        change: &mut Change,
    ) -> Result<()> {
        self.remove_checked(caller, name, false, change)
    }

    /// Removes an empty directory.
    pub(super) fn remove_directory_name(
        &self,
        caller: &Caller,
        name: (&Handle, Name<'_>),
        change: &mut Change,
    ) -> Result<()> {
        self.remove_checked(caller, name, true, change)
    }

    fn remove_checked(
        &self,
        caller: &Caller,
        (directory, name): (&Handle, Name<'_>),
        is_directory: bool,
        change: &mut Change,
    ) -> Result<()> {
        let mut directory_kind = wire::Attributes::default();
        directory_kind.identity.kind = Some(FileType::Directory);
        let mut buffer = Vec::new();
        let kind = Values::of(&directory_kind, &mut buffer);
        let check = if is_directory { Operation::RefuseUnless(kind) } else { Operation::RefuseIf(kind) };
        let (put, name) = (self.put(directory)?, name.as_bytes());
        let operations = [put, LOOK, Operation::Lookup(name), check, put, Operation::Remove(name), LOOK];
        let results = self.call(caller, &Compound::change("REMOVE", &operations))?;
        let mut reader = results.read()?;
        reader.skip(putfh::OPERATION)?;
        let before = reader.look()?;
        *change = Change::none(Some(before));
        match reader.skip(lookup::OPERATION) {
            // Its first run removed it, in a session that ended.
            Err(Stopped::Refused(_, Status::NOENT)) if results.repeated => return Ok(()),
            found => found?,
        }
        let checked =
            if is_directory { check_directory(&mut reader) } else { check_no_directory(&mut reader) };
        checked?;
        reader.skip(putfh::OPERATION)?;
        let reply = reader.take::<remove::Success>(remove::OPERATION)?.directory;
        *change = changed(&before, reply, reader.look().ok());
        Ok(())
    }
}

fn check_no_directory(reader: &mut ResultReader<'_>) -> Result<()> {
    match reader.skip(nverify::OPERATION) {
        Err(Stopped::Refused(_, Status::SAME)) => Err(FsError::IsDirectory),
        checked => Ok(checked?),
    }
}

fn check_directory(reader: &mut ResultReader<'_>) -> Result<()> {
    match reader.skip(verify::OPERATION) {
        Err(Stopped::Refused(_, Status::NOT_SAME)) => Err(FsError::NotDirectory),
        checked => Ok(checked?),
    }
}
