//! How many files this process may have open: connections and files of clients count.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Takes all that the system allows: the usual soft limit is for programs that use select(2), which we do not. Gives how
/// many may be open then.
pub fn allow_many_open_files() -> usize {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    let allowed = match setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum }) {
        Ok(()) => maximum,
        Err(error) => {
            tracing::debug!(%error, "raising the limit of open files");
            current
        }
    };
    allowed.map_or(usize::MAX, |most| usize::try_from(most).unwrap_or(usize::MAX))
}
