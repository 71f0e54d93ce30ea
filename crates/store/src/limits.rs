//! What a directory keeps in memory for those who use it.

howdah_limits::limits! {
    /// Files kept open between calls, if the process may open twice as many: enough for the working set of a few dozen busy clients.
    pub const OPEN_FILES: usize = 16_384, count;
    beyond "the one that was not used for longest is closed, and opened again when it is", tested "store/tests/bounds::the_cache_of_open_files_is_bounded";

    /// Handles remembered of each export, so that a listing need not ask the kernel for each again: a listing of 10^5 entries is
    /// remembered whole, in at most 30 MB.
    pub const KNOWN_HANDLES: usize = 1 << 18, count;
    beyond "another one is forgotten, and asked for again", tested "store/src/local/known::no_more_are_remembered_than_there_is_room_for";

    /// Files and directories of each export whose changes within one tick of the clock are counted, on kernels before 6.13 and file
    /// systems with coarse times: at most 4 MB.
    pub const CHANGE_COUNTS: usize = 1 << 16, count;
    beyond "another one's count is forgotten: clients that have it in memory ask for it once more", tested "store/src/local/change_times::no_more_counts_are_remembered_than_there_is_room_for";

    /// Files of each export whose locks by NFS clients are shown to processes of this host: each holds a descriptor. At most a sixteenth
    /// of the files that the process may open.
    pub const LOCKED_FILES: usize = 1_024, count;
    beyond "clients get their locks, and processes of this host do not see them", tested "store/src/local/host_locks::no_more_files_are_held_than_there_is_room_for";

    /// Files and directories of each export whose changes by programs of this host are noticed, because clients have delegations of them.
    /// The kernel keeps the inode of each in memory, some 1 KB. It allows a user `fs.fanotify.max_user_marks` in all.
    pub const WATCHED_NODES: usize = 1 << 16, count;
    beyond "further files and directories are not delegated", tested "store/src/local/watched_nodes::no_more_are_watched_than_there_is_room_for";

    /// Files made last by an exclusive CREATE whose verifiers are remembered, where their file system does not keep them (FAT).
    pub const REMEMBERED_VERIFIERS: usize = 1_024, count;
    beyond "the oldest is forgotten: its CREATE, sent again, is answered that the file exists", tested "store/src/local/exclusive::the_oldest_verifier_gives_way";

    /// Bytes that a COPY of NFSv4.2 copies before it is answered; it is answered after about 100 ms in any case.
    pub const COPY_MAX: u64 = 64 << 20, bytes;
    beyond "the reply says how much was copied, and the client asks for the rest", tested "store/tests/ranges::a_copy_is_bounded";
}
