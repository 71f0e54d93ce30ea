//! Every maximum that a client can push against, with its reason, what happens beyond it, and the test that shows that.

use std::time::Duration;

howdah_limits::limits! {
    /// Near connections at the same time: each takes two sockets, and some pages of memory while one side does not take what the
    /// other sends.
    pub const CONNECTIONS_MAX: usize = 4096, count;
    beyond "a new connection is closed", tested "relay/tests/relay::what_is_beyond_the_number_of_connections_is_closed";

    /// Of those, connections of one address: as many as 32 mounts with `nconnect=16` have.
    pub const CONNECTIONS_OF_ONE_CLIENT_MAX: usize = 512, count;
    beyond "a new connection of that address is closed", tested "relay/src/places::one_client_has_its_part_and_all_have_no_more_than_there_may_be";

    /// Bytes that a connection holds for a side that does not take them, in each direction; sockets hold more.
    pub const HELD_MAX: usize = 256 << 10, bytes;
    beyond "the other side is not read", tested "relay/tests/relay::a_side_that_takes_nothing_stops_the_other";

    /// How long a new connection may say nothing: a client of NFS connects when it has something to say.
    pub const FIRST_WORDS_PATIENCE: Duration = Duration::from_secs(60), time;
    beyond "the connection is closed", tested "relay/src/door::who_says_nothing_goes";

    /// Far connections that are being made at the same time.
    pub const OPENING_MAX: usize = 64, count;
    beyond "further ones wait for their turn", tested "threads/src/lib::further_jobs_wait_for_a_free_thread_and_run_or_are_dropped_at_the_end";

    /// How long a near connection waits while the far server cannot be reached.
    pub const OPENING_PATIENCE: Duration = Duration::from_secs(20), time;
    beyond "the near connection is closed; its client connects again", tested "relay/tests/relay::where_nobody_is_far_away_a_client_is_let_go";

    /// How long a connection may stay half closed while nothing is carried.
    pub const HALF_CLOSED_PATIENCE: Duration = Duration::from_secs(60), time;
    beyond "both sides are closed", tested "relay/src/sizing::who_is_half_closed_and_silent_goes";
}
