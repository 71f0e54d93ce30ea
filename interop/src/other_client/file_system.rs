//! The file system: each call of the trait as the procedure of that name.

use std::ops::ControlFlow;

use howdah_vfs::{
    Access, AddLink, Attributes, Caller, Change, CommitFile, Committed, CreateFile, Entry, FileSystem, Found,
    FsError, Handle, Limits, ListDirectory, Listing, MakeDirectory, MakeLink, MakeSpecial, Name, Node,
    ReadFile, ReadOutcome, Result, SetAttributes, Statistics, WriteFile, Written,
};
use nfs3_types::nfs3::{
    ACCESS3args, ACCESS3res, COMMIT3args, COMMIT3res, GETATTR3args, GETATTR3res, LINK3args, LINK3res,
    NFS_PROGRAM, READLINK3args, READLINK3res, REMOVE3args, REMOVE3res, RENAME3args, RENAME3res, RMDIR3args,
    RMDIR3res, SETATTR3args, SETATTR3res,
};

use super::OtherClient;
use super::client::success;
use super::convert::{attributes, nfs_time, note, option, settings};

impl FileSystem for OtherClient {
    fn root(&self) -> Handle {
        self.root
    }

    fn attributes(&self, caller: &Caller, node: &Handle) -> Result<Attributes> {
        let arguments = GETATTR3args { object: self.handles.give(node) };
        let result: GETATTR3res = self.call(caller, NFS_PROGRAM::NFSPROC3_GETATTR, &arguments);
        Ok(attributes(&success(result, |_| {})?.obj_attributes))
    }

    fn set_attributes(
        &self,
        caller: &Caller,
        SetAttributes { node, new, guard }: SetAttributes<'_>,
        change: &mut Change,
    ) -> Result<()> {
        let arguments = SETATTR3args {
            object: self.handles.give(node),
            new_attributes: settings(new)?,
            guard: option(guard.map(|guard| nfs_time(guard.changed)).transpose()?),
        };
        let result: SETATTR3res = self.call(caller, NFS_PROGRAM::NFSPROC3_SETATTR, &arguments);
        let done = success(result, |reply| note(change, &reply.obj_wcc))?;
        note(change, &done.obj_wcc);
        Ok(())
    }

    fn lookup(&self, caller: &Caller, directory: &Handle, name: Name<'_>) -> Result<Found> {
        self.look(caller, directory, name.as_bytes())
    }

    fn parent(&self, caller: &Caller, directory: &Handle) -> Result<Found> {
        self.look(caller, directory, b"..")
    }

    fn access(&self, caller: &Caller, node: &Handle, wanted: Access) -> Result<(Access, Attributes)> {
        let arguments = ACCESS3args { object: self.handles.give(node), access: wanted.bits() };
        let result: ACCESS3res = self.call(caller, NFS_PROGRAM::NFSPROC3_ACCESS, &arguments);
        let granted = success(result, |_| {})?;
        Ok((Access::from_bits(granted.access), self.told(caller, node, &granted.obj_attributes)?))
    }

    fn read_link(&self, caller: &Caller, node: &Handle, target: &mut Vec<u8>) -> Result<Attributes> {
        let arguments = READLINK3args { symlink: self.handles.give(node) };
        let result: READLINK3res<'_> = self.call(caller, NFS_PROGRAM::NFSPROC3_READLINK, &arguments);
        let link = success(result, |_| {})?;
        target.extend_from_slice(&link.data.0);
        self.told(caller, node, &link.symlink_attributes)
    }

    fn read(
        &self,
        caller: &Caller,
        ReadFile { node, offset, count }: ReadFile<'_>,
        buffer: &mut Vec<u8>,
    ) -> Result<ReadOutcome> {
        self.read_parts(caller, node, offset, count, buffer)
    }

    fn write(
        &self,
        caller: &Caller,
        WriteFile { node, offset, mut data, stability: how }: WriteFile<'_>,
        change: &mut Change,
    ) -> Result<Written> {
        let data = data.bytes().map_err(|_| FsError::Io)?;
        self.write_part(caller, node, (offset, data), how, change)
    }

    fn create(
        &self,
        caller: &Caller,
        CreateFile { directory, name, how }: CreateFile<'_>,
        change: &mut Change,
    ) -> Result<Node> {
        self.create_file(caller, directory, name.as_bytes(), how, change)
    }

    fn make_directory(
        &self,
        caller: &Caller,
        MakeDirectory { directory, name, new }: MakeDirectory<'_>,
        change: &mut Change,
    ) -> Result<Node> {
        self.create_directory(caller, directory, name.as_bytes(), new, change)
    }

    fn make_link(
        &self,
        caller: &Caller,
        MakeLink { directory, name, target, new }: MakeLink<'_>,
        change: &mut Change,
    ) -> Result<Node> {
        self.create_link(caller, directory, (name.as_bytes(), target), new, change)
    }

    fn make_special(
        &self,
        caller: &Caller,
        MakeSpecial { directory, name, kind, new }: MakeSpecial<'_>,
        change: &mut Change,
    ) -> Result<Node> {
        self.create_special(caller, directory, (name.as_bytes(), kind), new, change)
    }

    fn remove(&self, caller: &Caller, directory: &Handle, name: Name<'_>, change: &mut Change) -> Result<()> {
        let arguments = REMOVE3args { object: self.place(directory, name.as_bytes()) };
        let result: REMOVE3res = self.call(caller, NFS_PROGRAM::NFSPROC3_REMOVE, &arguments);
        let done = success(result, |reply| note(change, &reply.dir_wcc))?;
        note(change, &done.dir_wcc);
        Ok(())
    }

    fn remove_directory(
        &self,
        caller: &Caller,
        directory: &Handle,
        name: Name<'_>,
        change: &mut Change,
    ) -> Result<()> {
        let arguments = RMDIR3args { object: self.place(directory, name.as_bytes()) };
        let result: RMDIR3res = self.call(caller, NFS_PROGRAM::NFSPROC3_RMDIR, &arguments);
        let done = success(result, |reply| note(change, &reply.dir_wcc))?;
        note(change, &done.dir_wcc);
        Ok(())
    }

    fn rename(
        &self,
        caller: &Caller,
        from: (&Handle, Name<'_>),
        to: (&Handle, Name<'_>),
        (left, entered): (&mut Change, &mut Change),
    ) -> Result<()> {
        let arguments = RENAME3args {
            from: self.place(from.0, from.1.as_bytes()),
            to: self.place(to.0, to.1.as_bytes()),
        };
        let result: RENAME3res = self.call(caller, NFS_PROGRAM::NFSPROC3_RENAME, &arguments);
        let renamed = success(result, |reply| {
            note(left, &reply.fromdir_wcc);
            note(entered, &reply.todir_wcc);
        })?;
        note(left, &renamed.fromdir_wcc);
        note(entered, &renamed.todir_wcc);
        Ok(())
    }

    fn link(
        &self,
        caller: &Caller,
        AddLink { node, directory, name }: AddLink<'_>,
        change: &mut Change,
    ) -> Result<Attributes> {
        let arguments =
            LINK3args { file: self.handles.give(node), link: self.place(directory, name.as_bytes()) };
        let result: LINK3res = self.call(caller, NFS_PROGRAM::NFSPROC3_LINK, &arguments);
        let linked = success(result, |reply| note(change, &reply.linkdir_wcc))?;
        note(change, &linked.linkdir_wcc);
        self.told(caller, node, &linked.file_attributes)
    }

    fn read_directory(
        &self,
        caller: &Caller,
        ListDirectory { directory, cookie, detail }: ListDirectory<'_>,
        sink: &mut dyn FnMut(Entry<'_>) -> ControlFlow<()>,
    ) -> Result<Listing> {
        self.list(caller, directory, cookie, detail, sink)
    }

    fn statistics(&self, caller: &Caller, node: &Handle) -> Result<Statistics> {
        self.told_statistics(caller, node)
    }

    fn limits(&self, caller: &Caller, node: &Handle) -> Result<Limits> {
        self.told_limits(caller, node)
    }

    fn commit(
        &self,
        caller: &Caller,
        CommitFile { node, offset, count }: CommitFile<'_>,
        change: &mut Change,
    ) -> Result<Committed> {
        // More than the protocol can say is "up to the end".
        let count = u32::try_from(count).unwrap_or(0);
        let arguments = COMMIT3args { file: self.handles.give(node), offset, count };
        let result: COMMIT3res = self.call(caller, NFS_PROGRAM::NFSPROC3_COMMIT, &arguments);
        let committed = success(result, |reply| note(change, &reply.file_wcc))?;
        note(change, &committed.file_wcc);
        Ok(Committed { verifier: committed.verf.0 })
    }
}
