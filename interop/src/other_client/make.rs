//! CREATE, MKDIR, SYMLINK and MKNOD, whose answers may leave out the node they made.

use howdah_vfs::{
    Attributes, Caller, Change, Create, DeviceNumber, FsError, Handle, NewAttributes, Node, Result,
    SpecialKind,
};
use nfs3_types::nfs3::{
    CREATE3args, CREATE3res, MKDIR3args, MKDIR3res, MKNOD3args, MKNOD3res, NFS_PROGRAM, Nfs3Option,
    SYMLINK3args, SYMLINK3res, createhow3, createverf3, devicedata3, mknoddata3, nfspath3, post_op_attr,
    post_op_fh3, sattr3, specdata3, symlinkdata3, wcc_data,
};
use nfs3_types::xdr_codec::Opaque;

use super::OtherClient;
use super::client::success;
use super::convert::{note, post_attributes, settings};

/// Where a node was to be made, and by which caller.
struct Place<'p> {
    caller: &'p Caller,
    directory: &'p Handle,
    name: &'p [u8],
}

impl OtherClient {
    pub(super) fn create_file(
        &self,
        caller: &Caller,
        directory: &Handle,
        name: &[u8],
        how: &Create,
        change: &mut Change,
    ) -> Result<Node> {
        let how = match how {
            Create::Unchecked(new) => createhow3::UNCHECKED(settings(new)?),
            Create::Guarded(new) => createhow3::GUARDED(settings(new)?),
            Create::Exclusive(verifier) => createhow3::EXCLUSIVE(createverf3(*verifier)),
            // NFSv4 alone has it.
            Create::ExclusiveWith(..) => return Err(FsError::NotSupported),
        };
        let arguments = CREATE3args { where_: self.place(directory, name), how };
        let result: CREATE3res = self.call(caller, NFS_PROGRAM::NFSPROC3_CREATE, &arguments);
        let made = success(result, |reply| note(change, &reply.dir_wcc))?;
        let place = Place { caller, directory, name };
        self.made(&place, &made.obj, &made.obj_attributes, &made.dir_wcc, change)
    }

    pub(super) fn create_directory(
        &self,
        caller: &Caller,
        directory: &Handle,
        name: &[u8],
        new: &NewAttributes,
        change: &mut Change,
    ) -> Result<Node> {
        let arguments = MKDIR3args { where_: self.place(directory, name), attributes: settings(new)? };
        let result: MKDIR3res = self.call(caller, NFS_PROGRAM::NFSPROC3_MKDIR, &arguments);
        let made = success(result, |reply| note(change, &reply.dir_wcc))?;
        let place = Place { caller, directory, name };
        self.made(&place, &made.obj, &made.obj_attributes, &made.dir_wcc, change)
    }

    pub(super) fn create_link(
        &self,
        caller: &Caller,
        directory: &Handle,
        (name, target): (&[u8], &[u8]),
        new: &NewAttributes,
        change: &mut Change,
    ) -> Result<Node> {
        let symlink = symlinkdata3 {
            symlink_attributes: settings(new)?,
            symlink_data: nfspath3(Opaque::borrowed(target)),
        };
        let arguments = SYMLINK3args { where_: self.place(directory, name), symlink };
        let result: SYMLINK3res = self.call(caller, NFS_PROGRAM::NFSPROC3_SYMLINK, &arguments);
        let made = success(result, |reply| note(change, &reply.dir_wcc))?;
        let place = Place { caller, directory, name };
        self.made(&place, &made.obj, &made.obj_attributes, &made.dir_wcc, change)
    }

    pub(super) fn create_special(
        &self,
        caller: &Caller,
        directory: &Handle,
        (name, kind): (&[u8], SpecialKind),
        new: &NewAttributes,
        change: &mut Change,
    ) -> Result<Node> {
        let what = special(kind, settings(new)?);
        let arguments = MKNOD3args { where_: self.place(directory, name), what };
        let result: MKNOD3res = self.call(caller, NFS_PROGRAM::NFSPROC3_MKNOD, &arguments);
        let made = success(result, |reply| note(change, &reply.dir_wcc))?;
        let place = Place { caller, directory, name };
        self.made(&place, &made.obj, &made.obj_attributes, &made.dir_wcc, change)
    }

    /// The node that was made, asked for where the answer does not have it.
    fn made(
        &self,
        place: &Place<'_>,
        handle: &post_op_fh3,
        attributes: &post_op_attr,
        directory: &wcc_data,
        change: &mut Change,
    ) -> Result<Node> {
        note(change, directory);
        let attributes: Option<Attributes> = post_attributes(attributes);
        match (handle, attributes) {
            (Nfs3Option::Some(handle), Some(attributes)) => {
                Ok(Node { handle: self.handles.take(handle), attributes })
            }
            _ => Ok(self.look(place.caller, place.directory, place.name)?.node),
        }
    }
}

fn special(kind: SpecialKind, dev_attributes: sattr3) -> mknoddata3 {
    let device = |DeviceNumber { major, minor }, dev_attributes| {
        let spec = specdata3 { specdata1: major, specdata2: minor };
        devicedata3 { dev_attributes, spec }
    };
    match kind {
        SpecialKind::BlockDevice(number) => mknoddata3::NF3BLK(device(number, dev_attributes)),
        SpecialKind::CharacterDevice(number) => mknoddata3::NF3CHR(device(number, dev_attributes)),
        SpecialKind::Socket => mknoddata3::NF3SOCK(dev_attributes),
        SpecialKind::Fifo => mknoddata3::NF3FIFO(dev_attributes),
    }
}
