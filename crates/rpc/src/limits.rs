//! How much of a stream is put together, and how many answers are kept for calls that come again.

use std::time::Duration;

howdah_limits::limits! {
    /// The most fragments of one record: nobody needs more, and empty ones would be a way to keep us busy.
    pub const FRAGMENTS_MAX: u32 = 1024, count;
    beyond "the connection is closed", tested "rpc/src/server/assembly::endless_empty_fragments_end_the_stream";

    /// The longest call that a client takes from its server, such as a recall of a delegation with its handle.
    pub const SERVER_CALL_MAX: usize = 64 << 10, bytes;
    beyond "it is passed over and not answered", tested "rpc/tests/client_peer::a_call_longer_than_any_is_passed_over";

    /// Calls that may not run twice and are remembered, those that run included: a client that lost its connection repeats what it
    /// had in flight, at most some thousand calls, while others may have made ten thousand calls a second for the seconds that it
    /// took to come back.
    pub const CALLS_REMEMBERED: usize = 65_536, count;
    beyond "the answer that is oldest is forgotten, of the client that has most; where all run, a call is not remembered", tested "rpc/tests/reply_cache::calls_beyond_the_room_run_unremembered";

    /// Answers that are kept for them: those calls at some 250 bytes, which is what CREATE with a handle and three sets of
    /// attributes comes to.
    pub const REPLIES_KEPT: usize = 16 << 20, bytes;
    beyond "the oldest are forgotten", tested "rpc/tests/reply_cache::replies_are_kept_within_their_bytes";

    /// How long an answer is kept: a client on TCP repeats after 60 seconds or when its connection breaks, and ever later after that,
    /// ours after eight minutes at most. Where many calls are made, room for it runs out sooner.
    pub const REPLY_AGE: Duration = Duration::from_secs(600), time;
    beyond "it is forgotten, and a repeated call runs again", tested "rpc/tests/reply_cache::a_reply_grows_old_and_is_forgotten";

    /// The longest answer that is kept: three times what any procedure that may not run twice answers.
    pub const KEPT_REPLY_MAX: usize = 1 << 10, bytes;
    beyond "it is not kept, and a repeated call runs again", tested "rpc/tests/reply_cache::a_reply_longer_than_any_is_not_kept";
}
