//! Every argument and every result of MOUNT and rquota.

use howdah_wire::mount::{dump, export, mnt, umnt};
use howdah_wire::rquota::getquota;

/// The first byte chooses the message, the rest is its bytes.
pub fn run(input: &[u8]) {
    let Some((choice, message)) = input.split_first() else { return };
    match choice % 9 {
        0 => stable!(mnt::Arguments<'_>, message),
        1 => stable!(mnt::Reply<'_>, message),
        2 => stable!(mnt::Reply1, message),
        3 => stable!(umnt::Arguments<'_>, message),
        4 => stable!(dump::Reply<'_>, message),
        5 => stable!(export::Reply<'_>, message),
        6 => stable!(getquota::Arguments1<'_>, message),
        7 => stable!(getquota::Arguments2<'_>, message),
        _ => stable!(getquota::Reply, message),
    }
}
