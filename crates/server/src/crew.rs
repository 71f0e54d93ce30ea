//! The workers as the watch has them: how many there are, who hangs where. While calls wait for storage others are started, so
//! that some are always free; those end when nobody has needed them for a while.

use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use howdah_net::Token;

use crate::counts::{NO_EXPORT, PLACES, Shard, Stay};
use crate::limits::{FAR_CALLS_MAX, STACK, WORKERS_FREE, WORKERS_KEPT, WORKERS_MAX};
use crate::shared::Shared;
use crate::worker::{Worker, WorkerSlot};

/// How often the log says that no worker can be started.
const TELLING: Duration = Duration::from_secs(60);
/// How long the end of a server waits for workers.
const END_PATIENCE: Duration = Duration::from_secs(1);

/// All workers.
pub struct Crew {
    shared: Arc<Shared>,
    members: Vec<Member>,
    /// So many there are at least, and so many calls of one export may wait for storage.
    least: usize,
    /// Workers started so far: each has a name of its own.
    started: usize,
    /// Since when there are more than are needed.
    idle_since: Instant,
    /// When the log last said that no more could be started.
    last_warning: Option<Instant>,
}

/// A worker.
struct Member {
    slot: Arc<WorkerSlot>,
    shard: Arc<Shard>,
    pulse: Pulse,
    stay: Stay,
    /// It has been in one call since the last look.
    hangs: bool,
    thread: JoinHandle<()>,
}

/// What the watch remembers of a worker.
#[derive(Default)]
struct Pulse {
    turns: u64,
    /// The present hang has been dealt with.
    relieved: bool,
}

/// What a worker is found doing.
#[derive(Debug, PartialEq, Eq)]
enum Found {
    /// Nothing, or nothing new.
    AtRest,
    /// It runs calls.
    Active,
    /// It has been in one call since last time.
    Hangs,
}

/// What a look at all workers found.
pub struct Sight {
    /// Whether any of them did anything since last time.
    pub active: bool,
    /// For what calls that hang run, as far as it was not reported yet.
    pub hanging: Vec<Token>,
    /// How many wait in a call since last time, by the place of its export; none is reported while they are few.
    pub held: [usize; PLACES],
    /// How many are in a call of it, however long.
    pub inside: [usize; PLACES],
}

impl Crew {
    /// Starts so many.
    pub fn start(shared: Arc<Shared>, least: usize) -> io::Result<Self> {
        let (members, started, last_warning) = Default::default();
        let mut crew = Self { shared, members, least, started, idle_since: Instant::now(), last_warning };
        for _ in 0..least {
            crew.add()?;
        }
        Ok(crew)
    }

    /// Looks at all of them. Calls of exports that are `far` are known to wait.
    pub fn look(&mut self, far: &[bool; PLACES]) -> Sight {
        self.members.retain(|member| !member.thread.is_finished());
        let mut sight = Sight { active: false, hanging: Vec::new(), held: [0; PLACES], inside: [0; PLACES] };
        for member in &mut self.members {
            match member.pulse.feel(member.slot.turns()) {
                Found::AtRest => {}
                Found::Active => sight.active = true,
                Found::Hangs => sight.hanging.push(member.slot.token()),
            }
            let stay = member.shard.stay();
            member.hangs = stay.export != NO_EXPORT && stay == member.stay;
            member.stay = stay;
            sight.inside[usize::from(stay.export)] += 1;
        }
        // Most of the time there is nothing to ask the kernel for.
        let held = self.members.iter().filter(|member| member.hangs).count();
        let is_much = held >= self.least
            || held + self.kept_free() > self.members.len()
            || self.shared.gates.any_shut();
        for member in self.members.iter().filter(|member| member.hangs) {
            // On a busy machine many calls take long that wait for nothing but a processor.
            let export = usize::from(member.stay.export);
            if is_much && (far[export] || member.slot.is_asleep()) {
                sight.held[export] += 1;
            }
        }
        sight
    }

    /// How many calls of one export may wait for storage, or for another host, while so many of all do. When workers run out,
    /// it is one.
    pub fn share(&self, held: usize, is_far: bool) -> usize {
        match held + self.kept_free() >= self.most() {
            true => 1,
            false if is_far => self.least.max(FAR_CALLS_MAX),
            false => self.least,
        }
    }

    /// Starts workers while too few are free of calls that wait, and ends some when there have long been too many. Where calls wait
    /// for another host, as many more are about to. Says whether it started any.
    pub fn fit(&mut self, held: usize, far: usize) -> bool {
        let wanted = (held + self.kept_free().max(far)).clamp(self.least, self.most());
        let before = self.members.len();
        if self.members.len() <= wanted {
            self.idle_since = Instant::now();
        }
        while self.members.len() < wanted {
            if let Err(error) = self.add() {
                if self.last_warning.is_none_or(|last| last.elapsed() >= TELLING) {
                    self.last_warning = Some(Instant::now());
                    tracing::warn!(%error, "starting a worker while calls wait for storage");
                }
                break;
            }
        }
        if self.idle_since.elapsed() >= WORKERS_KEPT {
            self.idle_since = Instant::now();
            self.shared.dismissed.store(self.members.len().saturating_sub(wanted), Ordering::Relaxed);
            self.shared.waker.wake();
        }
        self.members.len() > before
    }

    /// Waits until they have ended, as the server does.
    pub fn end(self) {
        let deadline = Instant::now() + END_PATIENCE;
        for member in self.members {
            while !member.thread.is_finished() && Instant::now() < deadline {
                self.shared.waker.wake();
                std::thread::sleep(Duration::from_millis(1));
            }
            // One that waits for storage cannot be woken: it ends with its call, or with the process.
            if member.thread.is_finished() {
                let _ = member.thread.join();
            }
        }
    }

    /// Whether none is in a call, and there are no more than without any.
    pub fn is_settled(&self) -> bool {
        let is_free = |member: &Member| member.pulse.turns & 1 == 0 && member.stay.export == NO_EXPORT;
        self.members.len() <= self.least && self.members.iter().all(is_free)
    }

    /// Free workers that there should be.
    fn kept_free(&self) -> usize {
        self.least.min(WORKERS_FREE)
    }

    fn most(&self) -> usize {
        WORKERS_MAX.max(2 * self.least)
    }

    fn add(&mut self) -> io::Result<()> {
        let worker = Worker::new(Arc::clone(&self.shared));
        let (slot, shard) = (worker.slot(), worker.shard());
        let named = std::thread::Builder::new().name(format!("worker-{}", self.started));
        let thread = named.stack_size(STACK).spawn(move || worker.run())?;
        self.started += 1;
        let (pulse, stay, hangs) = Default::default();
        self.members.push(Member { slot, shard, pulse, stay, hangs, thread });
        Ok(())
    }
}

impl Pulse {
    /// What a worker with this count of turns is doing. A hang is reported once.
    fn feel(&mut self, turns: u64) -> Found {
        let before = std::mem::replace(&mut self.turns, turns);
        if turns != before {
            self.relieved = false;
            return Found::Active;
        }
        let hangs = turns % 2 == 1 && !self.relieved;
        self.relieved |= hangs;
        if hangs { Found::Hangs } else { Found::AtRest }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hang_is_told_of_once() {
        let mut pulse = Pulse::default();
        let found: Vec<Found> =
            [0, 1, 1, 1, 1, 2, 2, 5, 5].map(|turns| pulse.feel(turns)).into_iter().collect();
        use Found::{Active, AtRest, Hangs};
        assert_eq!(
            found,
            [AtRest, Active, Hangs, AtRest, AtRest, Active, AtRest, Active, Hangs],
            "a queue that grows with the length of a hang would have no bound"
        );
    }
}
