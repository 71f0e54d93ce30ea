//! Warnings about a configuration that is valid.

use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::SystemTime;

use howdah_server::exports::SecurityFlavor;
use howdah_store::local::{HandleReuse, handle_reuse};
use howdah_tls::{CertificateFacts, ServerFiles};

use super::kerberos::open_beside_privacy;
use super::tls::ending;
use super::{
    ClientPattern, Durability, ExportConfig, KerberosConfig, KeytabTrouble, ServerConfig, Source, Squash,
    asks_kerberos,
};

impl ServerConfig {
    /// What its owner should know, one sentence each.
    pub fn warnings(&self) -> Vec<String> {
        self.warnings_as(rustix::process::geteuid().is_root())
    }

    /// The same for a server that runs as root, or as a user who cannot act as root for anybody.
    fn warnings_as(&self, is_root: bool) -> Vec<String> {
        let mut warnings = Vec::new();
        if let Some(delay) = self.experiment.delay {
            warnings.push(format!("every call waits {delay:?} (--delay): this is an experiment"));
        }
        warnings.extend(self.tls.as_ref().and_then(certificate));
        warnings.extend(self.of_kerberos());
        for export in &self.exports {
            let name = &export.name;
            if let Source::Memory(_) = export.source {
                warnings.push(format!(
                    "export {name} keeps its files in memory: they are lost when the server ends"
                ));
            }
            if export.durability == Durability::Async {
                warnings.push(format!(
                    "export {name} is async: if this machine fails, changes that clients believe to be safe are lost, \
                     and no client notices"
                ));
            }
            let open = |rule: &super::ClientRuleConfig| {
                rule.who == ClientPattern::Everyone
                    && rule.access.squash == Squash::None
                    // With Kerberos, only principals that the configuration names are root.
                    && rule.access.sec.contains(SecurityFlavor::Sys)
                    && !rule.access.read_only
            };
            let is_reached = self.listen.iter().any(|address| !address.ip().is_loopback());
            if is_root && is_reached && export.clients.iter().any(open) {
                warnings.push(format!(
                    "export {name} lets everyone on the network act as root in {}",
                    export.source
                ));
            }
            warnings.extend(open_beside_privacy(export));
            warnings.extend(idle_rules(export));
            warnings.extend(reused_handles(export));
            warnings.extend(self.exports.iter().filter(|inner| is_bypassed(export, inner)).map(|inner| {
                format!(
                    "export {} is inside export {name}: clients of {name} reach its files under the rules of {name}; \
                     move one of the directories if you do not want that",
                    inner.name
                )
            }));
            let state = self.state.canonicalize().unwrap_or_else(|_| self.state.clone());
            if export.source.directory().is_some_and(|path| state.starts_with(path)) {
                warnings.push(format!(
                    "the state directory {} is inside export {name}: anyone who can read it there can forge file handles; name another one with --state DIR",
                    state.display()
                ));
            }
        }
        warnings
    }

    /// What is wrong with the keytab, or that it is for nothing.
    fn of_kerberos(&self) -> Option<String> {
        if !asks_kerberos(&self.exports) {
            let is_said = self.kerberos != KerberosConfig::default();
            return is_said.then(|| {
                "[kerberos] has no effect: no export takes Kerberos; add sec = [\"sys\", \"krb5\"] to one"
                    .to_owned()
            });
        }
        match self.kerberos.keytab_trouble()? {
            KeytabTrouble::Error(what) | KeytabTrouble::Warning(what) => Some(what),
        }
    }
}

/// That the certificate cannot be read, or ends soon.
fn certificate(files: &ServerFiles) -> Option<String> {
    match CertificateFacts::of_file(&files.certificate) {
        Ok(facts) => ending(facts.first()?, SystemTime::now()),
        Err(error) => Some(format!("the TLS certificate cannot be read: {error}")),
    }
}

/// Whether an export's files are reached by way of another one that lets in others, or lets them do other things.
fn is_bypassed(outer: &ExportConfig, inner: &ExportConfig) -> bool {
    let (Some(inner_path), Some(outer_path)) = (inner.source.directory(), outer.source.directory()) else {
        return false;
    };
    let is_inside = inner_path != outer_path && inner_path.starts_with(outer_path);
    let has_other_rules = (&inner.clients, inner.set_id) != (&outer.clients, outer.set_id);
    // Another file system is seen only by way of an export that crosses mounts.
    let device = |path: &Path| std::fs::metadata(path).map(|found| found.dev()).ok();
    is_inside && has_other_rules && (outer.cross_mounts || device(inner_path) == device(outer_path))
}

/// That handles may come to name other files on this export's file system.
fn reused_handles(export: &ExportConfig) -> Option<String> {
    // What cannot be looked at cannot be served, which is reported elsewhere.
    let (kind, reuse) = handle_reuse(export.source.directory()?).ok()??;
    Some(format!("export {} is on {kind}{}", export.name, consequence(reuse)))
}

/// What reuse of handles does to clients, and what to do instead.
fn consequence(reuse: HandleReuse) -> String {
    let why = match reuse {
        HandleReuse::FileNumbers => "keeps neither file handles nor times of birth",
        HandleReuse::KernelHandles => "may use file handles again",
        HandleReuse::CopyUp => {
            return " without file handles that fit: a file gets another identity when it is first written, so clients lose it while \
                    they use it, and after a restart a handle may name another file; serve a directory on ext4, XFS or Btrfs, such \
                    as a volume, or mount the overlay with nfs_export=on,index=on and its layers on ext4"
                .to_owned();
        }
    };
    format!(
        ", which {why}: after a file is removed, a client that still has it open may read or write a new file in its place; serve a \
         directory on ext4, XFS or Btrfs"
    )
}

/// Rules for clients that an earlier one takes, all of them: the first that fits holds.
fn idle_rules(export: &ExportConfig) -> impl Iterator<Item = String> {
    let rules = export.clients.iter().map(|rule| &rule.who).enumerate();
    rules.filter_map(|(position, who)| {
        let taker = export.clients[..position].iter().map(|rule| &rule.who).find(|first| first.takes(who))?;
        Some(format!(
            "export {}: the rule for {who} never applies, because the rule for {taker} before it matches all of its clients; move it before that one, or remove it",
            export.name
        ))
    })
}

#[cfg(test)]
mod tests {
    use howdah_store::local::HandleReuse;

    use super::consequence;
    use crate::testing::one_export;
    use crate::{ClientRuleConfig, ServerConfig, Source, Squash};

    #[test]
    fn an_export_whose_rules_are_bypassed_by_another_is_told() {
        let home = tempfile::tempdir().expect("a directory");
        let (outer, inner) = (home.path().join("outer"), home.path().join("outer/inner"));
        std::fs::create_dir_all(&inner).expect("made");
        let mut config = one_export();
        let mut second = config.exports[0].clone();
        (config.exports[0].source, second.source) = (Source::Directory(outer), Source::Directory(inner));
        second.name = "/inner".parse().expect("a name");
        config.exports.push(second);
        assert_eq!(config.warnings(), [""; 0], "the same rules");
        config.exports[1].clients[0].access.read_only = true;
        let printed = config.warnings();
        assert!(printed.len() == 1 && printed[0].contains("export /inner is inside export"), "{printed:?}");
    }

    #[test]
    fn root_for_everyone_is_told_where_others_reach_it() {
        let mut config = one_export();
        config.exports[0].clients[0].access.squash = Squash::None;
        let printed = |listen: &[&str]| {
            let listen = listen.iter().map(|address| address.parse().expect("an address"));
            let config = ServerConfig { listen: listen.collect(), ..config.clone() };
            let count = |is_root| {
                let warnings = config.warnings_as(is_root);
                warnings.iter().filter(|warning| warning.contains("act as root")).count()
            };
            assert_eq!(count(false), 0, "a server of an ordinary user acts as that user alone");
            count(true)
        };
        assert_eq!(printed(&["127.0.0.1:2049", "[::1]:2049"]), 0, "nobody else is on this host");
        assert_eq!(printed(&["127.0.0.1:2049", "192.0.2.7:2049"]), 1);
        assert_eq!(printed(&["[::]:2049"]), 1);
        let listen = vec!["[::]:2049".parse().expect("an address")];
        let sec = crate::parse_flavors("krb5").expect("one");
        config.exports[0].clients[0].access.sec = sec;
        let warnings = ServerConfig { listen, ..config }.warnings_as(true);
        assert!(!warnings.iter().any(|warning| warning.contains("act as root")), "{warnings:?}");
    }

    #[test]
    fn what_kerberos_protects_for_some_alone_is_told() {
        let mut config = one_export();
        config.kerberos.keytab = Some("/nonexistent/keys".into());
        let mut printed = |flavors: &str| {
            let sec = crate::parse_flavors(flavors).expect("flavors");
            config.exports[0].clients[0].access.sec = sec;
            config.warnings()
        };
        for (flavors, parts) in [
            ("sys", &["[kerberos] has no effect"][..]),
            ("krb5:sys", &["/nonexistent/keys cannot be read"]),
            ("krb5p:sys", &["/nonexistent/keys cannot be read", "takes sys beside krb5p"]),
            ("krb5p", &["/nonexistent/keys cannot be read"]),
        ] {
            let printed = printed(flavors);
            assert_eq!(printed.len(), parts.len(), "{printed:?}");
            assert!(printed.iter().zip(parts).all(|(printed, part)| printed.contains(part)), "{printed:?}");
        }
    }

    #[test]
    fn an_export_whose_handles_may_name_other_files_is_told() {
        let mut config = one_export();
        config.exports[0].source = Source::Directory("/proc".into());
        let printed = config.warnings();
        assert!(
            printed.len() == 1 && printed[0].contains("export /data is on proc, which keeps neither"),
            "{printed:?}"
        );
    }

    #[test]
    fn each_reuse_of_handles_has_a_consequence_and_a_remedy() {
        for (reuse, why) in [
            (HandleReuse::FileNumbers, "neither file handles"),
            (HandleReuse::KernelHandles, "use file handles again"),
            (HandleReuse::CopyUp, "without file handles that fit: a file gets another identity"),
        ] {
            let printed = consequence(reuse);
            assert!(
                printed.contains(why) && printed.contains("serve a directory on ext4, XFS or Btrfs"),
                "{printed}"
            );
        }
    }

    #[test]
    fn a_rule_that_never_holds_is_told() {
        let mut config = one_export();
        let access = config.exports[0].clients[0].access;
        let rule = |text: &str| ClientRuleConfig { who: text.parse().expect("a pattern"), access };
        let mut idle = |patterns: &[&str]| {
            config.exports[0].clients = patterns.iter().map(|text| rule(text)).collect();
            config.warnings()
        };
        assert_eq!(idle(&["10.1.0.0/16", "10.0.0.0/8", "host", "fd00::/8", "*"]), [""; 0]);
        let printed = idle(&["10.0.0.0/8", "10.1.0.0/16", "host", "host", "*", "192.168.1.1"]);
        let wanted = [("10.1.0.0/16", "10.0.0.0/8"), ("host", "host"), ("192.168.1.1", "*")];
        assert_eq!(printed.len(), wanted.len(), "{printed:?}");
        for (printed, (rule, before)) in printed.iter().zip(wanted) {
            assert!(
                printed.contains(&format!(
                    "the rule for {rule} never applies, because the rule for {before} before"
                )),
                "{printed}"
            );
        }
    }
}
