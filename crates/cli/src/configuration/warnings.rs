//! What a good configuration still deserves to be told.

use super::{ClientPattern, Durability, ExportConfig, ServerConfig, Squash};

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
            warnings.extend(idle_rules(export));
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

/// Rules for clients that an earlier one takes, all of them: the first that fits holds.
fn idle_rules(export: &ExportConfig) -> impl Iterator<Item = String> {
    let rules = export.clients.iter().map(|rule| &rule.who).enumerate();
    rules.filter_map(|(position, who)| {
        let taker = export.clients[..position].iter().map(|rule| &rule.who).find(|first| first.takes(who))?;
        Some(format!(
            "export {}: the rule for {who} never holds, since the one for {taker} before it takes all of its clients; put it before that, or leave it out",
            export.name
        ))
    })
}

#[cfg(test)]
mod tests {
    use crate::configuration::ClientRule;
    use crate::configuration::testing::one_export;

    #[test]
    fn a_rule_that_never_holds_is_told() {
        let mut config = one_export();
        let access = config.exports[0].clients[0].access;
        let rule = |text: &str| ClientRule { who: text.parse().expect("a pattern"), access };
        let mut idle = |patterns: &[&str]| {
            config.exports[0].clients = patterns.iter().map(|text| rule(text)).collect();
            config.warnings()
        };
        assert_eq!(idle(&["10.1.0.0/16", "10.0.0.0/8", "host", "fd00::/8", "*"]), [""; 0]);
        let told = idle(&["10.0.0.0/8", "10.1.0.0/16", "host", "host", "*", "192.168.1.1"]);
        let wanted = [("10.1.0.0/16", "10.0.0.0/8"), ("host", "host"), ("192.168.1.1", "*")];
        assert_eq!(told.len(), wanted.len(), "{told:?}");
        for (told, (rule, before)) in told.iter().zip(wanted) {
            assert!(
                told.contains(&format!("the rule for {rule} never holds, since the one for {before} before")),
                "{told}"
            );
        }
    }
}
