//! What limits a client's calls, in the client's words: the judge of `howdah-tune` knows the connection, we know who asks.

use std::fmt;
use std::time::Duration;

use howdah_tune::Verdict;

/// What keeps calls from being faster.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum LaneLimit {
    /// Nobody asks for anything.
    Idle,
    /// The caller: more calls at once would be faster.
    Requests,
    /// The calls that we let be in flight.
    Slots,
    /// The slots of the session with the server.
    SessionSlots,
    /// The server takes its time.
    Server,
    /// Our send buffer.
    OurSendBuffer,
    /// The server's send buffer.
    TheirSendBuffer,
    /// The window that we offer.
    OurWindow,
    /// The window that the server offers.
    TheirWindow,
    /// Losses on the path.
    Loss,
    /// A thread of ours takes what comes in no faster.
    Processor,
    /// The path carries what it can: the goal.
    Path,
    /// The path, or the server's send buffer: as much is on the way as a buffer of a usual size holds, and no queue stands.
    /// A sender that paces looks like a full path to who receives.
    PathOrTheirBuffer,
    /// The sender is still finding out what the path can do.
    Start,
}

/// What the client knows beside the connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Asked {
    /// Bulk calls wait for others to be answered.
    pub waits_for_place: bool,
    /// Calls, bulk or not, wait for a slot of the session.
    pub waits_for_slot: bool,
    /// How long a bulk call is in flight on average; zero if there was none.
    pub latency: Duration,
    /// Much of what came stayed unread all the time.
    pub reads_too_slowly: bool,
}

/// A call that is in flight longer than this many round trips, while nothing holds up its bytes, waits at the server,
const ROUND_TRIPS_OF_A_CALL: u32 = 2;
/// if that is more than threads need to be woken.
const WAKING: Duration = Duration::from_millis(2);

/// What Linux has in flight from send buffers of usual sizes: two thirds, of which headers take a part. They go from two replies of
/// 1 MiB, the least to which howdah's can be fixed, over the 4 MiB to which Linux grows them (`net.ipv4.tcp_wmem`), to the 8 MiB that
/// anybody may ask for (twice `net.core.wmem_max`).
const FLIGHT_OF_BUFFERS: std::ops::Range<f64> = 1.1e6..6.0e6;
/// A round trip longer than without queues by this factor: one stands in the path.
const QUEUE_STANDS: f64 = 1.25;

impl LaneLimit {
    /// From the judge's word on the direction that moves more, on a path of that round trip.
    pub fn of(verdict: Verdict, asked: &Asked, round_trip: Duration) -> Self {
        match verdict {
            _ if asked.reads_too_slowly => Self::Processor,
            Verdict::SendBuffer => Self::OurSendBuffer,
            Verdict::ClientSendBuffer => Self::TheirSendBuffer,
            Verdict::OurWindow => Self::OurWindow,
            Verdict::PeerWindow => Self::TheirWindow,
            Verdict::Loss => Self::Loss,
            Verdict::Processor | Verdict::Encrypting => Self::Processor,
            Verdict::PathFull => Self::Path,
            Verdict::Ramping => Self::Start,
            // Nothing holds up the bytes: who asks does, or who answers.
            _ => Self::without_transport(asked, round_trip),
        }
    }

    /// The same of reads on a connection of that round trip, and without queues that one, at so many bytes per second.
    pub fn of_reads(self, rate: f64, round_trip: Duration, base: Duration) -> Self {
        let flight = rate * base.as_secs_f64();
        let queue_stands = round_trip.as_secs_f64() > QUEUE_STANDS * base.as_secs_f64();
        let is_undecided = self == Self::Path && !queue_stands && FLIGHT_OF_BUFFERS.contains(&flight);
        if is_undecided { Self::PathOrTheirBuffer } else { self }
    }

    fn without_transport(asked: &Asked, round_trip: Duration) -> Self {
        if asked.waits_for_slot {
            Self::SessionSlots
        } else if asked.latency.is_zero() {
            Self::Idle
        } else if asked.latency > round_trip * ROUND_TRIPS_OF_A_CALL + WAKING {
            Self::Server
        } else if asked.waits_for_place {
            Self::Slots
        } else {
            Self::Requests
        }
    }

    /// Whether a further connection could help: what limits is one of each connection, not of the path or of who uses it.
    pub fn is_of_one_lane(self) -> bool {
        match self {
            Self::OurSendBuffer
            | Self::TheirSendBuffer
            | Self::OurWindow
            | Self::TheirWindow
            | Self::Loss
            | Self::PathOrTheirBuffer
            | Self::Processor => true,
            Self::Idle
            | Self::Requests
            | Self::Slots
            | Self::SessionSlots
            | Self::Server
            | Self::Path
            | Self::Start => false,
        }
    }
}

impl fmt::Display for LaneLimit {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Idle => "nothing: no program asks for more",
            Self::Requests => "too few calls in flight",
            Self::Slots => "the limit of calls in flight",
            Self::SessionSlots => "the slots that the server grants its session",
            Self::Server => "the server, which answers slowly",
            Self::OurSendBuffer => "our send buffer",
            Self::TheirSendBuffer => "the server's send buffer",
            Self::OurWindow => "our receive window",
            Self::TheirWindow => "the server's receive window",
            Self::Loss => "losses on the path",
            Self::Processor => "the CPU here, which reads no faster",
            Self::Path => "the path, which is full",
            Self::PathOrTheirBuffer => {
                "the path or the server's send buffer, which more connections would tell apart"
            }
            Self::Start => "connection start-up",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TRIP: Duration = Duration::from_millis(100);

    #[test]
    fn what_the_connection_does_not_explain_is_who_asks_or_who_answers() {
        let check = |asked: Asked, wanted| assert_eq!(LaneLimit::of(Verdict::Idle, &asked, TRIP), wanted);
        let asked = Asked { latency: TRIP, ..Asked::default() };
        check(Asked::default(), LaneLimit::Idle);
        check(asked, LaneLimit::Requests);
        check(Asked { waits_for_place: true, ..asked }, LaneLimit::Slots);
        check(Asked { waits_for_slot: true, ..Asked::default() }, LaneLimit::SessionSlots);
        check(Asked { latency: 3 * TRIP, ..asked }, LaneLimit::Server);
        check(Asked { reads_too_slowly: true, ..asked }, LaneLimit::Processor);
    }

    #[test]
    fn a_full_path_may_be_a_buffer_of_a_usual_size() {
        let check = |limit: LaneLimit, rate: f64, round_trip: Duration, wanted| {
            assert_eq!(limit.of_reads(rate, round_trip, TRIP), wanted, "{limit:?} {rate} {round_trip:?}");
        };
        // A server whose buffer is fixed at the floor, two replies of 1,052,672 bytes, and that paces what it sends.
        let floor = howdah_tune::floor::flight_of(howdah_tune::floor::send_floor(1_052_672)) as f64;
        check(LaneLimit::Path, floor / TRIP.as_secs_f64(), TRIP, LaneLimit::PathOrTheirBuffer);
        check(LaneLimit::Path, 0.85 * floor / TRIP.as_secs_f64(), TRIP, LaneLimit::PathOrTheirBuffer);
        check(LaneLimit::Path, 10e6, TRIP, LaneLimit::Path);
        check(LaneLimit::Path, 27e6, TRIP, LaneLimit::PathOrTheirBuffer);
        check(LaneLimit::Path, 53e6, TRIP, LaneLimit::PathOrTheirBuffer);
        check(LaneLimit::Path, 117e6, TRIP, LaneLimit::Path);
        check(LaneLimit::Path, 53e6, TRIP * 3 / 2, LaneLimit::Path);
        check(LaneLimit::Server, 53e6, TRIP, LaneLimit::Server);
    }

    #[test]
    fn the_judges_words_change_sides() {
        let of = |verdict| LaneLimit::of(verdict, &Asked { latency: TRIP, ..Asked::default() }, TRIP);
        assert_eq!(of(Verdict::ClientSendBuffer), LaneLimit::TheirSendBuffer);
        assert_eq!(of(Verdict::SendBuffer), LaneLimit::OurSendBuffer);
        assert_eq!(of(Verdict::PeerWindow), LaneLimit::TheirWindow);
        assert_eq!(of(Verdict::PathFull), LaneLimit::Path);
    }
}
