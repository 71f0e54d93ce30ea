//! The receiving half: the window that we promise. The kernel's autotuning is left alone until it is the limit; from then on
//! the window is ours, promised early and taken back in the order that loses nothing: first offer less, then wait until the
//! peer has used up what it was offered, and only then give the memory back.

use std::time::Duration;

use super::{Setting, SizeChange};
use crate::budget::Pressure;
use crate::floor::receive_buffer_for;
use crate::host::{Host, SizingMode};
use crate::{Receiving, Sample};

/// No window is smaller: a call of 64 KiB and its successors.
pub const WINDOW_MIN: u64 = 256 << 10;
/// The kernel's autotuning is over when the buffer is the largest that it gives. Most kernels give at least that part of it as a
/// window: 0.66 of it was seen (`docs/lab/old-experiments.md`); some (Linux 6.2 to 6.5) and some drivers less.
const AUTOTUNED_WINDOW: f64 = 0.6;
/// Half of the window used in a round trip: time for twice as much.
const GROW_AT: f64 = 0.5;
/// The window behind a buffer that was set: see [`receive_buffer_for`].
const BUFFER_PER_SET_WINDOW: u64 = 2;
/// More of the window than this unread: the window is not what is missing.
const UNREAD: u64 = 4;
/// A kernel that does not report its window (before Linux 6.2) has lowered it after so many round trips,
const UNTOLD_ROUND_TRIPS: u32 = 4;
/// and this.
const UNTOLD: Duration = Duration::from_secs(1);

/// The window of one connection.
#[derive(Debug, Clone)]
pub struct Window {
    state: State,
    is_local: bool,
    /// The most that came in a round trip, in about the last minute.
    used: Highest,
    setting: Setting,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// The kernel's.
    Autotuned,
    /// Ours.
    Promised(u64),
    /// Ours, and being taken back: so much will remain, so much was promised before; and since when it is looked at.
    Lowering { target: u64, from: u64, since: Option<Duration> },
}

/// What may be promised to which connection.
#[derive(Debug, Clone, Copy)]
pub struct WindowRoom {
    /// Bytes that may still be promised to all connections.
    pub left: u64,
    /// How short memory is.
    pub pressure: Pressure,
}

impl Window {
    /// Of a new connection, to a peer on this host or not; to one on this host nothing is promised unless its size is set.
    pub fn new(is_local: bool, setting: Setting) -> Self {
        Self { state: State::Autotuned, is_local, used: Highest::default(), setting }
    }

    /// What counts against the budget: promised, or being taken back and not used up yet.
    pub fn promised(&self) -> u64 {
        match self.state {
            State::Autotuned => 0,
            State::Promised(window) | State::Lowering { from: window, .. } => window,
        }
    }

    /// What a new connection gets; only if its size was set by hand.
    pub fn open(&mut self, host: &Host, changes: &mut Vec<SizeChange>) {
        self.set(self.setting, None, host, changes);
    }

    /// It has inherited a buffer from its listener: the window behind it is promised ([`super::first_window`]). To peers on this
    /// host, and if there is no room for it, as when many connect at once, the buffer is what autotuning may grow to: what the
    /// peer sends beyond it is lost and sent again, but does not fill our memory.
    pub fn inherit(&mut self, buffer: u64, host: &Host, room: &WindowRoom, changes: &mut Vec<SizeChange>) {
        let is_forced = host.mode() == SizingMode::Forced && buffer > host.receive_autotuned_most;
        if self.state != State::Autotuned || !is_forced {
            return;
        }
        let window = buffer / BUFFER_PER_SET_WINDOW;
        if !self.is_local && window <= room.left {
            self.state = State::Promised(window);
            return;
        }
        let (most, least) =
            (host.receive_autotuned_most, host.receive_autotuned_most / BUFFER_PER_SET_WINDOW);
        self.state = State::Promised(least);
        changes.extend([SizeChange::Clamp(least), SizeChange::ReceiveBuffer(most)]);
    }

    /// Somebody set another size; `seen`: the receiving half as it was last looked at. Less than it offers may not be offered at
    /// once: what was promised may still come. Without privilege buffers stay as the kernel makes them.
    pub fn set(
        &mut self,
        setting: Setting,
        seen: Option<&Receiving>,
        host: &Host,
        changes: &mut Vec<SizeChange>,
    ) {
        self.setting = setting;
        let (Setting::Fixed(buffer), SizingMode::Forced) = (setting, host.mode()) else { return };
        let target = buffer / BUFFER_PER_SET_WINDOW;
        let from = self.promised().max(seen.map_or(0, offered));
        // One that the kernel sizes may have doubled since it was looked at.
        if from <= target / 2 {
            self.state = State::Promised(target);
            changes.push(SizeChange::Promise(target));
        } else if self.state == State::Promised(target) {
            // It has that size.
        } else if seen.is_none() {
            // It was never looked at, so nothing came yet, and what would use the old promise up may never come. What is sent beyond
            // the new one is lost and sent again.
            self.state = State::Promised(target);
            changes
                .extend([SizeChange::Clamp(target), SizeChange::ReceiveBuffer(receive_buffer_for(target))]);
        } else {
            self.state = State::Lowering { target, from: from.max(target), since: None };
            changes.push(SizeChange::Clamp(target));
        }
    }

    /// The next sample; `per_round_trip`: bytes that came in a round trip since the last one.
    pub fn on_sample(
        &mut self,
        sample: &Sample,
        per_round_trip: f64,
        host: &Host,
        room: &WindowRoom,
        changes: &mut Vec<SizeChange>,
    ) {
        self.used.learn(sample.at, per_round_trip);
        if let State::Lowering { target, from, since } = self.state {
            let since = since.unwrap_or(sample.at);
            self.state = State::Lowering { target, from, since: Some(since) };
            if is_lowered(sample, target, since) {
                self.state = State::Promised(target);
                changes.push(SizeChange::ReceiveBuffer(receive_buffer_for(target)));
            }
        } else if self.may_grow(host) {
            self.grow(sample, per_round_trip, host, room, changes);
        }
    }

    /// One to this host is left to the kernel; unless it was set by hand, since the kernel does not take it back.
    fn may_grow(&self, host: &Host) -> bool {
        let is_ours = !self.is_local || self.state != State::Autotuned;
        self.setting == Setting::Auto && is_ours && host.mode() == SizingMode::Forced
    }

    fn grow(
        &mut self,
        sample: &Sample,
        used: f64,
        host: &Host,
        room: &WindowRoom,
        changes: &mut Vec<SizeChange>,
    ) {
        let receiving = &sample.receiving;
        let offered = offered(receiving);
        let window = if let State::Promised(window) = self.state { window } else { offered };
        let autotuning_goes_on = self.state == State::Autotuned
            && receiving.buffer < host.receive_autotuned_most
            && (offered as f64) < AUTOTUNED_WINDOW * host.receive_autotuned_most as f64;
        let unused = used < GROW_AT * window as f64 || receiving.unread >= window / UNREAD;
        if autotuning_goes_on || unused || room.pressure > Pressure::None {
            return;
        }
        // The buffer follows what is promised: with less than it stands for, it would shrink under live data.
        let behind =
            if self.state == State::Autotuned { receiving.buffer / BUFFER_PER_SET_WINDOW } else { 0 };
        let had = window.max(behind);
        // What is promised already is ours to promise again.
        let most = receiving.window_limit.min(room.left.saturating_add(self.promised()));
        let wanted = had.saturating_mul(2).min(most);
        if wanted > had {
            self.state = State::Promised(wanted);
            changes.push(SizeChange::Promise(wanted));
        }
    }

    /// The most that came in a round trip, of late.
    pub fn used(&self, now: Duration) -> u64 {
        self.used.get(now) as u64
    }

    /// How much of its promise is not used: the more, the sooner it is taken back. All of it, if nothing comes.
    pub fn slack(&self, now: Duration) -> f64 {
        self.promised() as f64 / self.used.get(now).max(1.0)
    }

    /// Offers half as much from now on, down to [`WINDOW_MIN`]. A window that is being taken back already is left to that.
    /// `seen`: the receiving half as it was last looked at, if what the kernel sizes may be taken back.
    pub fn take_back(&mut self, seen: Option<&Receiving>, changes: &mut Vec<SizeChange>) {
        let window = match (self.state, self.setting) {
            (State::Promised(window), Setting::Auto) => window,
            (State::Autotuned, Setting::Auto) => seen.map_or(0, offered),
            _ => return,
        };
        let target = (window / 2).max(WINDOW_MIN);
        if target < window {
            self.state = State::Lowering { target, from: window, since: None };
            changes.push(SizeChange::Clamp(target));
        }
    }
}

/// The window that is offered, or about as much as the kernel offers of a buffer.
fn offered(receiving: &Receiving) -> u64 {
    receiving.window.unwrap_or(receiving.buffer / BUFFER_PER_SET_WINDOW)
}

/// Whether no more than that is offered, of a window that has been lowered since then.
fn is_lowered(sample: &Sample, target: u64, since: Duration) -> bool {
    let receiving = &sample.receiving;
    // The kernel offers multiples of what the scale can express, rounded up (`__tcp_select_window`, net/ipv4/tcp_output.c).
    let unit = receiving.window_limit / u64::from(u16::MAX);
    match receiving.window {
        Some(window) => window <= target.saturating_add(unit),
        None => sample.at.saturating_sub(since) >= (sample.path.rtt * UNTOLD_ROUND_TRIPS).max(UNTOLD),
    }
}

/// For how long the most that was used is remembered.
const MEMORY: Duration = Duration::from_secs(60);

/// The highest of the values of the last minute, or a little longer.
#[derive(Debug, Clone, Copy, Default)]
struct Highest {
    value: f64,
    since: Duration,
    next: f64,
}

impl Highest {
    fn learn(&mut self, now: Duration, value: f64) {
        if now.saturating_sub(self.since) >= MEMORY {
            (self.value, self.next, self.since) = (self.next, 0.0, now);
        }
        self.value = self.value.max(value);
        self.next = self.next.max(value);
    }

    fn get(&self, now: Duration) -> f64 {
        if now.saturating_sub(self.since) >= 2 * MEMORY { 0.0 } else { self.value }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::HOST;

    const ROOM: WindowRoom = WindowRoom { left: 256 << 20, pressure: Pressure::None };
    const MIB: u64 = 1 << 20;

    fn sample(second: u64, window: u64) -> Sample {
        let receiving =
            Receiving { window: Some(window), window_limit: 65_535 << 10, ..Receiving::default() };
        Sample { at: Duration::from_secs(second), receiving, ..Sample::default() }
    }

    fn step(window: &mut Window, sample: &Sample, used: u64, room: &WindowRoom) -> Vec<SizeChange> {
        let mut changes = Vec::new();
        window.on_sample(sample, used as f64, &HOST, room, &mut changes);
        changes
    }

    #[test]
    fn autotuning_is_left_alone_until_it_is_the_limit() {
        let mut window = Window::new(false, Setting::Auto);
        assert_eq!(step(&mut window, &sample(1, 10 * MIB), 9 * MIB, &ROOM), []);
        assert_eq!(step(&mut window, &sample(2, 22 * MIB), 5 * MIB, &ROOM), []);
        assert_eq!(step(&mut window, &sample(3, 22 * MIB), 15 * MIB, &ROOM), [SizeChange::Promise(44 * MIB)]);
        // The scale bounds it.
        let most = 65_535 << 10;
        assert_eq!(step(&mut window, &sample(4, 44 * MIB), 40 * MIB, &ROOM), [SizeChange::Promise(most)]);
        assert_eq!(step(&mut window, &sample(5, most), most, &ROOM), []);
    }

    #[test]
    fn a_window_grows_once_half_of_it_is_used_and_autotuning_has_given_what_it_has() {
        let mut window = Window::new(false, Setting::Auto);
        assert_eq!(step(&mut window, &sample(1, 22 * MIB), 11 * MIB - 1, &ROOM), []);
        let unread = |bytes| {
            let mut sample = sample(2, 22 * MIB);
            sample.receiving.unread = bytes;
            sample
        };
        let quarter = 22 * MIB / 4;
        assert_eq!(step(&mut window, &unread(quarter), 11 * MIB, &ROOM), [], "we read too slowly");
        assert_eq!(step(&mut window, &unread(quarter - 1), 11 * MIB, &ROOM), [SizeChange::Promise(44 * MIB)]);
        // Six tenths of what it may have are 6 MiB.
        let host = Host { receive_autotuned_most: 10 * MIB, ..HOST };
        for (offered, wanted) in [(6 * MIB - 1, vec![]), (6 * MIB, vec![SizeChange::Promise(12 * MIB)])] {
            let (mut window, mut changes) = (Window::new(false, Setting::Auto), Vec::new());
            window.on_sample(&sample(1, offered), offered as f64, &host, &ROOM, &mut changes);
            assert_eq!(changes, wanted, "{offered}");
        }
    }

    #[test]
    fn a_window_grows_where_the_kernel_gives_a_small_part_of_its_buffer_or_does_not_tell() {
        let third = |buffer| {
            let mut sample = sample(1, buffer / 3);
            sample.receiving.buffer = buffer;
            sample
        };
        let most = HOST.receive_autotuned_most;
        let grown = |sample: &Sample| step(&mut Window::new(false, Setting::Auto), sample, 16 * MIB, &ROOM);
        assert_eq!(grown(&third(most - 1)), [], "autotuning goes on");
        assert_eq!(grown(&third(most)), [SizeChange::Promise(most)]);
        // Twice a sixth would have a smaller buffer than there is.
        let mut sixth = third(most);
        sixth.receiving.window = Some(most / 6);
        assert_eq!(grown(&sixth), [SizeChange::Promise(most)]);
        sixth.receiving.window_limit = most / 2;
        assert_eq!(grown(&sixth), [], "there is no more than that");
        assert_eq!(grown(&untold(1, most / 2)), []);
        assert_eq!(grown(&untold(1, most)), [SizeChange::Promise(most)]);
    }

    #[test]
    fn what_is_not_used_of_a_promise_is_told_by_the_most_that_came_in_a_minute() {
        let mut window = Window::new(false, Setting::Auto);
        step(&mut window, &sample(1, 22 * MIB), 11 * MIB, &ROOM);
        step(&mut window, &sample(59, 44 * MIB), MIB, &ROOM);
        let at = Duration::from_secs;
        assert_eq!((window.used(at(59)), window.slack(at(59))), (11 * MIB, 4.0));
        // The next minute begins with what the last one ended with.
        step(&mut window, &sample(60, 44 * MIB), MIB, &ROOM);
        assert_eq!(window.used(at(60)), 11 * MIB);
        step(&mut window, &sample(120, 44 * MIB), MIB, &ROOM);
        assert_eq!((window.used(at(120)), window.slack(at(120))), (MIB, 44.0));
        assert_eq!((window.used(at(239)), window.used(at(240))), (MIB, 0));
        assert_eq!(window.slack(at(240)), (44 * MIB) as f64);
    }

    #[test]
    fn a_size_that_was_set_is_promised_from_the_start() {
        for is_local in [false, true] {
            let (mut window, mut changes) = (Window::new(is_local, Setting::Fixed(8 * MIB)), Vec::new());
            window.open(&HOST, &mut changes);
            assert_eq!((&changes[..], window.promised()), (&[SizeChange::Promise(4 * MIB)][..], 4 * MIB));
        }
    }

    #[test]
    fn what_was_inherited_is_promised_if_there_is_room_for_it() {
        let inherit = |is_local, buffer, room: &WindowRoom| {
            let (mut window, mut changes) = (Window::new(is_local, Setting::Auto), Vec::new());
            window.inherit(buffer, &HOST, room, &mut changes);
            (window.promised(), changes)
        };
        let autotuned = (0, Vec::new());
        assert_eq!(inherit(false, 131_072, &ROOM), autotuned);
        assert_eq!(inherit(false, 32 * MIB, &ROOM), autotuned, "as much as autotuning gives");
        assert_eq!(inherit(false, 128 * MIB, &ROOM), (64 * MIB, Vec::new()));
        let cut = (16 * MIB, vec![SizeChange::Clamp(16 * MIB), SizeChange::ReceiveBuffer(32 * MIB)]);
        assert_eq!(inherit(true, 128 * MIB, &ROOM), cut);
        let room = WindowRoom { left: 60 * MIB, pressure: Pressure::None };
        assert_eq!(inherit(false, 128 * MIB, &room), cut);
        // It grows as others do.
        let mut window = Window::new(false, Setting::Auto);
        window.inherit(128 * MIB, &HOST, &ROOM, &mut Vec::new());
        let mut used = sample(1, 64 * MIB);
        used.receiving.window_limit = 65_535 << 11;
        assert_eq!(step(&mut window, &used, 40 * MIB, &ROOM), [SizeChange::Promise(65_535 << 11)]);
    }

    #[test]
    fn no_more_is_promised_than_there_is_room_for() {
        let mut window = Window::new(false, Setting::Auto);
        let room = WindowRoom { left: 30 * MIB, pressure: Pressure::None };
        assert_eq!(step(&mut window, &sample(1, 22 * MIB), 20 * MIB, &room), [SizeChange::Promise(30 * MIB)]);
        let pressed = WindowRoom { left: 256 * MIB, pressure: Pressure::StopGrowing };
        assert_eq!(step(&mut window, &sample(2, 30 * MIB), 30 * MIB, &pressed), []);
    }

    #[test]
    fn a_size_is_taken_at_once_where_nothing_came_yet() {
        let (mut window, mut changes) = (Window::new(true, Setting::Auto), Vec::new());
        window.inherit(128 * MIB, &HOST, &ROOM, &mut Vec::new());
        window.set(Setting::Fixed(8 * MIB), None, &HOST, &mut changes);
        assert_eq!(changes, [SizeChange::Clamp(4 * MIB), SizeChange::ReceiveBuffer(8 * MIB)]);
        assert_eq!(window.promised(), 4 * MIB);
    }

    #[test]
    fn a_size_is_set_and_given_up_while_it_lives() {
        let mut window = Window::new(true, Setting::Auto);
        let mut changes = Vec::new();
        // What is offered already is not taken away: first the clamp, the buffer when it is used up.
        window.set(Setting::Fixed(8 * MIB), Some(&sample(0, 6 * MIB).receiving), &HOST, &mut changes);
        assert_eq!((&changes[..], window.promised()), (&[SizeChange::Clamp(4 * MIB)][..], 6 * MIB));
        assert_eq!(step(&mut window, &sample(1, 6 * MIB), 0, &ROOM), []);
        assert_eq!(step(&mut window, &sample(2, 4 * MIB), 0, &ROOM), [SizeChange::ReceiveBuffer(8 * MIB)]);
        assert_eq!(step(&mut window, &sample(3, 4 * MIB), 4 * MIB, &ROOM), [], "it is set");
        changes.clear();
        window.set(Setting::Fixed(32 * MIB), Some(&sample(3, 4 * MIB).receiving), &HOST, &mut changes);
        assert_eq!(changes, [SizeChange::Promise(16 * MIB)]);
        window.set(Setting::Auto, Some(&sample(3, 16 * MIB).receiving), &HOST, &mut changes);
        assert_eq!(step(&mut window, &sample(4, 16 * MIB), 16 * MIB, &ROOM), [SizeChange::Promise(32 * MIB)]);
        let ordinary = Host { may_force: false, ..HOST };
        let mut window = Window::new(false, Setting::Fixed(8 * MIB));
        changes.clear();
        window.open(&ordinary, &mut changes);
        assert_eq!((changes.len(), window.promised()), (0, 0), "it cannot be had");
    }

    #[test]
    fn a_window_of_the_kernel_s_is_taken_back_too() {
        let (mut window, mut changes) = (Window::new(true, Setting::Auto), Vec::new());
        window.take_back(Some(&sample(0, 256 << 10).receiving), &mut changes);
        window.take_back(None, &mut changes);
        assert_eq!(changes, [], "there is no less");
        window.take_back(Some(&sample(0, 8 * MIB).receiving), &mut changes);
        assert_eq!((&changes[..], window.promised()), (&[SizeChange::Clamp(4 * MIB)][..], 8 * MIB));
        let (mut window, mut changes) = (Window::new(false, Setting::Auto), Vec::new());
        window.take_back(Some(&untold(0, 16 * MIB).receiving), &mut changes);
        assert_eq!((&changes[..], window.promised()), (&[SizeChange::Clamp(4 * MIB)][..], 8 * MIB));
    }

    #[test]
    fn memory_is_given_back_only_when_the_promise_is_used_up() {
        let mut window = Window::new(false, Setting::Auto);
        step(&mut window, &sample(1, 22 * MIB), 20 * MIB, &ROOM);
        let mut changes = Vec::new();
        window.take_back(Some(&sample(2, 44 * MIB).receiving), &mut changes);
        assert_eq!(changes, [SizeChange::Clamp(22 * MIB)]);
        assert_eq!(window.promised(), 44 * MIB);
        assert_eq!(step(&mut window, &sample(3, 40 * MIB), 10 * MIB, &ROOM), []);
        let done = step(&mut window, &sample(4, 22 * MIB), 10 * MIB, &ROOM);
        assert_eq!((done, window.promised()), (vec![SizeChange::ReceiveBuffer(44 * MIB)], 22 * MIB));
    }
    #[test]
    fn a_window_is_lowered_when_it_is_as_near_as_the_scale_can_tell() {
        let mut window = Window::new(false, Setting::Auto);
        window.inherit(2 * (65_535 << 10), &HOST, &ROOM, &mut Vec::new());
        let mut changes = Vec::new();
        window.take_back(None, &mut changes);
        let half = (65_535 << 10) / 2;
        assert_eq!(changes, [SizeChange::Clamp(half)]);
        // The kernel rounds up to the next multiple of 1 << 10.
        let rounded = half.next_multiple_of(1 << 10);
        assert_eq!((rounded - half, step(&mut window, &sample(1, rounded + 1024), 0, &ROOM)), (512, vec![]));
        let done = step(&mut window, &sample(2, rounded), 0, &ROOM);
        assert_eq!((done, window.promised()), (vec![SizeChange::ReceiveBuffer(2 * half)], half));
    }

    /// Of a kernel that does not report its window.
    fn untold(second: u64, buffer: u64) -> Sample {
        let mut sample = sample(second, 0);
        (sample.receiving.window, sample.receiving.buffer) = (None, buffer);
        sample.path.rtt = Duration::from_millis(500);
        sample
    }

    #[test]
    fn a_window_that_the_kernel_does_not_tell_is_lowered_after_some_round_trips() {
        let (mut window, mut changes) = (Window::new(false, Setting::Auto), Vec::new());
        window.inherit(128 * MIB, &HOST, &ROOM, &mut Vec::new());
        window.take_back(None, &mut changes);
        assert_eq!(changes, [SizeChange::Clamp(32 * MIB)]);
        assert_eq!(step(&mut window, &untold(1, 128 * MIB), 0, &ROOM), []);
        assert_eq!(step(&mut window, &untold(2, 128 * MIB), 0, &ROOM), []);
        assert_eq!(step(&mut window, &untold(3, 128 * MIB), 0, &ROOM), [SizeChange::ReceiveBuffer(64 * MIB)]);
    }

    #[test]
    fn a_size_is_not_cut_under_live_data_where_the_kernel_does_not_tell_its_window() {
        let (mut window, mut changes) = (Window::new(false, Setting::Auto), Vec::new());
        window.set(Setting::Fixed(8 * MIB), Some(&untold(1, 12 * MIB).receiving), &HOST, &mut changes);
        assert_eq!((&changes[..], window.promised()), (&[SizeChange::Clamp(4 * MIB)][..], 6 * MIB));
    }
}
