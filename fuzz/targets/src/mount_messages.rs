//! Every argument and every result of MOUNT.

use howdah_wire::mount::{dump, export, mnt, umnt};

/// The first byte chooses the message, the rest is its bytes.
pub fn run(input: &[u8]) {
    let Some((choice, message)) = input.split_first() else { return };
    match choice % 6 {
        0 => stable!(mnt::Arguments<'_>, message),
        1 => stable!(mnt::Reply<'_>, message),
        2 => stable!(mnt::Reply1, message),
        3 => stable!(umnt::Arguments<'_>, message),
        4 => stable!(dump::Reply<'_>, message),
        _ => stable!(export::Reply<'_>, message),
    }
}
