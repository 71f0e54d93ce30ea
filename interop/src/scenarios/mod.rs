//! The table of everything that runs, in order.

mod disturbed;
mod foreign_servers;
mod host_tools;
mod kernel_client;

use crate::scenario::Scenario;

/// Every scenario: quick ones of the host first, then servers of other people, then the kernel client, then those that
/// disturb the server.
pub fn all() -> Vec<Scenario> {
    [host_tools::SCENARIOS, foreign_servers::SCENARIOS, kernel_client::SCENARIOS, disturbed::SCENARIOS]
        .concat()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::all;

    #[test]
    fn names_are_different_words() {
        let names: BTreeSet<_> = all().iter().map(|scenario| scenario.name).collect();
        assert_eq!(names.len(), all().len());
        assert!(names.iter().all(|name| name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-')));
    }
}
