//! Whether a listing goes round in circles: cookies that come again, as of servers that hash names to the same cookie, or
//! mean ill. In constant memory (Brent's algorithm), within twice as many steps as the circle has.

/// Watches where a listing goes on.
#[derive(Debug, Default)]
pub struct Circle {
    mark: Option<u64>,
    /// Steps since the mark, and after how many it is moved.
    steps: u64,
    reach: u64,
}

impl Circle {
    /// It goes on from there. True: it was there before.
    pub fn closes_at(&mut self, cookie: u64) -> bool {
        if self.mark == Some(cookie) {
            return true;
        }
        if self.steps == self.reach {
            (self.mark, self.steps, self.reach) = (Some(cookie), 0, (self.reach * 2).max(1));
        }
        self.steps += 1;
        false
    }

    /// It passes there between two places where it goes on. True: it went on from there before, and not just now: neighbours may have one
    /// cookie.
    pub fn passes(&self, cookie: u64) -> bool {
        self.steps > 1 && self.mark == Some(cookie)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// After how many steps a listing is found to go in circles, that does after so many cookies.
    fn found(before: u64, length: u64) -> Option<u64> {
        let mut circle = Circle::default();
        let cookies = (0..before).chain((0..).map(|step| before + step % length));
        (0..).zip(cookies).take(10_000).find(|(_, cookie)| circle.closes_at(*cookie)).map(|(step, _)| step)
    }

    #[test]
    fn circles_are_found() {
        for (before, length) in [(0, 1), (1, 1), (0, 2), (3, 1), (100, 7), (5, 1000)] {
            let step = found(before, length);
            assert!(
                step.is_some_and(|step| step <= 4 * (before + length) + 4),
                "{before}, {length}: {step:?}"
            );
        }
    }

    #[test]
    fn what_is_long_is_no_circle() {
        assert_eq!(found(10_000, 1), None);
    }
}
