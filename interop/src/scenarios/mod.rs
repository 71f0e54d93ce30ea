//! The table of everything that runs, in order.

mod disturbed;
mod foreign_servers;
mod fuse;
mod heads;
mod host_tools;
mod kerberos;
mod kernel_client;
mod measurements;
mod nfs4;
mod nlm;
mod relays;
mod suites;
mod tls;

use crate::scenario::Scenario;

/// Every scenario: quick ones of the host first, then servers of other people, then the kernel client, then those that
/// disturb the server, and several servers.
pub fn all() -> Vec<Scenario> {
    [
        host_tools::SCENARIOS,
        foreign_servers::SCENARIOS,
        kernel_client::SCENARIOS,
        kerberos::SCENARIOS,
        nfs4::SCENARIOS,
        nlm::SCENARIOS,
        relays::SCENARIOS,
        fuse::SCENARIOS,
        tls::SCENARIOS,
        disturbed::SCENARIOS,
        heads::SCENARIOS,
    ]
    .concat()
}

/// What runs only when it is named.
pub fn when_named() -> Vec<Scenario> {
    [measurements::SCENARIOS, relays::NAMED, fuse::NAMED, suites::SCENARIOS, heads::NAMED].concat()
}

/// The scenario of that name.
pub fn find(name: &str) -> Option<Scenario> {
    all().into_iter().chain(when_named()).find(|scenario| scenario.name == name)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::{all, when_named};

    #[test]
    fn names_are_different_words() {
        let scenarios = [all(), when_named()].concat();
        let names: BTreeSet<_> = scenarios.iter().map(|scenario| scenario.name).collect();
        assert_eq!(names.len(), scenarios.len());
        assert!(names.iter().all(|name| name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-')));
    }
}
