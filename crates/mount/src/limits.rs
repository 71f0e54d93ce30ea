//! What processes that use a mount can make it hold.

howdah_limits::limits! {
    /// Calls that run at the same time, each on a thread of its own: as many as a server that is away can block.
    pub const CALLS_AT_ONCE_MAX: usize = 256, count;
    beyond "further calls wait, and can be interrupted while they do", tested "threads/src/lib::further_jobs_wait_for_a_free_thread_and_run_or_are_dropped_at_the_end";

    /// Calls that give new files their attributes at the same time, while the programs that made them go on.
    pub const SETTERS_MAX: usize = 64, count;
    beyond "further ones wait, and so does the close of these files", tested "mount/tests/new_files::a_new_file_takes_two_round_trips_however_it_is_made";

    /// Entries of a directory that are fetched before a program reads them.
    pub const LISTED_AHEAD_MAX: usize = 4096, count;
    beyond "the rest is fetched when the program has read these", tested "mount/tests/mounted::a_long_directory_is_listed_whole_while_it_changes";

    /// Names of the top directory that the kernel believes for ever, with `alone`.
    pub const TOP_NAMES_MAX: usize = 16_384, count;
    beyond "the kernel asks for further ones again after a second", tested "mount/src/belief::names_of_the_top_directory_are_bounded";

    /// Names that the kernel was told of within a second, and that it forgets when another client is about to change their directory.
    pub const LATELY_TOLD_MAX: usize = 65_536, count;
    beyond "the kernel believes further ones for up to a second", tested "mount/src/lately_told::names_are_bounded_and_those_of_long_ago_are_gone";

    /// Processes whose groups are remembered.
    pub const CALLERS_MAX: usize = 1024, count;
    beyond "all are forgotten and read again", tested "mount/src/who::callers_are_bounded";
}
