//! How large a READ or WRITE may be. A datagram in many fragments is lost with any of them, and incomplete ones fill the
//! receiver's memory until no fragmented datagram passes at all; so they are used where they are proven to pass.

use std::time::{Duration, Instant};

use super::settings::Settings;

/// The sizes tried beyond one packet, in bytes.
const STEPS: [usize; 2] = [8 << 10, 32 << 10];
/// Bulk calls in a row without a loss before a larger size is tried.
const CLEAN_CALLS: u32 = 1000;
/// How long to stay with one packet after fragments got lost: as long as Linux keeps incomplete datagrams.
const HOLD: Duration = Duration::from_secs(30);
/// It doubles each time, up to this.
const LONGEST_HOLD: Duration = Duration::from_secs(960);

/// The transfer size and its reasons.
#[derive(Debug)]
pub(super) struct Transfer {
    /// Sizes, ascending; the first one travels in one packet.
    sizes: [usize; 3],
    count: usize,
    now_at: usize,
    clean: u32,
    hold: Duration,
    held_until: Option<Instant>,
    /// Where it was before it dropped, and how many of the losses since are not refuted.
    dropped: Option<(usize, u32)>,
    drops: u64,
}

impl Transfer {
    pub(super) fn new(settings: &Settings) -> Self {
        let one = settings.one_packet().min(settings.largest_transfer.max(1));
        let mut sizes = [one; 3];
        let mut count = 1;
        let first = settings.first_transfer.map(|size| size.min(settings.largest_transfer));
        for size in STEPS.into_iter().chain(first).filter(|size| *size <= settings.largest_transfer) {
            if size > sizes[count - 1] && count < sizes.len() {
                sizes[count] = size;
                count += 1;
            }
        }
        let mut transfer =
            Self { sizes, count, now_at: 0, clean: 0, hold: HOLD, held_until: None, dropped: None, drops: 0 };
        transfer.start_at(first);
        transfer
    }

    /// Begins with a size that somebody chose: the ladder ends there.
    fn start_at(&mut self, first: Option<usize>) {
        let Some(first) = first else { return };
        if first <= self.sizes[0] {
            (self.sizes[0], self.count) = (first, 1);
            return;
        }
        let at = self.sizes[..self.count].iter().position(|size| *size >= first).unwrap_or(self.count - 1);
        self.sizes[at] = first;
        (self.count, self.now_at) = (at + 1, at);
    }

    /// The size to use now.
    pub(super) fn size(&self) -> usize {
        self.sizes[self.now_at]
    }

    /// Does a transfer of that size travel in several fragments?
    pub(super) fn is_fragmented(&self, size: usize) -> bool {
        size > self.sizes[0]
    }

    /// A bulk call of the size in use, or larger, was answered. True: larger ones may be tried.
    pub(super) fn passed(&mut self, now: Instant, size: usize) -> bool {
        if size < self.sizes[self.now_at]
            || self.now_at + 1 >= self.count
            || self.held_until.is_some_and(|until| now < until)
        {
            return false;
        }
        self.clean += 1;
        if self.clean < CLEAN_CALLS {
            return false;
        }
        self.clean = 0;
        self.now_at += 1;
        self.dropped = None;
        true
    }

    /// A bulk call of that size was lost, while others were answered.
    pub(super) fn lost(&mut self, now: Instant, size: usize) {
        self.clean = 0;
        if !self.is_fragmented(size) {
            return;
        }
        if self.now_at == 0 {
            if let Some((_, losses)) = &mut self.dropped {
                *losses += 1;
            }
            return;
        }
        self.dropped = Some((self.now_at, 1));
        self.now_at = 0;
        self.drops += 1;
        self.held_until = Some(now + self.hold);
        self.hold = (self.hold * 2).min(LONGEST_HOLD);
    }

    /// One that counted as lost was answered after all.
    pub(super) fn refuted(&mut self, size: usize) {
        if !self.is_fragmented(size) {
            return;
        }
        let Some((before, losses)) = &mut self.dropped else { return };
        *losses -= 1;
        if *losses == 0 {
            self.now_at = *before;
            self.drops -= 1;
            self.hold = (self.hold / 2).max(HOLD);
            (self.held_until, self.dropped) = (None, None);
        }
    }

    /// Until when it stays at one packet.
    pub(super) fn held_until(&self) -> Option<Instant> {
        self.held_until
    }

    /// How often fragments got lost.
    pub(super) fn drops(&self) -> u64 {
        self.drops
    }
}

#[cfg(test)]
#[allow(clippy::disallowed_methods)] // Some instant is needed to start from.
mod tests {
    use super::*;

    fn pass(transfer: &mut Transfer, now: Instant, calls: u32) {
        for _ in 0..calls {
            let size = transfer.size();
            transfer.passed(now, size);
        }
    }

    #[test]
    fn it_grows_after_a_thousand_clean_calls_and_drops_at_once() {
        let now = Instant::now();
        let mut transfer = Transfer::new(&Settings::default());
        assert_eq!(transfer.size(), 1024);
        pass(&mut transfer, now, 999);
        assert_eq!(transfer.size(), 1024);
        pass(&mut transfer, now, 1);
        assert_eq!(transfer.size(), 8192);
        pass(&mut transfer, now, 1000);
        assert_eq!(transfer.size(), 32_768);
        transfer.lost(now, 32_768);
        assert_eq!(transfer.size(), 1024);
        pass(&mut transfer, now + HOLD / 2, 5000);
        assert_eq!(transfer.size(), 1024);
        pass(&mut transfer, now + HOLD, 1000);
        assert_eq!(transfer.size(), 8192);
    }

    #[test]
    fn a_drop_for_nothing_is_taken_back() {
        let now = Instant::now();
        let mut transfer = Transfer::new(&Settings { first_transfer: Some(8192), ..Settings::default() });
        assert_eq!(transfer.size(), 8192);
        transfer.lost(now, 8192);
        transfer.lost(now, 8192);
        transfer.refuted(8192);
        assert_eq!(transfer.size(), 1024);
        transfer.refuted(8192);
        assert_eq!((transfer.size(), transfer.drops()), (8192, 0));
    }

    #[test]
    fn sizes_follow_the_path_and_what_was_chosen() {
        let with = |path_mtu, first_transfer, largest_transfer| {
            let settings = Settings { path_mtu, first_transfer, largest_transfer, ..Settings::default() };
            let transfer = Transfer::new(&settings);
            (transfer.size(), transfer.sizes[transfer.count - 1])
        };
        assert_eq!(with(65_536, None, 32_768), (32_768, 32_768));
        assert_eq!(with(9000, None, 32_768), (8192, 32_768));
        assert_eq!(with(9000, None, 8192), (8192, 8192));
        assert_eq!(with(1500, Some(8192), 32_768), (8192, 8192));
        assert_eq!(with(1500, Some(16_384), 32_768), (16_384, 16_384));
        assert_eq!(with(1500, Some(32_768), 32_768), (32_768, 32_768));
        assert_eq!(with(1500, Some(512), 32_768), (512, 512));
        assert_eq!(with(1500, Some(65_536), 32_768), (32_768, 32_768));
    }
}
