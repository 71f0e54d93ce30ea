//! What the floors do.

use clap::ValueEnum;

/// The job of a floor, and the system calls that it takes per call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Job {
    /// fstat
    Stat,
    /// openat(O_PATH), statx, name_to_handle_at, close; fstat of the directory
    Lookup,
    /// fstat of the directory, openat(O_CREAT | O_EXCL), fstat, name_to_handle_at, close, fstat of the directory
    Create,
    /// fstat of the directory, unlinkat, fstat of the directory
    Remove,
    /// lseek, getdents, then statx and name_to_handle_at for each entry
    List,
    /// lseek, getdents, then statx for each entry: for a server that remembers the handles of the nodes that it sent
    ListKnown,
    /// fstat, pread
    Pread,
    /// fstat, pwrite, fstat
    Pwrite,
    /// send of a header with MSG_MORE, sendfile
    Sendfile,
    /// recvmsg of header and data into a buffer, pwrite
    ReceivePwrite,
    /// recv of the header, splice from the socket into a pipe and on into the file
    ReceiveSplice,
}

impl Job {
    /// The name that is typed and shown.
    pub fn name(self) -> String {
        self.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default()
    }
}
