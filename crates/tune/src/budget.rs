//! How much memory all connections together may have in the kernel, and how serious it is.

use std::time::Duration;

use crate::Setting;

/// What the host has for sockets. Bytes; `None`: no such limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HostMemory {
    /// Memory of the host.
    pub total: u64,
    /// The three marks of `net.ipv4.tcp_mem`: below the first nothing happens, above the second the kernel shrinks windows,
    /// above the third it drops.
    pub tcp: [u64; 3],
    /// The least limit of the control group and of those above it.
    pub group: Option<u64>,
}

/// The memory that connections may use, in halves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Budget {
    total: u64,
    is_set: bool,
}

/// Less than this would not serve one client well.
pub const BUDGET_MIN: u64 = 16 << 20;

impl Budget {
    /// An eighth of the memory, half of what the kernel lets TCP have before it hesitates, a quarter of what the control
    /// group may use: whichever is least.
    pub fn of(host: &HostMemory) -> Self {
        let group = host.group.map_or(u64::MAX, |limit| limit / 4);
        let total = (host.total / 8).min(host.tcp[0] / 2).min(group);
        Self { is_set: false, ..Self::fixed(total) }
    }

    /// As somebody set it, or what the host makes of it.
    pub fn set(setting: Setting, host: &HostMemory) -> Self {
        match setting {
            Setting::Auto => Self::of(host),
            Setting::Fixed(total) => Self::fixed(total),
        }
    }

    /// As somebody set it; at least [`BUDGET_MIN`].
    pub fn fixed(total: u64) -> Self {
        Self { total: total.max(BUDGET_MIN), is_set: true }
    }

    /// All of it.
    pub fn total(self) -> u64 {
        self.total
    }

    /// What somebody set.
    pub fn setting(self) -> Setting {
        if self.is_set { Setting::Fixed(self.total) } else { Setting::Auto }
    }

    /// What send queues may hold.
    pub fn for_sending(self) -> u64 {
        self.total / 2
    }

    /// What may be promised to peers.
    pub fn for_receiving(self) -> u64 {
        self.total - self.for_sending()
    }
}

/// What is used now. Bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct MemoryUse {
    /// By our send queues.
    pub sending: u64,
    /// Received by our connections and not read.
    pub unread: u64,
    /// By all TCP sockets of the host (`/proc/net/sockstat`).
    pub host_tcp: u64,
}

/// How serious it is; each level calls for what the one before does, too.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Pressure {
    /// Memory is there.
    #[default]
    None,
    /// No buffer grows.
    StopGrowing,
    /// Windows are taken back.
    TakeBack,
    /// No new connection should be accepted. The owner of the sockets decides.
    Refuse,
}

/// A level is left so long after the last moment in which it was called for.
const HYSTERESIS: Duration = Duration::from_secs(10);
/// Parts of the budget at which levels begin.
const STOP_GROWING: f64 = 0.75;
const TAKE_BACK: f64 = 1.0;
const REFUSE: f64 = 1.25;
/// The kernel's second mark is where it helps itself; we begin before.
const BEFORE_THE_KERNEL: f64 = 0.8;

/// Watches the memory: up at once, down one level at a time and after a while.
#[derive(Debug, Clone, Default)]
pub struct Valve {
    level: Pressure,
    since: Duration,
}

impl Valve {
    /// Takes a look at the memory; gives the level that holds from now on.
    pub fn on_memory(
        &mut self,
        now: Duration,
        budget: Budget,
        host: &HostMemory,
        used: &MemoryUse,
    ) -> Pressure {
        let wanted = called_for(budget, host, used);
        if wanted >= self.level {
            (self.level, self.since) = (wanted, now);
        } else if now.saturating_sub(self.since) >= HYSTERESIS {
            (self.level, self.since) = (self.level.below().max(wanted), now);
        }
        self.level
    }

    /// The level that holds.
    pub fn level(&self) -> Pressure {
        self.level
    }
}

impl Pressure {
    fn below(self) -> Self {
        match self {
            Self::None | Self::StopGrowing => Self::None,
            Self::TakeBack => Self::StopGrowing,
            Self::Refuse => Self::TakeBack,
        }
    }
}

fn called_for(budget: Budget, host: &HostMemory, used: &MemoryUse) -> Pressure {
    let ours = used.sending.saturating_add(used.unread) as f64 / budget.total() as f64;
    let tcp = used.host_tcp as f64;
    let near = |mark: u64, part: f64| mark > 0 && tcp > part * mark as f64;
    if ours >= REFUSE || near(host.tcp[2], BEFORE_THE_KERNEL) {
        Pressure::Refuse
    } else if ours >= TAKE_BACK || near(host.tcp[1], BEFORE_THE_KERNEL) {
        Pressure::TakeBack
    } else if ours >= STOP_GROWING || near(host.tcp[0], 1.0) {
        Pressure::StopGrowing
    } else {
        Pressure::None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOST: HostMemory = HostMemory { total: 16 << 30, tcp: [1 << 30, 3 << 29, 2 << 30], group: None };

    #[test]
    fn the_least_limit_is_the_budget() {
        let check = |host: HostMemory, wanted: u64| assert_eq!(Budget::of(&host).total(), wanted, "{host:?}");
        check(HOST, 512 << 20);
        check(HostMemory { total: 2 << 30, ..HOST }, 256 << 20);
        check(HostMemory { group: Some(1 << 30), ..HOST }, 256 << 20);
        check(HostMemory { group: Some(1 << 20), ..HOST }, BUDGET_MIN);
    }

    #[test]
    fn levels_rise_at_once_and_fall_slowly() {
        let mut valve = Valve::default();
        let budget = Budget::fixed(100 << 20);
        let mut look = |second: u64, sending: u64| {
            let used = MemoryUse { sending: sending << 20, ..MemoryUse::default() };
            valve.on_memory(Duration::from_secs(second), budget, &HOST, &used)
        };
        assert_eq!(look(0, 10), Pressure::None);
        assert_eq!(look(1, 130), Pressure::Refuse);
        assert_eq!(look(2, 10), Pressure::Refuse);
        assert_eq!(look(11, 10), Pressure::TakeBack);
        assert_eq!(look(12, 10), Pressure::TakeBack);
        assert_eq!(look(21, 80), Pressure::StopGrowing);
        assert_eq!(look(30, 80), Pressure::StopGrowing);
        assert_eq!(look(39, 10), Pressure::StopGrowing);
        assert_eq!(look(40, 10), Pressure::None);
    }

    #[test]
    fn what_was_set_is_told_as_set() {
        let set = Setting::Fixed(BUDGET_MIN + 1);
        assert_eq!(Budget::set(set, &HOST).setting(), set);
        assert_eq!(Budget::set(Setting::Auto, &HOST).setting(), Setting::Auto);
    }

    #[test]
    fn the_host_s_own_marks_count_from_shortly_before_the_kernel_acts() {
        let host = HostMemory { tcp: [100, 1000, 10_000], ..HOST };
        let called = |host: &HostMemory, host_tcp| {
            called_for(Budget::fixed(1 << 30), host, &MemoryUse { host_tcp, ..MemoryUse::default() })
        };
        let cases = [
            (100, Pressure::None),
            (101, Pressure::StopGrowing),
            (800, Pressure::StopGrowing),
            (801, Pressure::TakeBack),
            (8000, Pressure::TakeBack),
            (8001, Pressure::Refuse),
        ];
        for (used, wanted) in cases {
            assert_eq!(called(&host, used), wanted, "{used} bytes");
        }
        let told_nothing = HostMemory { tcp: [0; 3], ..HOST };
        assert_eq!(called(&told_nothing, 1 << 40), Pressure::None);
    }

    #[test]
    fn unread_calls_weigh_as_much_as_unsent_replies() {
        let budget = Budget::fixed(100 << 20);
        let called = |sending: u64, unread: u64| {
            called_for(
                budget,
                &HOST,
                &MemoryUse { sending: sending << 20, unread: unread << 20, host_tcp: 0 },
            )
        };
        let levels = [called(74, 0), called(40, 35), called(0, 100), called(60, 65)];
        let wanted = [Pressure::None, Pressure::StopGrowing, Pressure::TakeBack, Pressure::Refuse];
        assert_eq!(levels, wanted);
    }
}
