//! The operations that the client sends, as they go into a compound.

use howdah_wire::nfs4::attributes::Values;
use howdah_wire::nfs4::{
    Bitmap, FileHandle, Name, StateId, access, close, commit, create, getattr, getfh, link, lookup, lookupp,
    nverify, open, putfh, putrootfh, read, readdir, readlink, reclaim_complete, remove, rename, restorefh,
    savefh, setattr, verify, write,
};
use howdah_wire::xdr::{Encode, Encoder};

/// An operation with its arguments.
#[derive(Debug, Clone, Copy)]
pub(super) enum Operation<'a> {
    Access(access::Arguments),
    Close(StateId),
    Commit(commit::Arguments),
    Create(create::Arguments<'a>),
    GetAttributes(Bitmap),
    GetHandle,
    Link(&'a [u8]),
    Lookup(&'a [u8]),
    LookupParent,
    Open(open::Arguments<'a>),
    PutHandle(FileHandle<'a>),
    PutRoot,
    Read(read::Arguments),
    ReadDirectory(readdir::Arguments),
    ReadLink,
    ReclaimComplete,
    RefuseIf(Values<'a>),
    RefuseUnless(Values<'a>),
    Remove(&'a [u8]),
    Rename {
        from: &'a [u8],
        to: &'a [u8],
    },
    RestoreHandle,
    SaveHandle,
    SetAttributes(setattr::Arguments<'a>),
    /// The data follows as the payload of the call.
    Write(write::Head),
}

impl Operation<'_> {
    /// Its number.
    pub(super) fn number(&self) -> u32 {
        match self {
            Self::Access(_) => access::OPERATION,
            Self::Close(_) => close::OPERATION,
            Self::Commit(_) => commit::OPERATION,
            Self::Create(_) => create::OPERATION,
            Self::GetAttributes(_) => getattr::OPERATION,
            Self::GetHandle => getfh::OPERATION,
            Self::Link(_) => link::OPERATION,
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
            Self::Rename { .. } => rename::OPERATION,
            Self::RestoreHandle => restorefh::OPERATION,
            Self::SaveHandle => savefh::OPERATION,
            Self::SetAttributes(_) => setattr::OPERATION,
            Self::Write(_) => write::OPERATION,
        }
    }
}

impl Encode for Operation<'_> {
    fn encode(&self, encoder: &mut Encoder<'_>) {
        encoder.u32(self.number());
        match *self {
            Self::Access(arguments) => arguments.encode(encoder),
            Self::Close(state) => close::Arguments { sequence: 0, state }.encode(encoder),
            Self::Commit(arguments) => arguments.encode(encoder),
            Self::Create(arguments) => arguments.encode(encoder),
            Self::GetAttributes(wanted) => wanted.encode(encoder),
            Self::Link(name) | Self::Lookup(name) | Self::Remove(name) => Name(name).encode(encoder),
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
            Self::SetAttributes(arguments) => arguments.encode(encoder),
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
