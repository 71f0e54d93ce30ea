//! The operations that the client sends, as they go into a compound.

use howdah_wire::nfs4::attributes::Values;
use howdah_wire::nfs4::{
    Bitmap, Name, StateId, access, allocate, clone, close, commit, copy, create, deallocate, delegreturn,
    free_stateid, get_dir_delegation, getattr, getfh, getxattr, link, listxattrs, lock, lockt, locku, lookup,
    lookupp, nverify, offload_cancel, open, putfh, putrootfh, read, readdir, readlink, reclaim_complete,
    remove, removexattr, rename, restorefh, savefh, seek, setattr, setxattr, test_stateid, verify, write,
};
use howdah_wire::xdr::{Encode, Encoder};

use super::handles::WireHandle;

/// An operation with its arguments.
#[derive(Debug, Clone, Copy)]
pub(super) enum Operation<'a> {
    Access(access::Arguments),
    Allocate(allocate::Arguments),
    CancelCopy(StateId),
    Clone(clone::Arguments),
    Close(StateId),
    Commit(commit::Arguments),
    Copy(copy::Arguments<'a>),
    Create(create::Arguments<'a>),
    Deallocate(deallocate::Arguments),
    FreeState(StateId),
    GetAttributes(Bitmap),
    GetDirectoryDelegation,
    GetHandle,
    GetXattr(&'a [u8]),
    Link(&'a [u8]),
    ListXattrs(listxattrs::Arguments),
    Lock(lock::Arguments<'a>),
    Lookup(&'a [u8]),
    LookupParent,
    Open(open::Arguments<'a>),
    PutHandle(WireHandle),
    PutRoot,
    Read(read::Arguments),
    ReadDirectory(readdir::Arguments),
    ReadLink,
    ReclaimComplete,
    RefuseIf(Values<'a>),
    RefuseUnless(Values<'a>),
    Remove(&'a [u8]),
    RemoveXattr(&'a [u8]),
    Rename {
        from: &'a [u8],
        to: &'a [u8],
    },
    RestoreHandle,
    ReturnDelegation(StateId),
    SaveHandle,
    Seek(seek::Arguments),
    SetAttributes(setattr::Arguments<'a>),
    SetXattr(setxattr::Arguments<'a>),
    TestLock(lockt::Arguments<'a>),
    TestStates(test_stateid::Arguments<'a>),
    Unlock(locku::Arguments),
    /// The data follows as the payload of the call.
    Write(write::Head),
}

impl Operation<'_> {
    /// Its number.
    pub(super) fn number(&self) -> u32 {
        match self {
            Self::Access(_) => access::OPERATION,
            Self::Allocate(_) => allocate::OPERATION,
            Self::CancelCopy(_) => offload_cancel::OPERATION,
            Self::Clone(_) => clone::OPERATION,
            Self::Close(_) => close::OPERATION,
            Self::Commit(_) => commit::OPERATION,
            Self::Copy(_) => copy::OPERATION,
            Self::Create(_) => create::OPERATION,
            Self::Deallocate(_) => deallocate::OPERATION,
            Self::FreeState(_) => free_stateid::OPERATION,
            Self::GetAttributes(_) => getattr::OPERATION,
            Self::GetDirectoryDelegation => get_dir_delegation::OPERATION,
            Self::GetHandle => getfh::OPERATION,
            Self::GetXattr(_) => getxattr::OPERATION,
            Self::Link(_) => link::OPERATION,
            Self::ListXattrs(_) => listxattrs::OPERATION,
            Self::Lock(_) => lock::OPERATION,
            Self::Lookup(_) => lookup::OPERATION,
            Self::LookupParent => lookupp::OPERATION,
            Self::Open(_) => open::OPERATION,
            Self::PutHandle(_) => putfh::OPERATION,
            Self::PutRoot => putrootfh::OPERATION,
            Self::Read(_) => read::OPERATION,
            Self::ReadDirectory(_) => readdir::OPERATION,
            Self::ReadLink => readlink::OPERATION,
            Self::ReclaimComplete => reclaim_complete::OPERATION,
            Self::RefuseIf(_) => nverify::OPERATION,
            Self::RefuseUnless(_) => verify::OPERATION,
            Self::Remove(_) => remove::OPERATION,
            Self::RemoveXattr(_) => removexattr::OPERATION,
            Self::Rename { .. } => rename::OPERATION,
            Self::RestoreHandle => restorefh::OPERATION,
            Self::ReturnDelegation(_) => delegreturn::OPERATION,
            Self::SaveHandle => savefh::OPERATION,
            Self::Seek(_) => seek::OPERATION,
            Self::SetAttributes(_) => setattr::OPERATION,
            Self::SetXattr(_) => setxattr::OPERATION,
            Self::TestLock(_) => lockt::OPERATION,
            Self::TestStates(_) => test_stateid::OPERATION,
            Self::Unlock(_) => locku::OPERATION,
            Self::Write(_) => write::OPERATION,
        }
    }
}

impl Encode for Operation<'_> {
    fn encode(&self, encoder: &mut Encoder<'_>) {
        encoder.u32(self.number());
        match *self {
            Self::Access(arguments) => arguments.encode(encoder),
            Self::Allocate(arguments) => arguments.encode(encoder),
            Self::CancelCopy(state) => offload_cancel::Arguments { state }.encode(encoder),
            Self::Clone(arguments) => arguments.encode(encoder),
            Self::Close(state) => close::Arguments { sequence: 0, state }.encode(encoder),
            Self::Commit(arguments) => arguments.encode(encoder),
            Self::Copy(arguments) => arguments.encode(encoder),
            Self::Create(arguments) => arguments.encode(encoder),
            Self::Deallocate(arguments) => arguments.encode(encoder),
            Self::FreeState(state) => free_stateid::Arguments { state }.encode(encoder),
            Self::GetAttributes(wanted) => wanted.encode(encoder),
            Self::GetDirectoryDelegation => {
                get_dir_delegation::Arguments::WITH_CHILDREN.encode(encoder);
            }
            Self::GetXattr(name)
            | Self::Link(name)
            | Self::Lookup(name)
            | Self::Remove(name)
            | Self::RemoveXattr(name) => Name(name).encode(encoder),
            Self::ListXattrs(arguments) => arguments.encode(encoder),
            Self::Lock(arguments) => arguments.encode(encoder),
            Self::Open(arguments) => arguments.encode(encoder),
            Self::PutHandle(handle) => handle.encode(encoder),
            Self::Read(arguments) => arguments.encode(encoder),
            Self::ReadDirectory(arguments) => arguments.encode(encoder),
            Self::ReclaimComplete => {
                reclaim_complete::Arguments { one_file_system: false }.encode(encoder);
            }
            Self::RefuseIf(attributes) | Self::RefuseUnless(attributes) => attributes.encode(encoder),
            Self::Rename { from, to } => {
                rename::Arguments { from: Name(from), to: Name(to) }.encode(encoder);
            }
            Self::ReturnDelegation(state) => delegreturn::Arguments { state }.encode(encoder),
            Self::Seek(arguments) => arguments.encode(encoder),
            Self::SetAttributes(arguments) => arguments.encode(encoder),
            Self::SetXattr(arguments) => arguments.encode(encoder),
            Self::TestLock(arguments) => arguments.encode(encoder),
            Self::TestStates(arguments) => arguments.encode(encoder),
            Self::Unlock(arguments) => arguments.encode(encoder),
            Self::Write(head) => head.encode(encoder),
            Self::GetHandle
            | Self::LookupParent
            | Self::PutRoot
            | Self::ReadLink
            | Self::RestoreHandle
            | Self::SaveHandle => {}
        }
    }
}
