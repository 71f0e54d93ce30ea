//! Every argument and every reply of NLM and NSM.

use howdah_wire::nlm::{cancel, free_all, lock, share, sm_notify, test, unlock};
use howdah_wire::nsm::{mon, notify, stat, unmon, unmon_all};

/// The first byte chooses the message, the rest is its bytes.
pub fn run(input: &[u8]) {
    let Some((choice, message)) = input.split_first() else { return };
    match choice % 17 {
        0 => stable!(lock::Arguments<'_>, message),
        1 => stable!(lock::Reply<'_>, message),
        2 => stable!(test::Arguments<'_>, message),
        3 => stable!(test::Reply<'_>, message),
        4 => stable!(cancel::Arguments<'_>, message),
        5 => stable!(unlock::Arguments<'_>, message),
        6 => stable!(share::Arguments<'_>, message),
        7 => stable!(share::Reply<'_>, message),
        8 => stable!(free_all::Arguments<'_>, message),
        9 => stable!(sm_notify::Arguments<'_>, message),
        10 => stable!(stat::Arguments<'_>, message),
        11 => stable!(stat::Reply, message),
        12 => stable!(mon::Arguments<'_>, message),
        13 => stable!(unmon::Arguments<'_>, message),
        14 => stable!(unmon::Reply, message),
        15 => stable!(unmon_all::Arguments<'_>, message),
        _ => stable!(notify::Arguments<'_>, message),
    }
}
