//! Who clients are: the addresses of named hosts, the hosts of netgroups, and the names of those who call.

use std::sync::Arc;

use anyhow::{Result, bail};
use howdah_config::{ClientPattern, ExportConfig};
use howdah_server::exports::{HostDirectory, Netgroup};

use super::host_source::SystemHosts;
use super::{ClientNames, Netgroups};

/// What is known of clients that rules name.
pub struct ClientDirectory {
    /// The addresses of host names in rules.
    pub names: ClientNames,
    netgroups: Netgroups,
    hosts: Arc<HostDirectory>,
}

impl ClientDirectory {
    /// For the rules of these exports.
    ///
    /// # Errors
    /// A netgroup is missing.
    pub fn read(exports: &[ExportConfig]) -> Result<Self> {
        let (netgroups, hosts) = (netgroups(exports)?, Arc::new(HostDirectory::new(SystemHosts)));
        Ok(Self { names: ClientNames::default().looked_up(exports), netgroups, hosts })
    }

    /// The same for the rules of other exports. Names of clients that called are kept.
    ///
    /// # Errors
    /// A netgroup is missing.
    pub fn read_again(&self, exports: &[ExportConfig]) -> Result<Self> {
        let (netgroups, hosts) = (netgroups(exports)?, Arc::clone(&self.hosts));
        Ok(Self { names: self.names.looked_up(exports), netgroups, hosts })
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

/// The netgroups of this host, if a rule is for one. If one is missing, its hosts would get the rights of a later rule.
fn netgroups(exports: &[ExportConfig]) -> Result<Netgroups> {
    let rules = exports.iter().flat_map(|export| export.clients.iter().map(move |rule| (export, rule)));
    let named: Vec<_> = rules
        .filter_map(|(export, rule)| match &rule.who {
            ClientPattern::Netgroup(name) => Some((&export.name, name)),
            _ => None,
        })
        .collect();
    if named.is_empty() {
        return Ok(Netgroups::default());
    }
    let netgroups = Netgroups::read()?;
    for (export, name) in named {
        if let Some(missing) = netgroups.missing(name) {
            bail!(
                "export {export}: a client rule names @{name}, and /etc/netgroup has no netgroup {missing}; \
                 add it to that file (getent netgroup {missing} prints it), or remove the rule"
            );
        }
    }
    Ok(netgroups)
}
