//! How long the arguments of each operation are: to pass them without decoding them.

use super::*;
use crate::limits::{BITMAP_WORDS_MAX, ITEMS4_MAX};
use crate::xdr::{Decode, DecodeError, DecodeProblem, Decoder};

/// Length of a stateid.
const STATE: usize = StateId::SIZE;

/// What stands in arguments behind bytes of a fixed number.
enum Part {
    /// A length, and so many bytes.
    Bytes,
    /// A set of attributes.
    Set,
}
use Part::{Bytes, Set};

/// Passes the arguments of an operation without decoding them. What makes no sense in them may go by.
///
/// # Errors
/// They end too early, or nobody knows how long they are.
pub fn pass_arguments(operation: u32, arguments: &mut Decoder<'_>) -> Result<(), DecodeError> {
    let (fixed, parts): (usize, &[Part]) = match operation {
        getfh::OPERATION | lookupp::OPERATION | putpubfh::OPERATION | putrootfh::OPERATION => (0, &[]),
        readlink::OPERATION | restorefh::OPERATION | savefh::OPERATION => (0, &[]),
        access::OPERATION | openattr::OPERATION => (4, &[]),
        secinfo_no_name::OPERATION | reclaim_complete::OPERATION => (4, &[]),
        commit::OPERATION | listxattrs::OPERATION => (12, &[]),
        delegreturn::OPERATION | free_stateid::OPERATION | offload_cancel::OPERATION => (STATE, &[]),
        destroy_session::OPERATION => (16, &[]),
        destroy_clientid::OPERATION => (8, &[]),
        close::OPERATION => (4 + STATE, &[]),
        read::OPERATION | seek::OPERATION | open_downgrade::OPERATION => (STATE + 12, &[]),
        allocate::OPERATION | deallocate::OPERATION => (STATE + 16, &[]),
        locku::OPERATION => (8 + STATE + 16, &[]),
        clone::OPERATION => (2 * STATE + 24, &[]),
        link::OPERATION | lookup::OPERATION | putfh::OPERATION | remove::OPERATION => (0, &[Bytes]),
        secinfo::OPERATION | getxattr::OPERATION | removexattr::OPERATION => (0, &[Bytes]),
        lockt::OPERATION => (28, &[Bytes]),
        write::OPERATION => (STATE + 12, &[Bytes]),
        rename::OPERATION => (0, &[Bytes, Bytes]),
        setxattr::OPERATION => (4, &[Bytes, Bytes]),
        getattr::OPERATION => (0, &[Set]),
        get_dir_delegation::OPERATION => return get_dir_delegation::Arguments::decode(arguments).map(drop),
        readdir::OPERATION => (24, &[Set]),
        verify::OPERATION | nverify::OPERATION => (0, &[Set, Bytes]),
        setattr::OPERATION => (STATE, &[Set, Bytes]),
        test_stateid::OPERATION => (arguments.length(ITEMS4_MAX, "items")? * STATE, &[]),
        create::OPERATION => match arguments.u32("file type")? {
            3 | 4 => (8, &[Bytes, Set, Bytes]),
            5 => (0, &[Bytes, Bytes, Set, Bytes]),
            _ => (0, &[Bytes, Set, Bytes]),
        },
        lock::OPERATION => {
            pass(arguments, 24, &[])?;
            let is_first = arguments.bool("new lock owner")?;
            if is_first { (4 + STATE + 4 + 8, &[Bytes]) } else { (STATE + 4, &[]) }
        }
        open::OPERATION => {
            // The owner stands behind it.
            pass(arguments, 12 + 8, &[Bytes])?;
            if arguments.bool("whether to create")? {
                match arguments.u32("how to create")? {
                    2 => pass(arguments, 8, &[])?,
                    3 => pass(arguments, 8, &[Set, Bytes])?,
                    _ => pass(arguments, 0, &[Set, Bytes])?,
                }
            }
            match arguments.u32("claim")? {
                0 | 3 => (0, &[Bytes]),
                1 => (4, &[]),
                2 => (STATE, &[Bytes]),
                5 => (STATE, &[]),
                _ => (0, &[]),
            }
        }
        // Rare, and of many forms.
        copy::OPERATION => return copy::Arguments::decode(arguments).map(drop),
        backchannel_ctl::OPERATION => return backchannel_ctl::Arguments::decode(arguments).map(drop),
        create_session::OPERATION => return create_session::Arguments::decode(arguments).map(drop),
        exchange_id::OPERATION => return exchange_id::Arguments::decode(arguments).map(drop),
        set_ssv::OPERATION => return set_ssv::Arguments::decode(arguments).map(drop),
        other => return Err(arguments.refuse("operation", 4, DecodeProblem::UnknownValue(other))),
    };
    pass(arguments, fixed, parts)
}

fn pass(arguments: &mut Decoder<'_>, fixed: usize, parts: &[Part]) -> Result<(), DecodeError> {
    arguments.bytes(fixed, "arguments")?;
    for part in parts {
        match part {
            // Its decoder knows how long it may be.
            Bytes => drop(arguments.opaque(u32::MAX, "arguments")?),
            Set => {
                let words = arguments.length(BITMAP_WORDS_MAX, "bitmap")?;
                arguments.bytes(4 * words, "bitmap")?;
            }
        }
    }
    Ok(())
}
