//! OPEN that makes a file, and CLOSE in the same compound: the open is not kept.

use howdah_vfs::{
    Caller, Change, Create, CreateFile, FileKind, FsError, Handle, NewAttributes, Node, Result, SetAttributes,
};
use howdah_wire::nfs4::{ClientId, Name, Opaque, Owner, StateId, close, getfh, open, putfh};

use super::change::{LOOK, changed};
use super::client::Nfs4Client;
use super::compound::Compound;
use super::new_file::NewFile;
use super::operation::Operation;
use super::results::ResultReader;
use super::set_attributes::set;

impl Nfs4Client {
    /// Makes a file.
    pub(super) fn create_file(
        &self,
        caller: &Caller,
        create: CreateFile<'_>,
        change: &mut Change,
    ) -> Result<Node> {
        match self.open_and_close(caller, create, change) {
            Ok(node) if node.attributes.kind != FileKind::Regular => Err(FsError::Exists),
            Err(FsError::AccessDenied) => match create.how {
                Create::Unchecked(new) => self.take_existing(caller, create, new.size),
                _ => Err(FsError::AccessDenied),
            },
            made => made,
        }
    }

    /// OPEN asks for the right to write, which CREATE of NFSv3 does not: the file that is there will do, and its owner may cut it.
    fn take_existing(&self, caller: &Caller, create: CreateFile<'_>, size: Option<u64>) -> Result<Node> {
        let there = self.look_up(caller, create.directory, create.name.as_bytes());
        let there = there.map_err(|_| FsError::AccessDenied)?.node;
        let Some(size) = size.filter(|_| there.attributes.kind == FileKind::Regular) else {
            return Ok(there);
        };
        let new = NewAttributes::with_size(size);
        self.set(caller, SetAttributes::new(&there.handle, &new, None), &mut Change::default())?;
        Ok(Node { attributes: self.get_attributes(caller, &there.handle)?, ..there })
    }

    fn open_and_close(&self, caller: &Caller, create: CreateFile<'_>, change: &mut Change) -> Result<Node> {
        let new = NewFile::of(create.how, self.facts.exclusive);
        let owner = self.making.next_owner(caller);
        let open = open_new(&new, &owner, create.name.as_bytes());
        let put = self.put(create.directory)?;
        let (get, end) = (Operation::GetHandle, Operation::Close(StateId::CURRENT));
        let plain = [put, LOOK, open, get, LOOK, end, put, LOOK];
        let setting = [put, LOOK, open, get, set(new.to_set(), StateId::ANONYMOUS), LOOK, end, put, LOOK];
        let operations = if new.to_set().is_empty() { &plain[..] } else { &setting };
        let results = self.call(caller, &Compound::change("OPEN", operations))?;
        let mut reader = results.read()?;
        reader.skip(putfh::OPERATION)?;
        let before = reader.look()?;
        *change = Change::none(Some(before));
        let opened = reader.take::<open::Success<'_>>(open::OPERATION);
        if opened.is_err() && before.kind != FileKind::Directory {
            return Err(FsError::NotDirectory);
        }
        let opened = opened?;
        *change = changed(&before, opened.directory, None);
        let handle = match reader.take::<getfh::Success<'_>>(getfh::OPERATION).map_err(FsError::from) {
            Ok(reply) => self.calls.handles.learn(reply.node)?,
            // The file is made. Only what follows is to be done again.
            Err(FsError::Delay) => {
                self.look_up(caller, create.directory, create.name.as_bytes())?.node.handle
            }
            Err(error) => return Err(error),
        };
        let made = match self.new_node(&new, handle, &mut reader) {
            Err(FsError::Delay) => self.complete(caller, &new, handle),
            made => made,
        };
        // A server that does not know the current stateid takes the one that it gave.
        if made.is_err() || close(&mut reader).is_err() {
            self.close_file(caller, &handle, opened.state);
        } else if reader.skip(putfh::OPERATION).is_ok() {
            *change = changed(&before, opened.directory, reader.look().ok());
        }
        if results.repeated {
            change.before = None;
        }
        if made.is_err() && new.is_new() {
            // Best effort: the refusal is reported in any case.
            let _ = self.remove_name(caller, (create.directory, create.name), &mut Change::default());
        }
        made
    }

    fn new_node(&self, new: &NewFile, handle: Handle, reader: &mut ResultReader<'_>) -> Result<Node> {
        if !new.to_set().is_empty() {
            reader.set()?;
        }
        Ok(Node { handle, attributes: new.seen(reader.look()?) })
    }

    /// Does what follows OPEN, for which the server asked for patience.
    fn complete(&self, caller: &Caller, new: &NewFile, handle: Handle) -> Result<Node> {
        if !new.to_set().is_empty() {
            let operations = [self.put(&handle)?, set(new.to_set(), StateId::ANONYMOUS)];
            let results = self.call(caller, &Compound::change("SETATTR", &operations))?;
            let mut reader = results.read()?;
            reader.skip(putfh::OPERATION)?;
            reader.set()?;
        }
        Ok(Node { handle, attributes: new.seen(self.get_attributes(caller, &handle)?) })
    }

    /// Ends an open. Says whether the server answered.
    pub(super) fn close_file(&self, caller: &Caller, file: &Handle, state: StateId) -> bool {
        // The server does not know a file without a handle.
        let Ok(put) = self.put(file) else { return true };
        let answer = self.call(caller, &Compound::change("CLOSE", &[put, Operation::Close(state)]));
        let closed = answer.as_ref().map_err(|error| *error).and_then(|results| {
            let mut reader = results.read()?;
            reader.skip(putfh::OPERATION)?;
            Ok(close(&mut reader)?)
        });
        if let Err(error) = closed {
            tracing::debug!(%error, "closing a file");
        }
        answer.is_ok()
    }
}

/// An OPEN that makes a file in the current directory.
pub(super) fn open_new<'a>(new: &'a NewFile, owner: &'a str, name: &'a [u8]) -> Operation<'a> {
    Operation::Open(open::Arguments {
        sequence: 0,
        access: open::ACCESS_WRITE | open::WANT_NO_DELEGATION,
        deny: open::DENY_NONE,
        owner: Owner { client: ClientId(0), owner: Opaque(owner.as_bytes()) },
        create: Some(new.how()),
        claim: open::Claim::Name(Name(name)),
    })
}

/// Takes the result of CLOSE.
pub(super) fn close(reader: &mut ResultReader<'_>) -> std::result::Result<(), super::results::Stopped> {
    reader.take::<close::Success>(close::OPERATION).map(drop)
}
