//! What to do to a socket. Each is one option, or two that belong together.

use super::{Algorithm, Setting};

/// A change that `net` applies. Bytes, unless it says otherwise.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SizeChange {
    /// The send buffer (`sk_sndbuf`, so half of it is what `SO_SNDBUFFORCE` gets), locked from now on; 0: the kernel sizes it
    /// again. Never unlock one that was forced: it would collapse to `tcp_wmem`.
    SendBuffer(u64),
    /// At most so much unsent in the socket (`TCP_NOTSENT_LOWAT`); 0: the host's (`net.ipv4.tcp_notsent_lowat`),
    /// unless somebody set it no bound.
    UnsentMark(u64),
    /// Offer that window: first the buffer behind it (`SO_RCVBUFFORCE`), then the clamp (`TCP_WINDOW_CLAMP`), which older
    /// kernels do not move with the buffer.
    Promise(u64),
    /// Offer no more than that window (`TCP_WINDOW_CLAMP` alone). The buffer stays: what was promised may still come.
    Clamp(u64),
    /// The promise has been used up, so the buffer behind it may shrink to what that window needs.
    ReceiveBuffer(u64),
    /// Send at most so many bytes per second (`SO_MAX_PACING_RATE`); `None`: as fast as the congestion control sees fit.
    Pace(Option<u64>),
    /// Send by that congestion control; automatic: by whatever suits the peer (`TCP_CONGESTION`).
    Congestion(Setting<Algorithm>),
    /// Before what was not acknowledged is sent again, wait as long as the host has it: a bound of ours is taken back, if there is one
    /// (`TCP_RTO_MAX_MS`, Linux 6.15).
    RetransmissionUnbound,
}
