//! Who clients are: the addresses of named hosts, the hosts of netgroups, and the names of those who call.

use std::sync::Arc;

use howdah_server::exports::{HostDirectory, Netgroup};

use super::host_source::SystemHosts;
use super::{ClientNames, Netgroups};
use crate::configuration::{ClientPattern, ExportConfig};

/// What is known of clients that rules name.
pub struct ClientDirectory {
    /// The addresses of host names in rules.
    pub names: ClientNames,
    netgroups: Netgroups,
    hosts: Arc<HostDirectory>,
}

impl ClientDirectory {
    /// For the rules of these exports.
    pub fn read(exports: &[ExportConfig]) -> Self {
        let hosts = Arc::new(HostDirectory::new(SystemHosts));
        Self { names: ClientNames::default().looked_up(exports), netgroups: netgroups(exports), hosts }
    }

    /// The same for the rules of other exports. Names of clients that called are kept.
    pub fn read_again(&self, exports: &[ExportConfig]) -> Self {
        let hosts = Arc::clone(&self.hosts);
        Self { names: self.names.looked_up(exports), netgroups: netgroups(exports), hosts }
    }

    /// The hosts of a netgroup.
    pub fn netgroup(&self, name: &str) -> Netgroup {
        self.netgroups.of(name)
    }

    /// Where the names of clients are looked up.
    pub fn hosts(&self) -> Arc<HostDirectory> {
        Arc::clone(&self.hosts)
    }
}

/// The netgroups of this host, if a rule is for one. Those that are not there take nobody, which the log says.
fn netgroups(exports: &[ExportConfig]) -> Netgroups {
    let named = |export: &ExportConfig| -> Vec<String> {
        let names = export.clients.iter().filter_map(|rule| match &rule.who {
            ClientPattern::Netgroup(name) => Some(name.clone()),
            _ => None,
        });
        names.collect()
    };
    let named: Vec<(&ExportConfig, String)> =
        exports.iter().flat_map(|export| named(export).into_iter().map(move |name| (export, name))).collect();
    if named.is_empty() {
        return Netgroups::default();
    }
    let netgroups = Netgroups::read();
    for (export, name) in named.iter().filter(|(_, name)| !netgroups.has(name)) {
        tracing::warn!(
            export = %export.name,
            "/etc/netgroup has no netgroup {name}: nobody is in it. Write it there (getent netgroup {name}), then reload"
        );
    }
    netgroups
}
