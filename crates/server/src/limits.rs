//! Every maximum that an outsider can push against, with its reason, what happens beyond it, and the test that shows that; then
//! the times and sizes by which the server itself goes.

use std::time::Duration;

howdah_limits::limits! {
    /// The largest transfer of READ and WRITE on a stream: what the Linux client asks for at most (`NFS_MAX_FILE_IO_SIZE`).
    pub const TRANSFER_MAX: usize = 1 << 20, bytes;
    beyond "a READ is answered with less, as FSINFO announced; a longer WRITE is a record that is too long", tested "server/src/nfs3/tests/durability::a_read_is_no_longer_than_is_ever_announced";

    /// The longest record: the largest WRITE, and room for its header with 400 bytes of credentials and as much of a verifier.
    pub const RECORD_MAX: usize = TRANSFER_MAX + (4 << 10), bytes;
    beyond "the connection is closed before anything is kept for it", tested "server/tests/limits::a_record_may_be_as_long_as_announced_and_no_longer";

    /// The largest READ and WRITE in a datagram: what the Linux kernel's server takes over UDP.
    pub const DATAGRAM_TRANSFER_MAX: u32 = 32 << 10, bytes;
    beyond "a READ is answered with less", tested "server/src/nfs3/tests/durability::a_read_is_no_longer_than_is_ever_announced";

    /// The longest target of a symbolic link: what Linux can store.
    pub const LINK_TARGET_MAX: usize = 4095, bytes;
    beyond "NFS3ERR_NAMETOOLONG", tested "server/src/nfs3/tests/procedures::a_link_points_anywhere_but_nowhere";

    /// Memory that replies of one connection may hold while its peer does not read.
    pub const REPLY_MEMORY_MAX: usize = 256 << 10, bytes;
    beyond "no further call of that connection is started until it reads", tested "server/src/connection/outbox::a_connection_is_full_one_byte_past_each_of_its_bounds";

    /// The same while all connections together hold more than [`REPLY_MEMORY_BUDGET`].
    pub const REPLY_MEMORY_UNDER_PRESSURE: usize = 16 << 10, bytes;
    beyond "no further call of that connection is started until it reads", tested "server/src/connection/outbox::a_connection_is_full_one_byte_past_each_of_its_bounds";

    /// Memory that replies of all connections may hold.
    pub const REPLY_MEMORY_BUDGET: usize = 128 << 20, bytes;
    beyond "each connection is held shorter", tested "server/src/connection/outbox::a_connection_is_full_one_byte_past_each_of_its_bounds";

    /// Replies that wait in one connection, file ranges included, which hold no memory: more than a client has asked for that keeps
    /// twice in flight what 2.5 Gb/s x 100 ms hold. The reply to a call that is not read cannot overtake the bulk before it.
    pub const REPLY_QUEUE_MAX: usize = 64 << 20, bytes;
    beyond "no further call of that connection is started until it reads", tested "server/src/connection/outbox::a_connection_is_full_one_byte_past_each_of_its_bounds";

    /// Memory that half-received records of all connections may hold.
    pub const RECEIVE_MEMORY_BUDGET: usize = 256 << 20, bytes;
    beyond "those that hold most and move least are closed", tested "server/src/room::those_that_move_least_give_their_memory_back_one_byte_past_the_budget";

    /// How long a record may take before its rate is looked at.
    pub const RECORD_PATIENCE: Duration = Duration::from_secs(30), time;
    beyond "its rate must be the one below", tested "server/src/patience::a_dribbled_record_goes";

    /// The slowest that a record may come in, once it has taken [`RECORD_PATIENCE`].
    pub const RECORD_RATE_MIN: u64 = 1 << 10, bytes_per_second;
    beyond "the connection is closed", tested "server/src/patience::a_dribbled_record_goes";

    /// How long a peer may read nothing of the replies that wait for it. A peer that reads slowly shows it late: the kernel takes
    /// more bytes only when a third of its buffer is free, at 20 KB/s after more than a minute.
    pub const SEND_PATIENCE: Duration = Duration::from_secs(300), time;
    beyond "the connection is closed", tested "server/src/patience::a_peer_that_reads_nothing_goes_and_a_slow_reader_stays";

    /// Contexts of Kerberos. One takes 3 to 7 KB, so all of them take 50 to 110 MB.
    pub const CONTEXTS_MAX: usize = 16_384, count;
    beyond "the one that was used least of late goes, those of nobody's user first; its client makes another", tested "server/src/gss/contexts::the_context_that_is_used_least_makes_room";

    /// The same that one client has made (an IPv4 address, or 64 bits of an IPv6 one): a host on which so many users work.
    pub const CONTEXTS_OF_ONE_MAX: usize = 4096, count;
    beyond "that client's own that was used least of late goes", tested "server/src/gss/contexts::the_context_that_is_used_least_makes_room";

    /// Tokens that wait for a Kerberos helper: each holds up to 64 KiB.
    pub const TOKENS_MAX: usize = 1024, count;
    beyond "the client is refused a context", tested "server/src/parked::each_client_has_its_part_of_what_waits";

    /// The same of one client. They come at once when a host with many users has been restarted; clients take turns.
    pub const TOKENS_OF_ONE_MAX: usize = 64, count;
    beyond "the connection with most of them is refused a context", tested "server/src/parked::each_client_has_its_part_of_what_waits";

    /// Refused contexts whose reasons are kept for administrators.
    pub const CONTEXT_REFUSALS_KEPT: usize = 100, count;
    beyond "the oldest is forgotten", tested "server/src/gss/refusals::the_last_refusals_are_kept";

    /// TLS handshakes in progress at the same time: each holds some 10 KB, and one that is under way on 100 ms takes 200 ms.
    pub const HANDSHAKES_MAX: usize = 1024, count;
    beyond "the connection that would begin one is closed", tested "server/src/secure/handshakes::one_client_has_its_part_and_all_have_no_more_than_there_may_be";

    /// The same of one client (an IPv4 address, or 64 bits of an IPv6 one): a restart brings all connections of a client at once.
    pub const HANDSHAKES_OF_ONE_MAX: usize = 128, count;
    beyond "the connection that would begin one is closed", tested "server/src/secure/handshakes::one_client_has_its_part_and_all_have_no_more_than_there_may_be";

    /// How long a TLS handshake may take.
    pub const HANDSHAKE_PATIENCE: Duration = Duration::from_secs(10), time;
    beyond "the connection is closed", tested "server/src/connection/securing::a_handshake_that_stops_half_way_is_given_up";

    /// Connections at a time.
    pub const CONNECTIONS_MAX: usize = 16_384, count;
    beyond "of the client that has most (an IPv4 address, or 64 bits of an IPv6 one), an idle one with the fewest calls gives way to the new one", tested "server/src/room::a_place_is_freed_for_the_one_past_the_last";

    /// So many connections are taken in however short the kernel's memory is.
    pub const CONNECTIONS_FLOOR: usize = 16, count;
    beyond "only the first one of each client is, while memory is short", tested "server/tests/pressure::who_takes_nothing_is_not_read_and_new_connections_are_turned_away_until_there_is_memory";

    /// Clients whose use of the processors is told apart: a hundred bytes each.
    pub const SHARES_MAX: usize = 4096, count;
    beyond "listings of those beyond count as those of a client that has had more than its share, until others are forgotten", tested "server/src/shares::a_crowd_of_addresses_is_one_client_or_too_many_to_be_told_apart";

    /// What is kept of a call that waits since its client has had more than its share. The longest that makes sense has 1.9 KB: 840
    /// of credentials and verifier, and the path of a mount. Each connection may have two that wait. A compound that says more is
    /// answered DELAY.
    pub const PARKED_MAX: usize = 2 << 10, bytes;
    beyond "what is behind is not looked at", tested "server/src/worker/patient::a_call_that_waits_holds_no_more_than_what_it_says";

    /// Rules of `[[limit]]`.
    pub const CAP_RULES_MAX: usize = 31, count;
    beyond "the configuration is refused", tested "server/src/caps/cap_table::no_more_rules_than_there_may_be";

    /// Clients that one rule of `[[limit]]` tells apart: some 150 bytes each.
    pub const CAP_CLIENTS_MAX: usize = 4096, count;
    beyond "those beyond share one allowance, until others have been idle", tested "server/src/caps/cap_table::clients_beyond_the_bound_share";

    /// Replies of one connection that its caps hold: more than clients have calls in flight for a mount that moves 2.5 Gb/s over 100 ms.
    pub const HELD_REPLIES_MAX: usize = 1 << 10, count;
    beyond "no further call of that connection is started until some have gone", tested "server/src/connection/held_count::no_call_is_read_past_any_bound";

    /// Memory that these replies take.
    pub const HELD_MEMORY_MAX: usize = 4 << 20, bytes;
    beyond "no further call of that connection is started until some have gone", tested "server/src/connection/held_count::no_call_is_read_past_any_bound";

    /// Memory that held replies of all connections take.
    pub const HELD_MEMORY_BUDGET: usize = 64 << 20, bytes;
    beyond "no further call of a connection with a held reply is started", tested "server/src/connection/held_count::no_call_is_read_past_any_bound";

    /// Replies to datagrams that caps hold, of all clients: 64 KiB each at most.
    pub const HELD_DATAGRAMS_MAX: usize = 1 << 10, count;
    beyond "datagrams of clients with caps get no answer and are not charged; the clients ask again", tested "server/src/held_replies::no_more_datagrams_are_held_than_there_are_places";

    /// Worker threads, unless `workers` asks for more: they grow while calls wait for storage. Each has 512 KB of stack, of which
    /// little is used.
    pub const WORKERS_MAX: usize = 512, count;
    beyond "calls wait until one is free", tested "server/tests/hanging::exports_that_hang_take_no_more_than_all_workers_but_some";

    /// Calls of one export of another server that may wait for that server at once, unless `workers` asks for more: at 100 ms and
    /// 1 MiB a call, 2.5 GB/s.
    pub const FAR_CALLS_MAX: usize = 256, count;
    beyond "further calls of it wait in line", tested "server/tests/hanging::far_calls_of_one_connection_wait_together_and_harm_no_other_export";

    /// Calls that wait because storage of their export has as many as it may have.
    pub const GATE_CALLS_MAX: usize = 16 << 10, count;
    beyond "NFS3ERR_JUKEBOX; a client that has few may go to twice as many", tested "server/src/gates::what_no_longer_fits_is_given_back";

    /// Such calls of one connection: more than clients have under way for a mount that moves 2.5 Gb/s over 100 ms.
    pub const GATE_CALLS_OF_ONE_MAX: usize = 1 << 10, count;
    beyond "NFS3ERR_JUKEBOX", tested "server/tests/hanging::one_connection_does_not_fill_the_line";

    /// Calls of one export that go in while its gate is shut, of clients that have none in line: a hanging export holds so many more workers.
    pub const GATE_RESERVED_MAX: usize = 8, count;
    beyond "they wait in line like others", tested "server/src/gates::a_client_that_has_none_in_line_goes_in_besides_as_long_as_few_do";

    /// Users whose groups are remembered, where they are looked up.
    pub const GROUP_LISTS_MAX: usize = 4096, count;
    beyond "the one that is due first is forgotten, and looked up again when it calls", tested "server/src/exports/groups::no_more_are_remembered_than_there_is_room_for";

    /// Clients whose names are remembered, where rules name hosts.
    pub const HOST_NAMES_MAX: usize = 4096, count;
    beyond "the one that is due first is forgotten, and looked up again when it calls", tested "server/src/exports/host_directory::no_more_are_remembered_than_there_is_room_for";

    /// Names of clients that are looked up at the same time: a thread waits for each.
    pub const HOST_LOOKUPS_MAX: usize = 32, count;
    beyond "NFS3ERR_JUKEBOX, NFS4ERR_DELAY, and a server fault for MOUNT", tested "server/src/exports/host_directory::while_many_hang_no_more_threads_are_started_and_nobody_waits_for_one";

    /// Users that are looked up at the same time: a thread waits for each.
    pub const USER_LOOKUPS_MAX: usize = 32, count;
    beyond "calls wait 2 s; then earlier answers or the clients' groups are used, or NFS3ERR_JUKEBOX with Kerberos", tested "server/src/exports/groups::a_user_whose_lookup_hangs_holds_up_its_first_calls_for_a_while_and_no_other_user";

    /// Groups of one user, where they are looked up.
    pub const GROUPS_OF_ONE_MAX: usize = 1024, count;
    beyond "the rest of them is left out", tested "server/src/exports/groups::a_user_of_too_many_groups_is_in_the_first_of_them";

    /// Memory that such calls hold.
    pub const GATE_MEMORY_MAX: usize = 64 << 20, bytes;
    beyond "NFS3ERR_JUKEBOX; a client that has few may go to twice as many", tested "server/src/gates::what_no_longer_fits_is_given_back";

    /// Files that were made exclusively and whose makers are remembered: some 200 KB.
    pub const MAKERS_MAX: usize = 4096, count;
    beyond "the oldest is forgotten: of two clients with one verifier both may be told that they made it", tested "server/src/nfs3/tests/procedures::of_two_clients_with_one_verifier_one_made_the_file";

    /// How much longer than its call an answer in a datagram may be, if the call shows no handle: the address on a datagram may be
    /// somebody else's, whom the answer would flood. Attributes or an address fit; lists do not.
    pub const STRANGER_EXTRA_MAX: usize = 64, bytes;
    beyond "the call is answered PROC_UNAVAIL; over TCP it is answered", tested "server/tests/amplification::what_strangers_can_have_sent_elsewhere_is_short";

    /// UDP sockets that share one address: more processors than this have no lock to share any more. Each may hold what
    /// `howdah-net` asks the kernel for, 8 MiB of what was received and not read; `net.ipv4.udp_mem` bounds them all.
    pub const UDP_GROUP_MAX: usize = 16, count;
    beyond "the setting is refused", tested "config/src/datagrams::numbers_of_sockets_are_bounded_and_automatic_unless_said";

    /// Interfaces that are gone whose traffic is remembered: names of containers' interfaces never come back.
    pub const INTERFACES_REMEMBERED: usize = 256, count;
    beyond "the one that went first is forgotten", tested "server/src/udp/ports::names_that_never_come_back_are_forgotten_some_day";

    /// Mounts that are remembered for `showmount`. Clients that crash never unmount, so the list would grow for ever; a thousand
    /// lines are more than anybody reads, and at most 1 MiB.
    pub const MOUNTS_MAX: usize = 1024, count;
    beyond "the oldest is forgotten", tested "server/src/mount/mounts::the_oldest_mount_gives_way";

    /// Exports whose calls are counted apart. Each costs 2 KB a worker for each procedure that is called: 45 KB for all of them.
    pub const EXPORTS_COUNTED_MAX: usize = 64, count;
    beyond "those beyond are counted as one", tested "server/src/counts/ledger::an_export_keeps_its_counters_over_a_reload_and_too_many_share_theirs";

    /// Points of all curves of the live page: 7.7 MB.
    pub const POINTS_MAX: usize = 120_000, count;
    beyond "more than 500 connections that move something have them farther apart", tested "server/src/samples/all::memory_does_not_grow_with_connections";

    /// Connections that are gone whose curves are kept until they are over, the last ones.
    pub const CLOSED_MAX: usize = 256, count;
    beyond "the curve of the one that closed first is dropped", tested "server/src/samples/all::the_gone_are_told_until_they_are_forgotten";

    /// Clients without a connection that `howdah why` still tells of, the last ones. Each takes a kilobyte.
    pub const GONE_CLIENTS_MAX: usize = 64, count;
    beyond "the one that left first is forgotten", tested "server/src/tuning/gone::who_is_back_or_long_gone_is_not_told_and_only_so_many_are";

    /// How long it tells of them: as long as somebody needs to ask why a copy was slow.
    pub const GONE_CLIENTS_SPAN: Duration = Duration::from_secs(300), time;
    beyond "the client is not told any more", tested "server/src/tuning/gone::who_is_back_or_long_gone_is_not_told_and_only_so_many_are";

    /// Calls of a capture that wait to be read out, at most 2.2 KB each: who asks each twentieth of a second keeps up with 300,000
    /// calls a second.
    pub const CAPTURE_WAITING_MAX: usize = 16 << 10, count;
    beyond "calls are dropped, and how many is told", tested "server/tests/admin/capture::what_is_not_read_in_time_is_dropped_and_counted";

    /// Calls of a capture in one answer: some 2 MB of JSON.
    pub const CAPTURE_ANSWER_MAX: usize = 8 << 10, count;
    beyond "the rest is told in the next one", tested "server/tests/admin/capture::what_is_not_read_in_time_is_dropped_and_counted";

    /// Clients, and connections, that a capture tells apart.
    pub const CAPTURE_CLIENTS_MAX: usize = 64 << 10, count;
    beyond "those beyond are all called 0", tested "server/src/capture/reader::clients_past_the_last_that_is_told_apart_are_called_0";

    /// Hosts of one address that take locks by NLM. One address may stand for many hosts (NAT), but must not fill the table.
    pub const HOSTS_OF_ADDRESS_MAX: usize = 1_000, count;
    beyond "locks of further hosts of the address are answered NOLOCKS", tested "server/src/nlm/tests/hosts::one_address_does_not_take_the_room_of_all_hosts";

    /// Calls of clients' lock managers that are still to be made: locks that were waited for, and answers by call.
    pub const CALLBACKS_MAX: usize = 65_536, count;
    beyond "none is made: the client learns of its lock when it asks again", tested "server/src/nlm/tests/callbacks::calls_past_the_last_are_not_made";

    /// Those of them for one client (an IPv4 address, or 64 bits of an IPv6 one): locks that were waited for.
    pub const CALLBACKS_OF_CLIENT_MAX: usize = 16_384, count;
    beyond "none is made: the client learns of its lock when it asks again", tested "server/src/nlm/tests/callbacks::calls_past_the_last_are_not_made";

    /// The same of answers by call.
    pub const ANSWERS_OF_CLIENT_MAX: usize = 64, count;
    beyond "the answer is dropped, and the client asks again", tested "server/src/nlm/tests/callbacks::answers_to_one_client_keep_no_other_waiting";

    /// Calls of the client of one NFSv4 session that wait for it to answer the one before.
    pub const BACK_CALLS_MAX: usize = 1_024, count;
    beyond "the oldest that tells of a lock is not made: the client learns of its lock when it asks again", tested "server/src/back_channel/tests::calls_past_the_last_are_not_made";

    /// Files that a client has open, and of which it is looked whether they are gone, when it ends or may open no more.
    pub const GONE_FILES_MAX: usize = 1_024, count;
    beyond "further ones are looked at when it tries again", tested "server/src/nfs4/tests/sessions::a_client_ends_although_it_had_a_file_open_that_is_gone";

    /// Files of a directory whose changes call its delegation back: as many as a client of ours remembers of a listing. All are looked at
    /// when the delegation is given.
    pub const DELEGATED_CHILDREN_OF_DIRECTORY_MAX: usize = 1 << 14, count;
    beyond "the directory is delegated without that: clients ask for attributes of its files as they age", tested "client/tests/nfs4/delegations::attributes_in_a_directory_of_too_many_files_age";

    /// Directories, and files of several names, in such a directory: each is watched by itself for changes by programs of this host.
    pub const WATCHED_CHILDREN_OF_DIRECTORY_MAX: usize = 1_024, count;
    beyond "as beyond the files of a directory", tested "client/tests/nfs4/delegations::attributes_in_a_directory_of_too_many_files_age";

    /// How long a change waits for delegations before its client is told to come again: a round trip of a long path.
    pub const RECALL_PATIENCE: Duration = Duration::from_millis(300), time;
    beyond "the call is answered DELAY or JUKEBOX", tested "server/src/nfs4/tests/delegations::whoever_changes_the_file_waits_until_it_is_back";

    /// Changes that wait so at the same time: each holds a worker.
    pub const RECALL_WAITERS_MAX: usize = 4, count;
    beyond "further ones are answered DELAY or JUKEBOX at once", tested "server/src/states/returns::only_few_wait_and_not_for_long";

    /// Hosts that are still to be told of a restart.
    pub const NOTICES_MAX: usize = 65_536, count;
    beyond "those are not told: their clients reclaim no locks", tested "server/src/nsm/tests::hosts_past_the_last_are_not_told";

    /// How long nobody may ask for the calls of a capture: who began it was killed, or sleeps.
    pub const CAPTURE_PATIENCE: Duration = Duration::from_secs(15), time;
    beyond "it ends, and after as long again its calls are forgotten", tested "server/src/capture/running::what_nobody_asks_for_ends_and_is_forgotten_later";

    /// Connections at once at each place where the server may be asked what it does. Enough for some people and a monitor.
    pub const ADMIN_CONNECTIONS_MAX: usize = 32, count;
    beyond "who comes then waits for a place", tested "server/tests/admin/bounds::who_says_nothing_holds_no_place_for_long";

    /// How long a question and its answer may take there: whoever does not read or write holds no place.
    pub const ADMIN_PATIENCE: Duration = Duration::from_secs(10), time;
    beyond "the connection is closed", tested "server/tests/admin/bounds::who_says_nothing_holds_no_place_for_long";

    /// The head of a request there: ours have some hundred bytes.
    pub const ADMIN_HEAD_MAX: usize = 16 << 10, bytes;
    beyond "HTTP status 431", tested "server/tests/admin/bounds::too_much_is_refused";

    /// The body of a request there: a knob's value has some ten bytes.
    pub const ADMIN_BODY_MAX: usize = 64 << 10, bytes;
    beyond "HTTP status 413", tested "server/tests/admin/bounds::a_body_longer_than_any_is_refused";
}

/// The longest datagram, in bytes: what UDP carries over IPv4.
pub const DATAGRAM_MAX: usize = 65_507;
/// Stack of a worker, in bytes: the deepest path is a directory listing with a few kilobytes of buffers.
pub const STACK: usize = 512 << 10;
/// How long the groups of a user hold, where they are looked up.
pub const GROUPS_AGE: Duration = Duration::from_secs(600);
/// After how long they are asked for again if the user was not known, or the question failed.
pub const GROUPS_RETRY: Duration = Duration::from_secs(60);
/// After how long a user of Kerberos is looked up again if the first question failed: until then its calls are put off.
pub const USER_RETRY: Duration = Duration::from_secs(5);
/// How long calls of a user wait for the user database.
pub const USER_PATIENCE: Duration = Duration::from_secs(2);
/// How long the name of a client holds, where rules name hosts.
pub const HOST_AGE: Duration = Duration::from_secs(600);
/// After how long a client without a name is asked for again.
pub const HOST_NAMELESS_AGE: Duration = Duration::from_secs(60);
/// After how long a client is asked for again whose name nobody could tell.
pub const HOST_RETRY: Duration = Duration::from_secs(5);
/// How long the first call of a client waits for its name: longer than the system's resolver waits for one server (5 s).
pub const HOST_PATIENCE: Duration = Duration::from_secs(8);
/// Calls of one export that may wait for storage at the same time, unless configured; so many worker threads there are at
/// the start, and at least.
pub const WORKERS: usize = 32;
/// Workers that are kept free of calls that wait, by starting others.
pub const WORKERS_FREE: usize = 8;
/// How long workers that were started while calls waited are kept when no call needs them.
pub const WORKERS_KEPT: Duration = Duration::from_secs(30);
/// Threads that run what waits until the processors have nothing better to do, however many processors there are.
pub const PATIENT_WORKERS_MAX: usize = 16;
/// How long a call runs before its connection is handed on to another worker.
pub const CALL_PATIENCE: Duration = Duration::from_millis(2);
/// Data of a WRITE from this length on is bulk, in bytes: moved by the kernel where it can be, and worth another
/// processor. Below it, the system calls for that cost more than the copy they save.
pub const BULK_MIN: usize = 64 << 10;
/// A call that is signed or encrypted whole and so long, in bytes, is worth another processor: checking it takes 20 to 50 µs.
pub const LONG_PROTECTED: usize = 32 << 10;
/// A bulk WRITE that takes longer than this shows that the storage is slow: for [`SLOW_STORAGE`] the connection's data
/// is received into memory first, so that its other calls do not wait behind it.
pub const BULK_PATIENCE: Duration = Duration::from_millis(50);
/// How long that lasts.
pub const SLOW_STORAGE: Duration = Duration::from_secs(1);
/// How long READs are copied into their replies after sending a range of a file failed: a client must have the time to
/// connect again and to be told.
pub const RANGE_DOUBT: Duration = Duration::from_secs(60);
/// Threads that call clients' lock managers: so many may be silent before others wait.
pub const CALLBACK_THREADS: usize = 4;
/// So many of them call one client at the same time.
pub const CALLBACK_THREADS_OF_CLIENT: usize = 2;
/// Threads that answer clients' lock managers by a call, each another client.
pub const ANSWER_THREADS: usize = 4;
/// Threads that tell clients of a restart, at least and at most. A client that is off takes one of them 4 s, so with 48 a thousand of
/// these keep no other from reclaiming within the 90 s of a lease.
pub const NOTICE_THREADS: [usize; 2] = [2, 48];
/// How long clients are told of a restart until they answer, as `sm-notify` does.
pub const NOTICE_PATIENCE: Duration = Duration::from_secs(15 * 60);
/// Interfaces with UDP sockets of their own, for each address: a host of containers has hundreds of interfaces, and what
/// has none here the wildcard takes.
pub const INTERFACES_MAX: usize = 64;
