//! A word is what most looks of late said. What limits a connection lasts; a look that stands alone is a sender that measures
//! its path anew (bbr lets go for 200 ms every ten seconds), the seam between two files, a thread that was not run for a moment.

use std::time::Duration;

use super::Verdict;

/// Looks that are asked: those of so long,
const OF_LATE: Duration = Duration::from_secs(1);
/// but at least so many, which is what there is of a path of some hundred milliseconds.
const AT_LEAST: usize = 3;
/// No more: a connection is looked at ten times a second.
const AT_MOST: usize = 12;

/// What looks said, the latest first.
#[derive(Debug, Clone, Default)]
pub struct Steady([Option<(Duration, Verdict)>; AT_MOST]);

impl Steady {
    /// A look at that time said that; what is said of it, then. Who is idle now is idle. `counts`: whether it is asked
    /// later, too.
    pub fn say(&mut self, at: Duration, verdict: Verdict, counts: bool) -> Verdict {
        if counts {
            self.0.rotate_right(1);
            self.0[0] = Some((at, verdict));
        }
        if verdict == Verdict::Idle { verdict } else { self.most(at).unwrap_or(verdict) }
    }

    /// The word that was said most often; of several, the one said last.
    fn most(&self, now: Duration) -> Option<Verdict> {
        let look = |index: usize| {
            let (at, verdict) = self.0[index]?;
            (index < AT_LEAST || now.saturating_sub(at) <= OF_LATE).then_some(verdict)
        };
        let times =
            |verdict: Verdict| (0..AT_MOST).filter_map(look).filter(|other| *other == verdict).count();
        // Of equal ones `max_by_key` takes the last: the latest comes last.
        (0..AT_MOST).rev().filter_map(look).max_by_key(|verdict| times(*verdict))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Verdict::{ClientSlots, Idle, PathFull, SendBuffer};

    /// What is said, look by look, when each says what stands here, so many milliseconds apart.
    fn said(apart: u64, looks: &[Verdict]) -> Vec<Verdict> {
        let mut steady = Steady::default();
        let at = |number: usize| Duration::from_millis(apart * number as u64);
        looks.iter().enumerate().map(|(number, look)| steady.say(at(number), *look, true)).collect()
    }

    #[test]
    fn a_look_that_stands_alone_is_outvoted_and_a_change_is_said() {
        let looks = [PathFull, PathFull, ClientSlots, PathFull, SendBuffer, SendBuffer, SendBuffer];
        let expected = [PathFull, PathFull, PathFull, PathFull, SendBuffer, SendBuffer, SendBuffer];
        // Far apart three looks are asked: of three different words the latest is said.
        assert_eq!(said(800, &looks), expected);
        let changed = said(100, &[[PathFull; 10], [SendBuffer; 10]].concat());
        let since = changed.iter().position(|verdict| *verdict == SendBuffer).expect("it is said");
        assert!((14..=16).contains(&since), "half a second later: {since}");
    }

    #[test]
    fn who_is_idle_is_idle_at_once_and_one_moment_of_work_does_not_change_that() {
        assert_eq!(said(100, &[PathFull, PathFull, Idle]), [PathFull, PathFull, Idle]);
        assert_eq!(said(400, &[Idle, Idle, ClientSlots, Idle]), [Idle; 4]);
        let mut steady = Steady::default();
        assert_eq!(steady.say(Duration::ZERO, PathFull, true), PathFull);
        // What does not count is not asked later.
        for number in 1..5 {
            steady.say(Duration::from_millis(number), Idle, false);
        }
        assert_eq!(steady.say(Duration::from_millis(5), PathFull, true), PathFull);
    }
}
