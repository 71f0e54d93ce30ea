//! MOUNT: from the name of an export to the handle of its root.

use std::net::SocketAddr;

use howdah_vfs::Caller;
use nfs3_types::mount::{MOUNT_PROGRAM, PROGRAM, VERSION, dirpath, mountres3};
use nfs3_types::nfs3::nfs_fh3;
use nfs3_types::rpc::auth_flavor;
use nfs3_types::xdr_codec::Opaque;

use super::channel::Channel;

/// Asks the server for an export's root.
pub(super) fn mount(channel: &Channel, server: SocketAddr, export: &str) -> nfs_fh3 {
    let path = dirpath(Opaque::borrowed(export.as_bytes()));
    let procedure = MOUNT_PROGRAM::MOUNTPROC3_MNT as u32;
    match channel.call(&Caller::ROOT, (PROGRAM, VERSION), procedure, &path) {
        mountres3::Ok(root) => {
            let flavors = root.auth_flavors;
            assert!(flavors.contains(&(auth_flavor::AUTH_UNIX as u32)), "AUTH_SYS is not among {flavors:?}");
            nfs_fh3 { data: Opaque::owned(root.fhandle.0.to_vec()) }
        }
        mountres3::Err(status) => panic!("mounting {export} of {server}: {status}"),
    }
}
