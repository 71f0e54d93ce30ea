//! When what happens: looks at an interval, and restarts in the first half.

use std::time::Duration;

/// The whole of it, and the short form.
const FULL: Duration = Duration::from_secs(2 * 3600);
const QUICK: Duration = Duration::from_secs(30);
/// Between two looks; a short run has so many looks at least.
const LOOK: Duration = Duration::from_secs(10);
const LOOKS: u32 = 30;
/// Lives of the server in the first half; then it lives on to the end.
const LIVES: u32 = 12;

/// How a life of the server ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// By SIGKILL.
    Killed,
    /// By SIGTERM, which lets calls in progress end.
    Asked,
}

/// When what happens.
pub struct Schedule {
    /// How long all of it takes.
    pub total: Duration,
    /// Between two looks.
    pub look: Duration,
    /// Lives that end.
    lives: u32,
}

impl Schedule {
    /// Of so many minutes, or of the full or the short form.
    pub fn of(minutes: Option<f64>, quick: bool) -> Self {
        let usual = if quick { QUICK } else { FULL };
        let total = minutes.map_or(usual, |minutes| Duration::from_secs_f64(minutes * 60.0));
        // In half a minute a server cannot be started a dozen times.
        let lives = if total < FULL / 12 { LIVES / 4 } else { LIVES };
        Self { total, look: LOOK.min(total / LOOKS), lives }
    }

    /// When and how that life ends, the first being life 1; the last one has no end.
    pub fn restart(&self, life: u32) -> Option<(Duration, End)> {
        let end = if life % 2 == 1 { End::Killed } else { End::Asked };
        (life <= self.lives).then(|| (self.total / 2 * life / self.lives, end))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_half_has_no_restarts() {
        for schedule in [Schedule::of(None, false), Schedule::of(None, true), Schedule::of(Some(5.0), false)]
        {
            let restarts: Vec<_> = (1..).map_while(|life| schedule.restart(life)).collect();
            assert!(restarts.len() >= 3 && restarts.is_sorted_by_key(|(at, _)| *at), "{restarts:?}");
            assert_eq!(restarts.last().map(|(at, _)| *at), Some(schedule.total / 2));
            assert!(schedule.look * 30 <= schedule.total);
        }
        assert_eq!(Schedule::of(None, false).restart(1), Some((Duration::from_secs(300), End::Killed)));
    }
}
