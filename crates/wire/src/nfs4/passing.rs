//! How long the arguments of each operation are: to pass them without decoding them.

use super::*;
use crate::limits::{BITMAP_WORDS_MAX, ITEMS4_MAX};
use crate::xdr::{Decode, DecodeError, DecodeProblem, Decoder};

/// Passes the arguments of an operation without decoding them. What makes no sense in them may go by.
///
/// # Errors
/// They end too early, or nobody knows how long they are.
pub fn pass_arguments(operation: u32, arguments: &mut Decoder<'_>) -> Result<(), DecodeError> {
    match operation {
        getfh::OPERATION
        | lookupp::OPERATION
        | putpubfh::OPERATION
        | putrootfh::OPERATION
        | readlink::OPERATION
        | restorefh::OPERATION
        | savefh::OPERATION => Ok(()),
        access::OPERATION
        | openattr::OPERATION
        | secinfo_no_name::OPERATION
        | reclaim_complete::OPERATION => bytes(arguments, 4),
        commit::OPERATION | listxattrs::OPERATION => bytes(arguments, 12),
        delegreturn::OPERATION | free_stateid::OPERATION | offload_cancel::OPERATION => {
            bytes(arguments, STATE)
        }
        close::OPERATION => bytes(arguments, 4 + STATE),
        read::OPERATION | seek::OPERATION | open_downgrade::OPERATION => bytes(arguments, STATE + 12),
        allocate::OPERATION | deallocate::OPERATION => bytes(arguments, STATE + 16),
        locku::OPERATION => bytes(arguments, 8 + STATE + 16),
        clone::OPERATION => bytes(arguments, 2 * STATE + 24),
        link::OPERATION
        | lookup::OPERATION
        | putfh::OPERATION
        | remove::OPERATION
        | secinfo::OPERATION
        | getxattr::OPERATION
        | removexattr::OPERATION => opaque(arguments),
        rename::OPERATION => opaque(arguments).and_then(|()| opaque(arguments)),
        lockt::OPERATION => bytes(arguments, 28).and_then(|()| opaque(arguments)),
        setxattr::OPERATION => {
            bytes(arguments, 4)?;
            opaque(arguments)?;
            opaque(arguments)
        }
        getattr::OPERATION => words(arguments),
        readdir::OPERATION => bytes(arguments, 24).and_then(|()| words(arguments)),
        verify::OPERATION | nverify::OPERATION => values(arguments),
        setattr::OPERATION => bytes(arguments, STATE).and_then(|()| values(arguments)),
        write::OPERATION => bytes(arguments, STATE + 12).and_then(|()| opaque(arguments)),
        test_stateid::OPERATION => {
            let count = arguments.length(ITEMS4_MAX, "items")?;
            bytes(arguments, count * STATE)
        }
        create::OPERATION => {
            match arguments.u32("file type")? {
                3 | 4 => bytes(arguments, 8)?,
                5 => opaque(arguments)?,
                _ => {}
            }
            opaque(arguments)?;
            values(arguments)
        }
        lock::OPERATION => {
            bytes(arguments, 24)?;
            if !arguments.bool("new lock owner")? {
                return bytes(arguments, STATE + 4);
            }
            bytes(arguments, 4 + STATE + 4 + 8)?;
            opaque(arguments)
        }
        open::OPERATION => open(arguments),
        // Rare, and of many forms.
        copy::OPERATION => copy::Arguments::decode(arguments).map(drop),
        backchannel_ctl::OPERATION => backchannel_ctl::Arguments::decode(arguments).map(drop),
        set_ssv::OPERATION => set_ssv::Arguments::decode(arguments).map(drop),
        other => Err(arguments.refuse("operation", 4, DecodeProblem::UnknownValue(other))),
    }
}

/// Length of a stateid.
const STATE: usize = StateId::SIZE;

fn bytes(arguments: &mut Decoder<'_>, count: usize) -> Result<(), DecodeError> {
    arguments.bytes(count, "arguments").map(drop)
}

/// Whoever decodes it knows how long it may be.
fn opaque(arguments: &mut Decoder<'_>) -> Result<(), DecodeError> {
    arguments.opaque(u32::MAX, "arguments").map(drop)
}

fn words(arguments: &mut Decoder<'_>) -> Result<(), DecodeError> {
    let count = arguments.length(BITMAP_WORDS_MAX, "bitmap")?;
    bytes(arguments, 4 * count)
}

/// Attributes: which ones, and their values.
fn values(arguments: &mut Decoder<'_>) -> Result<(), DecodeError> {
    words(arguments)?;
    opaque(arguments)
}

fn open(arguments: &mut Decoder<'_>) -> Result<(), DecodeError> {
    // Sequence, access, deny, and the owner.
    bytes(arguments, 12 + 8)?;
    opaque(arguments)?;
    if arguments.bool("whether to create")? {
        match arguments.u32("how to create")? {
            2 => bytes(arguments, 8)?,
            3 => {
                bytes(arguments, 8)?;
                values(arguments)?;
            }
            _ => values(arguments)?,
        }
    }
    match arguments.u32("claim")? {
        0 | 3 => opaque(arguments),
        1 => bytes(arguments, 4),
        2 => bytes(arguments, STATE).and_then(|()| opaque(arguments)),
        5 => bytes(arguments, STATE),
        _ => Ok(()),
    }
}
