//! A call that the server denies since it does not know the caller's keys any more: a server that restarted knows none.

/// So often a call is made again with new keys.
const TRIES: u32 = 2;

/// The tries of one call.
#[derive(Debug, Default)]
pub(crate) struct NewKeys(u32);

impl NewKeys {
    /// Whether to make the call again.
    pub(crate) fn next(&mut self) -> bool {
        self.0 += 1;
        self.0 <= TRIES
    }
}
