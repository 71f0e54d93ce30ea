//! What clients can make the server keep: clients, sessions, opens, locks and replies.

use std::time::Duration;

howdah_limits::limits! {
    /// The lease: what Linux's server gives, and long enough for a client to find a path again.
    pub const LEASE: Duration = Duration::from_secs(90), time;
    beyond "the client keeps its state only while nobody wants it", tested "state/tests/scenarios/clients::a_silent_client_keeps_what_nobody_wants";

    /// How long a silent client keeps what nobody wants: a laptop may sleep over night.
    pub const COURTESY: Duration = Duration::from_secs(24 * 3600), time;
    beyond "its state is dropped", tested "state/tests/scenarios/clients::courtesy_ends_after_a_day";

    /// How long a lock that became free is kept for the waiter who was told so: several round trips of the longest path. A waiter
    /// that was killed never comes, and nobody else gets the lock meanwhile.
    pub const TURN: Duration = Duration::from_secs(2), time;
    beyond "the next waiter is told", tested "state/tests/scenarios/waiting::a_turn_ends";

    /// How long no delegation of a file is given after one was asked for back: who changed it once changes it again.
    pub const REST: Duration = Duration::from_secs(30), time;
    beyond "delegations of the file are given again", tested "state/tests/scenarios/delegations::a_file_rests_after_a_recall";

    /// Read delegations of all clients, at some 400 bytes each with their file.
    pub const DELEGATIONS_MAX: usize = 262_144, count;
    beyond "opens are granted without a delegation", tested "state/tests/scenarios/delegations::delegations_are_bounded";

    /// Files in delegated directories whose changes call the delegation back, at some 60 bytes each.
    pub const DELEGATED_CHILDREN_MAX: usize = 262_144, count;
    beyond "directories are delegated without that: clients ask for attributes of files as they age", tested "state/tests/scenarios/delegations::files_in_delegated_directories_are_bounded";

    /// Clients of NFSv4 of a server, at some 1 KiB each without opens.
    pub const CLIENTS_MAX: usize = 20_000, count;
    beyond "those whose lease passed go; if there is none, EXCHANGE_ID is answered DELAY", tested "state/tests/scenarios/clients::clients_are_bounded";

    /// Clients from one address: a host of containers, or a NAT, has many; a mount of macOS is a client each.
    pub const CLIENTS_OF_PEER_MAX: usize = 2_048, count;
    beyond "as beyond all clients, within that address", tested "state/tests/scenarios/clients::clients_of_an_address_are_bounded";

    /// Silent clients whose lease passed and who keep their state.
    pub const COURTESY_CLIENTS_MAX: usize = 4_096, count;
    beyond "the longest silent goes", tested "state/tests/scenarios/clients::courtesy_clients_are_bounded";

    /// Sessions of a client: Linux has one, others one a mount.
    pub const SESSIONS_OF_CLIENT_MAX: usize = 64, count;
    beyond "CREATE_SESSION is answered NOSPC", tested "state/tests/scenarios/sessions::sessions_of_a_client_are_bounded";

    /// Slots of a session: all that Linux can use, since slots times size is what a path can have in flight.
    pub const SLOTS_MAX: u32 = 1_024, count;
    beyond "fewer are granted than asked for", tested "state/tests/scenarios/sessions::slots_are_bounded";

    /// Opens and lock states of a client, at some 1 KiB each with their files.
    pub const STATES_OF_CLIENT_MAX: usize = 262_144, count;
    beyond "OPEN is answered NOSPC, LOCK DELAY", tested "state/tests/scenarios/opens::states_of_a_client_are_bounded";

    /// Byte ranges locked by a client or an NLM host.
    pub const RANGES_OF_CLIENT_MAX: usize = 65_536, count;
    beyond "LOCK is answered DELAY, NLM's LOCK NOLOCKS", tested "state/tests/scenarios/locks::ranges_of_a_client_are_bounded";

    /// Byte ranges of one file locked by all clients and hosts. The kernel, which is to show them to local processes, goes through all of
    /// a file's ranges for each that changes: one LOCKU that uncovers 16,384 takes it 5 s, and 4,096 take 0.1 s (measured).
    pub const RANGES_OF_FILE_MAX: usize = 8_192, count;
    beyond "LOCK is answered DELAY, NLM's LOCK NOLOCKS", tested "state/tests/scenarios/locks::ranges_of_a_file_are_bounded";

    /// Locks that wait, of a client or an NLM host: one for each process that is blocked.
    pub const WAITERS_OF_CLIENT_MAX: usize = 1_024, count;
    beyond "the request is denied and not remembered", tested "state/tests/scenarios/waiting::waiters_of_a_client_are_bounded";

    /// Hosts that take locks by NLM.
    pub const HOSTS_MAX: usize = 20_000, count;
    beyond "locks of further hosts are answered NOLOCKS", tested "state/tests/scenarios/nlm::hosts_are_bounded";

    /// Bytes of memory for clients, sessions, slots, opens, locks, owners and kept replies of all clients and hosts: a million opens take
    /// 1.4 GB. A server takes less where its host has less: an eighth of the host's memory.
    pub const MEMORY_MAX: usize = 2 << 30, bytes;
    beyond "clients whose lease passed go, the longest silent first; then EXCHANGE_ID and LOCK are answered DELAY, CREATE_SESSION and OPEN NOSPC, NLM's LOCK NOLOCKS", tested "state/tests/scenarios/memory::memory_of_all_is_bounded";

    /// The same of one network: an IPv4 address, or 64 bits of an IPv6 one. A server takes a quarter of what all may hold, if that is less.
    pub const MEMORY_OF_NETWORK_MAX: usize = 384 << 20, bytes;
    beyond "as beyond that of all, within that network; its sessions get no more slots, and calls in these are answered DELAY", tested "state/tests/scenarios/memory::memory_of_a_network_is_bounded";

    /// Replies that are kept for retries, of all sessions: 8 KiB for each of a thousand clients with some ten calls in flight.
    pub const CACHED_BYTES_MAX: usize = 64 << 20, bytes;
    beyond "a reply is not kept, and a retry is answered RETRY_UNCACHED_REP", tested "state/tests/scenarios/sessions::kept_replies_are_bounded";

    /// The same of one client: so it leaves room for the replies of others.
    pub const CACHED_BYTES_OF_CLIENT_MAX: usize = 8 << 20, bytes;
    beyond "its reply is not kept, and a retry is answered RETRY_UNCACHED_REP", tested "state/tests/scenarios/sessions::kept_replies_of_a_client_are_bounded";
}
