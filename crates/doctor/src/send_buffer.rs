//! The send buffer of a connection that measures a path: never smaller than what the kernel itself would let it grow to.

use std::os::fd::BorrowedFd;

use howdah_net::{apply, probe_buffers};
use howdah_tune::SizeChange;
use howdah_tune::host::Host;

/// What is asked for, twice what is in flight at 1 Gb/s and 100 ms; and what of it may wait unsent.
const SEND_BUFFER: u64 = 32 << 20;
const UNSENT: u64 = 256 << 10;

/// Makes room for what a path holds, where that is allowed: else the kernel's own limits hold, and are reported if they are
/// what limits.
pub fn make_room(socket: BorrowedFd<'_>) {
    if probe_buffers().is_ok_and(|host| is_larger(&host)) {
        let _ = apply(socket, SizeChange::SendBuffer(SEND_BUFFER));
    }
    let _ = apply(socket, SizeChange::UnsentMark(UNSENT));
}

/// Whether what is given is larger than what grows by itself, which one that was set does no more.
fn is_larger(host: &Host) -> bool {
    let given = if host.may_force { SEND_BUFFER } else { SEND_BUFFER.min(host.send_unforced_most) };
    given > host.send_autotuned_most
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_buffer_is_set_only_where_that_makes_it_larger() {
        // As Linux sets hosts up: 4 MiB by itself, and twice 212,992 bytes for who asks.
        let usual = Host {
            may_force: false,
            send_autotuned_most: 4 << 20,
            receive_autotuned_most: 32 << 20,
            send_unforced_most: 425_984,
            has_bbr: false,
        };
        assert!(!is_larger(&usual));
        assert!(is_larger(&Host { may_force: true, ..usual }));
        assert!(is_larger(&Host { send_unforced_most: 16 << 20, ..usual }));
        assert!(!is_larger(&Host { may_force: true, send_autotuned_most: 64 << 20, ..usual }));
    }
}
