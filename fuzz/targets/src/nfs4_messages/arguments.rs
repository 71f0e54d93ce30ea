//! Arguments of every operation.

use howdah_wire::nfs4::*;
use howdah_wire::xdr::{Decode, Decoder};

/// Decodes the arguments of an operation; `None` if they are refused or the operation is not known.
pub fn arguments(operation: u32, decoder: &mut Decoder<'_>) -> Option<()> {
    match operation {
        create::OPERATION => super::attributes(&part!(create::Arguments, decoder).attributes),
        nverify::OPERATION => super::attributes(&part!(nverify::Arguments, decoder).attributes),
        setattr::OPERATION => super::attributes(&part!(setattr::Arguments, decoder).attributes),
        verify::OPERATION => super::attributes(&part!(verify::Arguments, decoder).attributes),
        getfh::OPERATION | readlink::OPERATION | restorefh::OPERATION | savefh::OPERATION => {}
        lookupp::OPERATION | putpubfh::OPERATION | putrootfh::OPERATION => {}
        _ => {
            return of_one!(operation, decoder, Arguments;
                access allocate backchannel_ctl bind_conn_to_session clone close commit copy create_session
                deallocate delegpurge delegreturn destroy_clientid destroy_session exchange_id free_stateid
                get_dir_delegation getattr getxattr link listxattrs lock lockt locku lookup offload_cancel open open_downgrade
                openattr putfh read readdir reclaim_complete remove removexattr rename secinfo secinfo_no_name
                seek sequence set_ssv setxattr test_stateid write
            );
        }
    }
    Some(())
}

/// Decodes the arguments of an operation of a callback.
pub fn callback_arguments(operation: u32, decoder: &mut Decoder<'_>) -> Option<()> {
    use callback::{notify_lock, recall, recall_any, recall_slot, sequence};
    of_one!(operation, decoder, Arguments; notify_lock recall recall_any recall_slot sequence)
}
