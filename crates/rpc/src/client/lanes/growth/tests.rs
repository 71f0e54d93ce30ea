//! A channel over a model of a path, in virtual time.

use proptest::prelude::*;

use super::*;

const LOOK: Duration = Duration::from_millis(400);
const TRIP: Duration = Duration::from_millis(100);

/// What a path does with lanes.
#[derive(Debug, Clone, Copy)]
struct Path {
    /// Bytes per second that it carries,
    capacity: f64,
    /// and that one lane can.
    lane: f64,
    /// What limits while lanes do.
    limit: LaneLimit,
    /// The server takes no more connections.
    most: usize,
}

/// A channel on it, and all numbers of lanes that it had.
struct Run {
    growth: Growth,
    path: Path,
    now: Duration,
    moved: f64,
    numbers: Vec<usize>,
}

impl Run {
    fn new(path: Path) -> Self {
        let growth = Growth::new(Lanes::Auto, false);
        Self { growth, path, now: Duration::ZERO, moved: 0.0, numbers: vec![1] }
    }

    fn look(&mut self, limit: LaneLimit, writes: bool, rate: f64) {
        self.now += LOOK;
        self.moved += rate * LOOK.as_secs_f64();
        let ready = self.growth.lanes().min(self.path.most);
        let (now, moved) = (self.now, self.moved as u64);
        self.growth.on_look(GrowthLook { now, limit, writes, moved, round_trip: TRIP, ready });
        if self.growth.lanes() != *self.numbers.last().expect("it began with one") {
            self.numbers.push(self.growth.lanes());
        }
    }

    /// All that goes through, for so long.
    fn busy(mut self, seconds: u64) -> Self {
        let end = self.now + Duration::from_secs(seconds);
        while self.now < end {
            let lanes = self.growth.lanes().min(self.path.most) as f64;
            let rate = (lanes * self.path.lane).min(self.path.capacity);
            let limit = if rate < self.path.capacity { self.path.limit } else { LaneLimit::Path };
            self.look(limit, false, rate);
        }
        self
    }

    fn silent(mut self, seconds: u64) -> Self {
        let end = self.now + Duration::from_secs(seconds);
        while self.now < end {
            self.look(LaneLimit::Idle, false, 0.0);
        }
        self
    }
}

fn of_one_lane() -> impl Strategy<Value = LaneLimit> {
    prop_oneof![
        Just(LaneLimit::OurSendBuffer),
        Just(LaneLimit::TheirSendBuffer),
        Just(LaneLimit::OurWindow),
        Just(LaneLimit::TheirWindow),
        Just(LaneLimit::Loss),
        Just(LaneLimit::PathOrTheirBuffer),
        Just(LaneLimit::Processor),
    ]
}

fn of_others() -> impl Strategy<Value = LaneLimit> {
    prop_oneof![
        Just(LaneLimit::Requests),
        Just(LaneLimit::Slots),
        Just(LaneLimit::Server),
        Just(LaneLimit::Path),
        Just(LaneLimit::Start),
    ]
}

proptest! {
    #[test]
    fn lanes_double_until_the_path_is_full(limit in of_one_lane(), fits in 0.5..40.0, lane in 1e5..1e9) {
        let path = Path { capacity: fits * lane, lane, limit, most: 16 };
        let run = Run::new(path).busy(60);
        let lanes = run.growth.lanes();
        let doubled = (0..).map(|power| 1_usize << power).find(|&lanes| lanes as f64 >= fits).expect("one does");
        // The last doubling may bring too little to be worth it.
        let least = if fits < (doubled / 2) as f64 * WORTH_IT { doubled / 2 } else { doubled };
        prop_assert!((least.min(16)..=doubled.min(16)).contains(&lanes), "{lanes}: {}", run.growth.why());
        prop_assert!(run.numbers.len() <= 6, "{:?}", run.numbers);
    }

    #[test]
    fn what_no_lane_helps_adds_none(limit in of_others(), rate in 1e3..1e9) {
        let mut run = Run::new(Path { capacity: rate, lane: rate, limit, most: 16 });
        for _ in 0..1000 {
            run.look(limit, false, rate);
        }
        prop_assert_eq!(run.numbers, [1]);
    }

    #[test]
    fn what_does_not_help_is_taken_back_and_seldom_tried_again(limit in of_one_lane(), rate in 1e5..1e9) {
        let mut run = Run::new(Path { capacity: rate, lane: rate, limit, most: 16 });
        while run.now < Duration::from_secs(7200) {
            run.look(limit, false, rate);
        }
        prop_assert!(run.numbers.iter().all(|&lanes| lanes <= 2), "{:?}", run.numbers);
        // After one minute, two, four and so on, up to an hour.
        prop_assert!((6..=18).contains(&run.numbers.len()), "{:?}", run.numbers);
    }

    #[test]
    fn any_looks_leave_a_number_in_bounds(
        looks in prop::collection::vec((0.0..1e9, prop_oneof![of_one_lane(), of_others(), Just(LaneLimit::Idle)], any::<bool>()), 0..400),
        most in 1..20_usize,
    ) {
        let mut run = Run::new(Path { capacity: 1.0, lane: 1.0, limit: LaneLimit::Path, most });
        for (rate, limit, writes) in looks {
            run.look(limit, writes, rate);
            prop_assert!((1..=LANES_MAX).contains(&run.growth.lanes()));
        }
    }
}

/// A path on which a lane carries a megabyte a second, and that has room for many.
const WIDE: Path = Path { capacity: 1e9, lane: 1e6, limit: LaneLimit::OurSendBuffer, most: 16 };

#[test]
fn a_path_that_is_known_begins_with_its_lanes_unless_a_number_was_asked_for() {
    assert_eq!(Growth::new(Lanes::Auto, false).starting_from(4).lanes(), 4);
    assert_eq!(Growth::new(Lanes::Auto, false).starting_from(1000).lanes(), LANES_MAX);
    assert_eq!(Growth::new(Lanes::Fixed(2), false).starting_from(4).lanes(), 2);
    assert_eq!(Growth::new(Lanes::Auto, true).starting_from(4).lanes(), 1, "on this host nothing is far");
}

#[test]
fn a_server_that_takes_no_more_is_left_with_what_it_took() {
    for most in [1, 2, 4] {
        let run = Run::new(Path { most, ..WIDE }).busy(60);
        assert_eq!(run.growth.lanes(), most, "{:?}", run.numbers);
        assert_eq!(run.growth.why(), GrowthReason::Refused { tried: 2 * most });
    }
}

#[test]
fn a_refusal_ends_a_trial_at_once() {
    let mut run = Run::new(WIDE);
    while run.growth.lanes() == 1 {
        run.look(WIDE.limit, false, 1e6);
    }
    run.growth.on_refusal();
    assert_eq!((run.growth.lanes(), run.growth.why()), (1, GrowthReason::Refused { tried: 2 }));
    assert_eq!(run.busy(30).growth.lanes(), 1, "it is not asked again soon");
}

#[test]
fn it_takes_two_seconds_of_calls_and_not_of_silence() {
    let run = Run::new(WIDE).busy(2).silent(600);
    assert_eq!(run.numbers, [1]);
    let mut run = Run::new(WIDE);
    for _ in 0..100 {
        run = run.busy(1).silent(1);
    }
    assert_eq!(run.growth.lanes(), 16, "{:?}", run.numbers);
}

#[test]
fn a_trial_that_is_cut_short_by_silence_or_by_other_work_proves_nothing() {
    let tried = || {
        let mut run = Run::new(WIDE);
        while run.growth.lanes() == 1 {
            run.look(WIDE.limit, false, 1e6);
        }
        run
    };
    let run = tried().silent(10);
    assert_eq!((run.growth.lanes(), run.growth.why()), (1, GrowthReason::Enough));
    let mut run = tried();
    while run.growth.why() == GrowthReason::Trying {
        run.look(WIDE.limit, true, 1e6);
    }
    assert_eq!((run.growth.lanes(), run.growth.why()), (1, GrowthReason::Enough));
    assert_eq!(run.busy(60).growth.lanes(), 16, "it is tried again");
}

#[test]
fn what_was_in_vain_for_writes_is_tried_for_reads() {
    let mut run = Run::new(WIDE);
    while !matches!(run.growth.why(), GrowthReason::InVain { .. }) {
        // Storage takes no more.
        run.look(LaneLimit::OurSendBuffer, true, WIDE.lane);
    }
    assert_eq!(run.growth.lanes(), 1);
    let run = run.silent(10).busy(30);
    assert_eq!(run.growth.lanes(), 16, "{:?}", run.numbers);
}

#[test]
fn work_that_reads_and_writes_by_turns_has_more_lanes_and_they_do_not_come_and_go() {
    let mut run = Run::new(WIDE);
    for look in 0..150 {
        let rate = run.growth.lanes() as f64 * WIDE.lane;
        run.look(WIDE.limit, look % 3 == 0, rate);
    }
    assert_eq!(run.numbers, [1, 2, 4, 8, 16]);
}

#[test]
fn what_was_gained_stays_in_silence() {
    let run = Run::new(WIDE).busy(60).silent(600);
    assert_eq!((run.growth.lanes(), run.growth.why()), (16, GrowthReason::Most));
}

#[test]
fn a_number_that_was_asked_for_stays() {
    for (lanes, same_host, wanted) in [(Lanes::Fixed(3), false, 3), (Lanes::Auto, true, 1)] {
        let growth = Growth::new(lanes, same_host);
        let run = Run { growth, ..Run::new(WIDE) }.busy(60);
        assert_eq!(run.growth.lanes(), wanted);
    }
}
