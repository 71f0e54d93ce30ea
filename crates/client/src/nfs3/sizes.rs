//! How much goes into one call: what the server announces (FSINFO), what was asked for, and what can be.

use howdah_wire::nfs3::{DATA_MAX, fsinfo};

use crate::Sizes;
use crate::channel::Transport;
use crate::common::{LISTING_MAX, LISTING_MIN, Wanted};

/// The most bytes of data in a datagram: what servers take over UDP. More would not fit 64 KiB with its header anyway.
const DATAGRAM_MAX: u32 = 32 << 10;
/// What is used where a server announces nothing, in bytes: every server takes what NFS version 2 did.
const SIZE_UNTOLD: u32 = 8 << 10;
/// Before the server announced anything.
pub(super) const UNTOLD: Sizes = Sizes { read: SIZE_UNTOLD, write: SIZE_UNTOLD, listing: SIZE_UNTOLD };

/// What follows from what the server announced.
pub(super) fn of(information: &fsinfo::Success, wanted: &Wanted, transport: Transport) -> Sizes {
    let most = if transport.is_datagrams() { DATAGRAM_MAX } else { DATA_MAX };
    let listing = wanted.listing.unwrap_or(information.directory_preferred);
    Sizes {
        read: size(wanted.read, information.read_preferred, information.read_max, most),
        write: size(wanted.write, information.write_preferred, information.write_max, most),
        listing: listing.clamp(LISTING_MIN, LISTING_MAX.min(most)),
    }
}

/// The size wanted, else the one preferred, within what the server takes at most.
fn size(wanted: Option<u32>, preferred: u32, max: u32, most: u32) -> u32 {
    let announced = |size: u32| (size > 0).then_some(size);
    let max = announced(max).or(announced(preferred)).unwrap_or(SIZE_UNTOLD).min(most);
    wanted.or(announced(preferred)).unwrap_or(max).min(max)
}

#[cfg(test)]
mod tests {
    use howdah_wire::nfs3::Time;

    use super::*;

    fn information(preferred: u32, max: u32) -> fsinfo::Success {
        fsinfo::Success {
            attributes: None,
            read_max: max,
            read_preferred: preferred,
            read_multiple: 4096,
            write_max: max,
            write_preferred: preferred,
            write_multiple: 4096,
            directory_preferred: preferred,
            largest_file: u64::MAX,
            time_step: Time::default(),
            properties: 0,
        }
    }

    #[test]
    fn sizes_keep_to_what_the_server_announces() {
        for (preferred, max, wanted, transport, expected) in [
            (1 << 20, 1 << 20, None, Transport::Tcp, 1 << 20),
            (64 << 10, 1 << 20, None, Transport::Tcp, 64 << 10),
            (64 << 10, 1 << 20, Some(1 << 20), Transport::Tcp, 1 << 20),
            (64 << 10, 1 << 20, Some(4 << 20), Transport::Tcp, 1 << 20),
            (1 << 20, 1 << 20, None, Transport::Udp, 32 << 10),
            (8 << 10, 8 << 10, Some(32 << 10), Transport::Udp, 8 << 10),
            (0, 0, None, Transport::Tcp, 8 << 10),
            (0, 1 << 16, None, Transport::Tcp, 1 << 16),
            (1 << 16, 0, None, Transport::Tcp, 1 << 16),
            (u32::MAX, u32::MAX, None, Transport::Tcp, 4 << 20),
        ] {
            let wanted = Wanted { read: wanted, write: wanted, listing: None };
            let sizes = of(&information(preferred, max), &wanted, transport);
            assert_eq!((sizes.read, sizes.write), (expected, expected), "{preferred} {max} {wanted:?}");
            assert!((LISTING_MIN..=LISTING_MAX).contains(&sizes.listing));
        }
    }
}
