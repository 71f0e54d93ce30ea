//! How many calls may be on their way.

/// Calls that one mount may have on their way (`RPC_MAXREQS`).
pub const SLOTS: u32 = 16;

/// A window in calls that no slow start opens, and that every timeout halves.
#[derive(Debug)]
pub struct Window {
    size: f64,
}

impl Window {
    /// It begins with one call.
    pub fn new() -> Self {
        Self { size: 1.0 }
    }

    /// May one more be sent beside so many?
    pub fn admits(&self, in_flight: u32) -> bool {
        f64::from(in_flight) < self.size
    }

    /// A call was answered while so many (with it) were on their way: a full window grows by one in a round trip.
    pub fn answered(&mut self, in_flight: u32) {
        if f64::from(in_flight) >= self.size {
            self.size = (self.size + 1.0 / self.size).min(f64::from(SLOTS));
        }
    }

    /// A call was not answered in time. Every one counts: sixteen that were lost, or late, together leave one.
    pub fn timed_out(&mut self) {
        self.size = (self.size / 2.0).max(1.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_takes_long_to_open_and_closes_at_once() {
        let mut window = Window::new();
        let mut answers = 0;
        while window.size < 16.0 {
            window.answered(16);
            answers += 1;
        }
        assert!((100..200).contains(&answers), "{answers} answers");
        (0..4).for_each(|_| window.timed_out());
        assert!(!window.admits(1));
    }
}
