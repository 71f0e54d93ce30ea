//! Many attackers of one kind, played by one thread: each acts once a second.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use super::attacker::Attacker;
use super::kind::{Kind, Target};
use xtask::clock::thread_now;

/// How often each acts.
const ROUND: Duration = Duration::from_secs(1);
/// Acts between looks at the clock.
const HANDFUL: usize = 20;

/// What a crowd did.
#[derive(Debug, Default)]
pub struct Tally {
    /// Acts.
    pub acts: AtomicU64,
    /// Attackers that the server sent away.
    pub sent_away: AtomicU64,
}

/// What attacking cost the attackers themselves.
#[derive(Debug, Clone, Copy)]
pub struct Spent {
    /// Processor time.
    pub processor: Duration,
    /// In what time.
    pub time: Duration,
}

/// So many attackers come, say so, and act until it is over.
pub fn attack(
    kind: Kind,
    count: usize,
    target: &Target,
    tally: &Tally,
    (ready, over): (&AtomicBool, &AtomicBool),
) -> anyhow::Result<Spent> {
    // After all that does something useful: the kernel gives this thread what others leave.
    let _ = rustix::process::nice(19);
    let mut crowd = (0..count).map(|_| kind.begin(target)).collect::<anyhow::Result<Vec<_>>>()?;
    ready.store(true, Ordering::SeqCst);
    let (began, before) = (Instant::now(), thread_now()?);
    let spent = || Ok(Spent { processor: thread_now()?.saturating_sub(before), time: began.elapsed() });
    while !over.load(Ordering::SeqCst) {
        let start = Instant::now();
        for (number, attacker) in crowd.iter_mut().enumerate() {
            act(kind, attacker, target, tally);
            if number % HANDFUL == 0 {
                if over.load(Ordering::SeqCst) {
                    return spent();
                }
                let due = ROUND.mul_f64(number as f64 / count as f64);
                std::thread::sleep(due.saturating_sub(start.elapsed()));
            }
        }
        std::thread::sleep(ROUND.saturating_sub(start.elapsed()));
    }
    spent()
}

/// A client that is sent away comes again.
fn act(kind: Kind, attacker: &mut Option<Attacker>, target: &Target, tally: &Tally) {
    tally.acts.fetch_add(1, Ordering::Relaxed);
    if !kind.act(attacker.as_mut(), target) {
        tally.sent_away.fetch_add(1, Ordering::Relaxed);
        *attacker = kind.begin(target).ok().flatten();
    }
}
