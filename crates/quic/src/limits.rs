//! How many connections, streams and handshakes a server of QUIC takes, and how many bytes they may hold.

use std::time::Duration;

howdah_limits::limits! {
    /// Connections at the same time: each takes some 20 KiB of memory at rest.
    pub const CONNECTIONS_MAX: usize = 4096, count;
    beyond "a new connection is refused", tested "quic/src/admission::one_client_has_its_part_and_all_have_no_more_than_there_may_be";

    /// Of those, connections of one IPv4 address or IPv6 network of 2^64 addresses: a mount has one, and another one while it mounts.
    pub const CONNECTIONS_OF_ONE_MAX: usize = 128, count;
    beyond "a new connection of that client is refused", tested "quic/src/admission::one_client_has_its_part_and_all_have_no_more_than_there_may_be";

    /// Handshakes that are under way while clients are believed to be where their packets say. A handshake takes one round trip, so
    /// that only a flood has more.
    pub const UNPROVED_MAX: usize = 32, count;
    beyond "a client must prove its address first (Retry), which takes a round trip and no memory", tested "quic/tests/engines::a_flood_of_half_open_handshakes_keeps_nobody_out";

    /// Handshakes that are under way, of clients that proved their address.
    pub const HANDSHAKES_MAX: usize = 512, count;
    beyond "a new connection is refused", tested "quic/src/admission::handshakes_have_a_bound_of_their_own";

    /// Of those, handshakes of one client.
    pub const HANDSHAKES_OF_ONE_MAX: usize = 64, count;
    beyond "a new connection of that client is refused", tested "quic/src/admission::one_client_has_a_part_of_the_handshakes";

    /// How long a handshake may take: a second on the slowest path, and some lost packets.
    pub const HANDSHAKE_PATIENCE: Duration = Duration::from_secs(10), time;
    beyond "the connection is forgotten", tested "quic/tests/engines::a_handshake_that_goes_nowhere_is_forgotten";

    /// Streams of one connection: a client of howdah opens at most 17.
    pub const STREAMS_MAX: usize = 32, count;
    beyond "the client's next stream waits until another one ends", tested "quic/tests/engines::streams_beyond_those_that_may_be_wait";

    /// How long a connection lives without a packet of its peer. A client sends one every 10 seconds.
    pub const IDLE_MAX: Duration = Duration::from_secs(30), time;
    beyond "the connection is forgotten", tested "quic/tests/engines::a_silent_connection_is_forgotten";

    /// How often a client may move to another address while a connection lives: a laptop moves some times a day.
    pub const MOVES_MAX: usize = 64, count;
    beyond "the connection is closed, and its client connects again", tested "quic/tests/engines::a_connection_that_moves_too_often_is_closed";

    /// Bytes that a peer may send on one stream before they are taken: twice what a path of 1 Gb/s and 30 ms holds.
    pub const STREAM_WINDOW: u64 = 8 << 20, bytes;
    beyond "the peer waits", tested "quic/tests/engines::a_stream_that_nobody_reads_holds_no_more_than_its_window";

    /// Bytes that a peer may send on all streams of a connection before they are taken, and that are kept for a peer until it
    /// acknowledges them: twice what a path of 1 Gb/s and 130 ms holds.
    pub const CONNECTION_WINDOW: u64 = 32 << 20, bytes;
    beyond "the peer waits, or calls of it are not read", tested "quic/src/admission::windows_shrink_as_connections_come";

    /// The windows of all connections of a server together.
    pub const WINDOWS_BUDGET: u64 = 256 << 20, bytes;
    beyond "a new connection has a window of 256 KiB", tested "quic/src/admission::windows_shrink_as_connections_come";
}
