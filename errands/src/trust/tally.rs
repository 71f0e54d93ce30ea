//! What was seen of faults under files of blocks: how many of each kind, how soon somebody went on, what was compared.

use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Result;
use howdah_random::Random;

use super::blocks::Blocks;
use super::campaign::{Progress, Verdict};
use super::crew::Crew;
use super::impatient::Impatient;
use super::server::Server;

/// Clients go on so soon after the end of a fault.
pub const BACK: Duration = Duration::from_secs(5);
/// Nobody goes on after this long: something hangs.
pub const STUCK: Duration = Duration::from_secs(60);

/// What was seen, of faults of so many kinds.
pub struct Tally {
    kinds: Vec<FaultsSeen>,
    /// Those of this round that are still to come.
    to_come: Vec<usize>,
    bytes: u64,
    /// Programs that were interrupted.
    pub impatient: Impatient,
}

struct FaultsSeen {
    name: &'static str,
    count: u64,
    longest: Duration,
}

impl Tally {
    /// Nothing yet.
    pub fn of(names: &[&'static str]) -> Self {
        let kinds =
            names.iter().map(|&name| FaultsSeen { name, count: 0, longest: Duration::ZERO }).collect();
        Self { kinds, to_come: Vec::new(), bytes: 0, impatient: Impatient::default() }
    }

    /// Chooses the kind of the next fault, each as often as each other.
    pub fn next(&mut self, random: &mut Random) -> usize {
        if self.to_come.is_empty() {
            self.to_come = (0..self.kinds.len()).collect();
        }
        self.to_come.swap_remove(random.index(self.to_come.len()))
    }

    /// Compares all files on this server's disk.
    pub fn verify(&mut self, crew: &Crew, server: &Server, files: &[Arc<Blocks>], fault: u64) -> Result<()> {
        server.while_stopped(|| {
            for file in files {
                match file.verify() {
                    Ok(bytes) => self.bytes += bytes,
                    Err(wrong) => crew.report(format!("at fault {fault}: {wrong}")),
                }
            }
        })
    }

    /// Waits until somebody has made something durable after a fault of that kind.
    pub fn wait_for_service(&mut self, crew: &Crew, kind: usize) {
        let began = Instant::now();
        let is_back = crew.wait_for(crew.steps() + 1, STUCK);
        let (took, kind) = (began.elapsed(), &mut self.kinds[kind]);
        kind.count += 1;
        kind.longest = kind.longest.max(took);
        if !is_back || took > BACK {
            let name = kind.name;
            crew.report(format!("{name}: nothing was made durable for {took:?} after its end"));
        }
    }

    /// What it came to.
    pub fn verdict(&self, crew: &Crew, progress: &Progress) -> Verdict {
        let total: u64 = self.kinds.iter().map(|kind| kind.count).sum();
        let kinds: Vec<_> = self.kinds.iter().map(FaultsSeen::figure).collect();
        let figures = format!(
            "{total} faults in {:.0} s ({}); {} times something was made durable; {} MB compared, 0 wrong; {}",
            progress.seconds(),
            kinds.join(", "),
            crew.steps(),
            self.bytes >> 20,
            self.impatient.figure(),
        );
        Verdict { figures, broken: crew.broken(), ..Verdict::default() }
    }
}

impl FaultsSeen {
    fn figure(&self) -> String {
        format!("{} {}: back after {:.2} s at most", self.count, self.name, self.longest.as_secs_f64())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_comes_as_often_as_each_other() {
        let (mut tally, mut random) = (Tally::of(&["a", "b", "c"]), Random::new(5));
        for _ in 0..4 {
            let mut round: Vec<_> = (0..3).map(|_| tally.next(&mut random)).collect();
            round.sort_unstable();
            assert_eq!(round, [0, 1, 2]);
        }
    }
}
