//! What the results of every operation hold.

use howdah_wire::nfs4::*;
use howdah_wire::xdr::{Decode, Decoder};

/// Decodes what a result holds; `None` if it is refused.
pub fn body(operation: u32, status: Status, decoder: &mut Decoder<'_>) -> Option<()> {
    match (operation, status) {
        (setattr::OPERATION, _) => _ = part!(setattr::Success, decoder),
        (lock::OPERATION | lockt::OPERATION, Status::DENIED) => _ = part!(lock::Denied, decoder),
        (copy::OPERATION, Status::OFFLOAD_NO_REQS) => _ = part!(copy::Requirements, decoder),
        (getattr::OPERATION, Status::OK) => super::attributes(&part!(getattr::Success, decoder).attributes),
        (readdir::OPERATION, Status::OK) => {
            part!(readdir::Success, decoder).entries.for_each(|entry| super::attributes(&entry.attributes));
        }
        // Another operation's result holds nothing, as a refusal does.
        (_, Status::OK) if holds_nothing(operation) => {}
        (_, Status::OK) => {
            of_one!(operation, decoder, Success;
                access bind_conn_to_session close commit copy create create_session exchange_id get_dir_delegation getfh getxattr
                link listxattrs lock locku open open_downgrade read readlink remove removexattr rename secinfo
                secinfo_no_name seek sequence set_ssv setxattr test_stateid write
            )?;
        }
        _ => {}
    }
    Some(())
}

fn holds_nothing(operation: u32) -> bool {
    [
        lookup::OPERATION,
        lookupp::OPERATION,
        putfh::OPERATION,
        putrootfh::OPERATION,
        restorefh::OPERATION,
        savefh::OPERATION,
        reclaim_complete::OPERATION,
    ]
    .contains(&operation)
}

/// Decodes what a result of a callback holds.
pub fn callback_body(operation: u32, status: Status, decoder: &mut Decoder<'_>) -> Option<()> {
    if (operation, status) == (callback::sequence::OPERATION, Status::OK) {
        part!(callback::sequence::Success, decoder);
    }
    Some(())
}
