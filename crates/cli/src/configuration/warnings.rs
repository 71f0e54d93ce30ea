//! What a good configuration still deserves to be told.

use super::{ClientPattern, Durability, ServerConfig, Squash};

impl ServerConfig {
    /// What its owner should know, one sentence each.
    pub fn warnings(&self) -> Vec<String> {
        let mut warnings = Vec::new();
        if let Some(delay) = self.experiment.delay {
            warnings.push(format!("every call waits {delay:?} (--delay): this is an experiment"));
        }
        for export in &self.exports {
            let name = &export.name;
            if export.durability == Durability::Async {
                warnings.push(format!(
                    "export {name} is async: if this machine fails, changes that clients believe to be safe are lost, \
                     and no client notices"
                ));
            }
            let open = |rule: &super::ClientRule| {
                rule.who == ClientPattern::Everyone
                    && rule.access.squash == Squash::None
                    && !rule.access.read_only
            };
            if export.clients.iter().any(open) {
                warnings.push(format!(
                    "export {name} lets everyone on the network act as root in {}",
                    export.path.display()
                ));
            }
            let state = self.state.canonicalize().unwrap_or_else(|_| self.state.clone());
            if state.starts_with(&export.path) {
                warnings.push(format!(
                    "the state directory {} lies inside export {name}: whoever may read it there can forge file \
                     handles; name another one with --state DIR",
                    state.display()
                ));
            }
        }
        warnings
    }
}
