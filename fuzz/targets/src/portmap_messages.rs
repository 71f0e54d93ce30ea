//! Every argument and every result of portmap and rpcbind, and universal addresses.

use howdah_wire::portmap::{callit, dump as ports, getport, set as set_port};
use howdah_wire::rpcbind::{UniversalAddress, broadcast, dump, getaddr, getaddrlist, set};

/// The first byte chooses the message, the rest is its bytes.
pub fn run(input: &[u8]) {
    let Some((choice, message)) = input.split_first() else { return };
    match choice % 18 {
        0 => stable!(set_port::Arguments, message),
        1 => stable!(set_port::Reply, message),
        2 => stable!(getport::Reply, message),
        3 => stable!(ports::Reply, message),
        4 => stable!(callit::Arguments<'_>, message),
        5 => stable!(callit::Reply<'_>, message),
        6 => stable!(set::Arguments<'_>, message),
        7 => stable!(getaddr::Reply<'_>, message),
        8 => stable!(dump::Reply<'_>, message),
        9 => stable!(broadcast::Reply<'_>, message),
        15 => stable!(getaddrlist::Reply<'_>, message),
        _ => address(message),
    }
}

fn address(text: &[u8]) {
    if let Some(address) = UniversalAddress::parse(text) {
        let text = address.to_string();
        assert_eq!(UniversalAddress::parse(text.as_bytes()), Some(address), "{text}");
    }
}
