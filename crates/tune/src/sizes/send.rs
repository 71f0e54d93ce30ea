//! The sending half: a ceiling that no path reaches, and a low mark for what is not sent yet. With the mark, the socket
//! holds what is in flight and little more, so that a high ceiling costs nothing until a path needs it.

use super::{Setting, SizeChange};
use crate::budget::{Budget, Pressure};
use crate::host::{Host, SizingMode};

/// No ceiling is lower, however many share: four times the least mark, so that what is in flight has room beside it.
pub const SEND_MIN: u64 = 512 << 10;
/// Nor under pressure, or to peers on this host where there are many: what keeps a socket fed that sends in pieces of 64 KiB.
pub const SEND_LEAST: u64 = 128 << 10;
/// No ceiling is higher: 10 Gb/s x 170 ms.
pub const SEND_MAX: u64 = 512 << 20;
/// The unsent mark is never lower: the sender would be woken for every segment.
pub const UNSENT_MIN: u64 = 128 << 10;
/// Nor higher: it is what goes in 4 ms at 16 Gb/s.
pub const UNSENT_MAX: u64 = 8 << 20;
/// The mark is what the connection sends in that time: a thread is woken and refills the socket within it, on a busy machine
/// too. A socket that runs empty once in a round trip lets bbr think that there was nothing to send for all of it.
const REFILL_SECONDS: f64 = 0.004;
/// A size that differs by less than this factor is left as it is.
const WORTH_IT: u64 = 2;

/// The sizes of the sending half of one connection.
#[derive(Debug, Clone, Default)]
pub struct SendSizes {
    ceiling: u64,
    mark: u64,
    is_local: bool,
    setting: Setting,
}

/// What the sending half is sized by.
#[derive(Debug, Clone, Copy)]
pub struct Share {
    /// The memory of all connections.
    pub budget: Budget,
    /// Into how many parts it goes, of which this connection has one: the clients that move something, times the connections
    /// of this one that do.
    pub parts: u64,
    /// How many connections there are.
    pub connections: u64,
    /// What those hold in their send queues that move nothing.
    pub stalled: u64,
    /// How short memory is.
    pub pressure: Pressure,
}

/// However much is held by those that do not move, this part of the memory goes to those that do.
const NEVER_LESS: u64 = 4;

impl Share {
    fn available(&self) -> u64 {
        let all = self.budget.for_sending();
        all.saturating_sub(self.stalled).max(all / NEVER_LESS)
    }

    /// The part of a connection that moves something.
    fn of_busy(&self) -> u64 {
        self.available() / self.parts.max(1)
    }

    /// The part of any connection: what all may have at the same moment.
    fn of_any(&self) -> u64 {
        self.budget.for_sending() / self.connections.max(1)
    }
}

impl SendSizes {
    /// Of a connection to a peer on this host, or not. Unless its size is set, one to this host is left as the kernel makes
    /// it, as long as there is memory for as much of all: no path needs more, and a mark made READ over loopback slower
    /// (`docs/decisions/0008`). What it inherits it keeps until it has shown that it takes what it asks for.
    pub fn new(is_local: bool, setting: Setting) -> Self {
        Self { is_local, setting, ..Self::default() }
    }

    /// It has that mark from its listener.
    pub fn inherit(&mut self, mark: u64) {
        self.mark = mark;
    }

    /// How much the socket may hold unsent; 0: as much as its buffer.
    pub fn unsent_mark(&self) -> u64 {
        self.mark
    }

    /// The send buffer that was last asked for; 0: the kernel's own.
    pub fn ceiling(&self) -> u64 {
        self.ceiling
    }

    /// Somebody set another size, which holds from the next [`Self::size`] on.
    pub fn set(&mut self, setting: Setting) {
        self.setting = setting;
    }

    /// Sizes it anew; `rate`: bytes per second that it sends.
    pub fn size(&mut self, host: &Host, share: &Share, rate: f64, changes: &mut Vec<SizeChange>) {
        let ceiling = self.wanted_ceiling(host, share);
        let is_set = matches!(self.setting, Setting::Fixed(_));
        if differs(self.ceiling, ceiling) || (is_set && ceiling != self.ceiling) {
            self.ceiling = ceiling;
            changes.push(SizeChange::SendBuffer(ceiling));
        }
        let mark = self.wanted_mark(share, rate);
        if differs(self.mark, mark) || (share.pressure > Pressure::None && mark < self.mark) {
            self.mark = mark;
            changes.push(SizeChange::UnsentMark(mark));
        }
    }

    fn wanted_ceiling(&self, host: &Host, share: &Share) -> u64 {
        match (self.setting, host.mode()) {
            (Setting::Fixed(size), _) => size,
            _ if self.is_local && share.of_any() >= host.send_autotuned_most => self.kernels_own(host),
            _ if self.is_local => share.of_any().max(SEND_LEAST),
            // Without privilege a locked buffer is worth it only if it is larger than what grows by itself.
            (_, SizingMode::Unprivileged) if host.send_unforced_most > host.send_autotuned_most => {
                host.send_unforced_most
            }
            // What anybody may ask for is less than it would have grown to: it grows again.
            (_, SizingMode::Unprivileged) => 0,
            (_, SizingMode::Forced) => {
                let least = if share.pressure > Pressure::None { SEND_LEAST } else { SEND_MIN };
                share.of_busy().clamp(least, SEND_MAX)
            }
        }
    }

    /// 0: not touched, or let go. One that was forced is not unlocked again, so it gets what it would have grown to.
    fn kernels_own(&self, host: &Host) -> u64 {
        if self.ceiling == 0 || host.mode() == SizingMode::Unprivileged { 0 } else { host.send_most() }
    }

    fn wanted_mark(&self, share: &Share, rate: f64) -> u64 {
        let refill = (rate * REFILL_SECONDS) as u64;
        match (self.is_local, share.pressure > Pressure::None) {
            // It is fast enough for the least mark to be in its way.
            (true, _) if refill > UNSENT_MIN => 0,
            (true, false) => self.mark,
            (_, true) => UNSENT_MIN,
            (false, false) => refill.clamp(UNSENT_MIN, UNSENT_MAX),
        }
    }
}

/// Whether a size is so different that it is worth a call.
fn differs(now: u64, wanted: u64) -> bool {
    now != wanted && (wanted >= now.saturating_mul(WORTH_IT) || wanted <= now / WORTH_IT)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::HOST;

    #[test]
    fn sizes_that_cannot_be_doubled_are_compared_all_the_same() {
        assert!(differs(u64::MAX, 1) && !differs(u64::MAX, u64::MAX - 1));
    }

    #[test]
    fn twice_and_half_are_worth_a_call_and_so_is_the_kernel_s_own() {
        assert!(differs(10, 20) && differs(10, 5) && differs(0, 1) && differs(1, 0));
        assert!(!differs(10, 19) && !differs(10, 6) && !differs(0, 0));
    }

    fn share(parts: u64, pressure: Pressure) -> Share {
        Share { budget: Budget::fixed(512 << 20), parts, connections: parts, stalled: 0, pressure }
    }

    fn changes(sizes: &mut SendSizes, host: &Host, share: &Share, rate: f64) -> Vec<SizeChange> {
        let mut changes = Vec::new();
        sizes.size(host, share, rate, &mut changes);
        changes
    }

    #[test]
    fn a_lone_connection_may_have_all_and_many_share() {
        let mut sizes = SendSizes::new(false, Setting::Auto);
        let none = Pressure::None;
        assert_eq!(
            changes(&mut sizes, &HOST, &share(1, none), 0.0),
            [SizeChange::SendBuffer(256 << 20), SizeChange::UnsentMark(UNSENT_MIN)]
        );
        assert_eq!(changes(&mut sizes, &HOST, &share(1, none), 0.0), []);
        assert_eq!(
            changes(&mut sizes, &HOST, &share(8, none), 4e8),
            [SizeChange::SendBuffer(32 << 20), SizeChange::UnsentMark(1_600_000)]
        );
        // One more or less of eight is not worth a call.
        assert_eq!(changes(&mut sizes, &HOST, &share(9, none), 4e8), []);
        assert_eq!(
            changes(&mut sizes, &HOST, &share(9, Pressure::StopGrowing), 1e9),
            [SizeChange::UnsentMark(UNSENT_MIN)]
        );
    }

    #[test]
    fn without_privilege_the_kernel_s_buffer_is_kept_unless_ours_is_larger() {
        let host = Host { may_force: false, ..HOST };
        let mut sizes = SendSizes::new(false, Setting::Auto);
        let none = share(1, Pressure::None);
        assert_eq!(changes(&mut sizes, &host, &none, 0.0)[0], SizeChange::SendBuffer(8 << 20));
        let host = Host { send_unforced_most: 425_984, ..host };
        let as_large = Host { send_unforced_most: host.send_autotuned_most, ..host };
        for host in [host, as_large] {
            let mut sizes = SendSizes::new(false, Setting::Auto);
            assert_eq!(changes(&mut sizes, &host, &none, 0.0), [SizeChange::UnsentMark(UNSENT_MIN)]);
        }
    }

    #[test]
    fn of_however_many_each_keeps_what_feeds_a_socket_and_less_when_memory_is_short() {
        for (pressure, least) in [(Pressure::None, 512 << 10), (Pressure::StopGrowing, 128 << 10)] {
            let mut sizes = SendSizes::new(false, Setting::Auto);
            changes(&mut sizes, &HOST, &share(1 << 20, pressure), 0.0);
            assert_eq!((sizes.ceiling(), sizes.unsent_mark()), (least, 128 << 10));
        }
    }

    #[test]
    fn a_mark_that_is_a_little_too_high_is_lowered_only_when_memory_is_short() {
        let mut sizes = SendSizes::new(false, Setting::Auto);
        changes(&mut sizes, &HOST, &share(1, Pressure::None), 5e7);
        assert_eq!(sizes.unsent_mark(), 200_000);
        assert_eq!(changes(&mut sizes, &HOST, &share(1, Pressure::None), 4e7), []);
        let pressed = share(1, Pressure::StopGrowing);
        assert_eq!(changes(&mut sizes, &HOST, &pressed, 4e7), [SizeChange::UnsentMark(UNSENT_MIN)]);
        assert_eq!(changes(&mut sizes, &HOST, &pressed, 4e7), []);
    }

    #[test]
    fn a_peer_on_this_host_gets_what_the_kernel_gives() {
        let mut sizes = SendSizes::new(true, Setting::Auto);
        for pressure in [Pressure::None, Pressure::TakeBack] {
            assert_eq!(changes(&mut sizes, &HOST, &share(1, pressure), 1e9), []);
        }
        let mut sizes = SendSizes::new(true, Setting::Fixed(4 << 20));
        assert_eq!(
            changes(&mut sizes, &HOST, &share(1, Pressure::None), 1e9),
            [SizeChange::SendBuffer(4 << 20)]
        );
    }

    #[test]
    fn a_peer_on_this_host_keeps_the_mark_of_its_listener_until_it_takes_what_it_asks_for() {
        let (none, pressed) = (share(1, Pressure::None), share(1, Pressure::StopGrowing));
        let mut sizes = SendSizes::new(true, Setting::Auto);
        sizes.inherit(UNSENT_MIN);
        assert_eq!(changes(&mut sizes, &HOST, &none, 0.0), []);
        for rate in [1e6, 32_768_000.0] {
            assert_eq!(changes(&mut sizes, &HOST, &none, rate), [], "the mark is not in its way");
        }
        assert_eq!(changes(&mut sizes, &HOST, &none, 1e9), [SizeChange::UnsentMark(0)]);
        assert_eq!(changes(&mut sizes, &HOST, &none, 0.0), [], "it has shown it");
        assert_eq!(changes(&mut sizes, &HOST, &pressed, 1e9), []);
        assert_eq!(changes(&mut sizes, &HOST, &pressed, 0.0), [SizeChange::UnsentMark(UNSENT_MIN)]);
    }

    #[test]
    fn what_others_hold_and_do_not_move_is_not_there_to_share() {
        let stalled = Share { stalled: 192 << 20, ..share(2, Pressure::None) };
        let mut sizes = SendSizes::new(false, Setting::Auto);
        assert_eq!(changes(&mut sizes, &HOST, &stalled, 0.0)[0], SizeChange::SendBuffer(32 << 20));
        let all = Share { stalled: 1 << 40, ..stalled };
        assert_eq!(sizes.wanted_ceiling(&HOST, &all), 32 << 20);
        // Where each peer on this host cannot have what the kernel gives, each has its part.
        let many = Share { connections: 256, ..share(1, Pressure::None) };
        let mut sizes = SendSizes::new(true, Setting::Auto);
        assert_eq!(changes(&mut sizes, &HOST, &many, 0.0), [SizeChange::SendBuffer(1 << 20)]);
        assert_eq!(
            changes(&mut sizes, &HOST, &share(1, Pressure::None), 0.0),
            [SizeChange::SendBuffer(8 << 20)]
        );
        let crowd = Share { connections: 1 << 20, ..many };
        assert_eq!(changes(&mut sizes, &HOST, &crowd, 0.0), [SizeChange::SendBuffer(128 << 10)]);
    }

    #[test]
    fn a_size_is_set_and_given_up_while_it_lives() {
        let none = share(1, Pressure::None);
        for (is_local, automatic) in [(true, 8 << 20), (false, 256 << 20)] {
            let mut sizes = SendSizes::new(is_local, Setting::Auto);
            changes(&mut sizes, &HOST, &none, 0.0);
            for size in [3_158_016, 4 << 20] {
                sizes.set(Setting::Fixed(size));
                assert_eq!(changes(&mut sizes, &HOST, &none, 0.0), [SizeChange::SendBuffer(size)]);
            }
            sizes.set(Setting::Auto);
            assert_eq!(changes(&mut sizes, &HOST, &none, 0.0), [SizeChange::SendBuffer(automatic)]);
            assert_eq!(changes(&mut sizes, &HOST, &none, 0.0), []);
        }
    }

    #[test]
    fn without_privilege_a_size_that_is_given_up_is_the_kernel_s_again() {
        let host = Host { may_force: false, send_unforced_most: 425_984, ..HOST };
        let none = share(1, Pressure::None);
        for is_local in [false, true] {
            let mut sizes = SendSizes::new(is_local, Setting::Fixed(3_158_016));
            changes(&mut sizes, &host, &none, 0.0);
            sizes.set(Setting::Auto);
            assert_eq!(changes(&mut sizes, &host, &none, 0.0), [SizeChange::SendBuffer(0)]);
            assert_eq!(changes(&mut sizes, &host, &none, 0.0), []);
        }
    }

    #[test]
    fn what_was_set_by_hand_stays() {
        let mut sizes = SendSizes::new(false, Setting::Fixed(3_158_016));
        for busy in [1, 100] {
            changes(&mut sizes, &HOST, &share(busy, Pressure::TakeBack), 1e9);
            assert_eq!(sizes.ceiling(), 3_158_016);
        }
    }
}
