//! How many files this process may have open: connections and files of clients count.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Takes all that the system allows: the usual soft limit is for programs that use select(2), which we do not.
pub fn allow_many_open_files() {
    let Rlimit { maximum, .. } = getrlimit(Resource::Nofile);
    if let Err(error) = setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum }) {
        tracing::debug!(%error, "raising the limit of open files");
    }
}
