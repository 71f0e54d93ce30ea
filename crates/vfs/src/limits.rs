//! How much is kept in memory of what a server lists: a directory without an end must not use it up.

howdah_limits::limits! {
    /// Names of one directory that `howdah ls` sorts: with all attributes `howdah ls -l` takes some 170 MB.
    pub const SORTED_NAMES_MAX: usize = 200_000, count;
    beyond "an error; `-U` lists such a directory without sorting", tested "vfs/src/listing/batches::a_directory_without_an_end_is_an_error_or_a_stream";

    /// Directories that `howdah ls -R` has found and not listed yet.
    pub const DIRECTORIES_LEFT_MAX: usize = 200_000, count;
    beyond "an error, and the others of that directory are left out", tested "cli/src/commands/ls::directories_that_wait_are_bounded";

    /// The longest path of a directory whose directories `howdah ls -R` lists: the longest that programs can use (`PATH_MAX`).
    pub const LISTED_PATH_MAX: usize = 4096, bytes;
    beyond "an error, and the directories in it are left out", tested "cli/src/commands/ls::directories_that_wait_are_bounded";
}
