//! Exports as howdah's configuration file has them. What is howdah's default is left out.

use std::fmt::Write;

use howdah_server::exports::{SecurityFlavors, TlsPolicy};

use crate::{ANONYMOUS, ClientAccess, ClientPattern, Durability, ExportName, PrivilegedPorts, Squash};

/// An export to be written.
pub struct WrittenExport {
    /// Where it begins in the exports file.
    pub line: usize,
    /// What clients mount, and the directory.
    pub name: ExportName,
    /// When a change is answered.
    pub durability: Durability,
    /// Whether clients see what is mounted below.
    pub cross_mounts: bool,
    /// What must protect calls. If a certificate is needed, the export is written as a comment.
    pub tls: TlsPolicy,
    /// Who may mount it, the first that fits counts. At least one.
    pub rules: Vec<WrittenRule>,
}

/// Some clients, and what they may do.
pub struct WrittenRule {
    /// The clients.
    pub who: ClientPattern,
    /// What they may do.
    pub access: ClientAccess,
}

const HEAD: &str = "\
# Written by `howdah exports --from`. Check it with `howdah check FILE`.
# As in Linux, clients need a port below 1024 unless the export was `insecure`.
# Unlike Linux, clients cannot set set-user-ID bits: set_id = true allows it.
";

const OF_KERBEROS: &str = "\
# Kerberos: howdah reads /etc/krb5.keytab, unless [kerberos] names another keytab.
# A client's root is a machine there: principals in [kerberos] can make it root.
";

/// The text of the file.
pub fn write(exports: &[WrittenExport]) -> String {
    let has_kerberos =
        |export: &WrittenExport| export.rules.iter().any(|rule| rule.access.sec.has_kerberos());
    let kerberos = if exports.iter().any(has_kerberos) { OF_KERBEROS } else { "" };
    exports.iter().fold(HEAD.to_owned() + kerberos, |text, export| {
        let lines = lines(export);
        let mark = if export.tls.needs_tls() { "# " } else { "" };
        text + "\n" + &lines.lines().map(|line| format!("{mark}{line}\n")).collect::<String>()
    })
}

fn lines(export: &WrittenExport) -> String {
    let name = quoted(export.name.as_str());
    let mut text = format!("[[export]] # line {}\nname = {name}\npath = {name}\n", export.line);
    if export.durability == Durability::Async {
        text += "durability = \"async\"\n";
    }
    if export.cross_mounts {
        text += "cross_mounts = true\n";
    }
    if export.tls != TlsPolicy::default() {
        let _ = writeln!(text, "tls = {}", quoted(export.tls.name()));
    }
    let shared = export.rules[0].access;
    if export.rules.iter().all(|rule| rule.access == shared) {
        text.extend(settings(shared).iter().map(|setting| format!("{setting}\n")));
        let clients: Vec<String> = export.rules.iter().map(|rule| quoted(&rule.who.to_string())).collect();
        if clients != ["\"*\""] {
            let _ = writeln!(text, "clients = [{}]", clients.join(", "));
        }
        return text;
    }
    text += "clients = [\n";
    for rule in &export.rules {
        let allow = format!("allow = {}", quoted(&rule.who.to_string()));
        let _ = writeln!(text, "    {{ {} }},", [vec![allow], settings(rule.access)].concat().join(", "));
    }
    text + "]\n"
}

/// The settings that are not howdah's defaults.
fn settings(access: ClientAccess) -> Vec<String> {
    let mut settings = Vec::new();
    if access.read_only {
        settings.push("read_only = true".to_owned());
    }
    match access.privileged_ports {
        PrivilegedPorts::Always => settings.push("privileged_ports = true".to_owned()),
        PrivilegedPorts::Never => settings.push("privileged_ports = false".to_owned()),
        PrivilegedPorts::Local => {}
    }
    if access.squash != Squash::Root {
        settings.push(format!("squash = {}", quoted(&access.squash.to_string())));
    }
    if access.sec != SecurityFlavors::SYS {
        let flavors = access.sec.as_slice().iter().map(|flavor| quoted(flavor.name())).collect::<Vec<_>>();
        settings.push(format!("sec = [{}]", flavors.join(", ")));
    }
    if access.anonymous_user != ANONYMOUS {
        settings.push(format!("anonymous_user = {}", access.anonymous_user));
    }
    if access.anonymous_group != ANONYMOUS {
        settings.push(format!("anonymous_group = {}", access.anonymous_group));
    }
    settings
}

fn quoted(text: &str) -> String {
    toml::Value::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn export(rules: &[(&str, ClientAccess)]) -> WrittenExport {
        let rules = rules
            .iter()
            .map(|(who, access)| WrittenRule { who: who.parse().expect("good"), access: *access });
        WrittenExport {
            line: 3,
            name: "/srv/a \"b\"".parse().expect("good"),
            durability: Durability::Sync,
            cross_mounts: false,
            tls: TlsPolicy::Offered,
            rules: rules.collect(),
        }
    }

    #[test]
    fn defaults_are_left_out_and_shared_settings_are_written_once() {
        let usual = ClientAccess::usual();
        let text = lines(&export(&[("*", usual)]));
        assert_eq!(text, "[[export]] # line 3\nname = '/srv/a \"b\"'\npath = '/srv/a \"b\"'\n");
        let text = lines(&export(&[
            ("a", ClientAccess { read_only: true, ..usual }),
            ("*", ClientAccess { read_only: true, ..usual }),
        ]));
        assert!(text.ends_with("read_only = true\nclients = [\"a\", \"*\"]\n"), "{text}");
        let other = ClientAccess { squash: Squash::All, anonymous_user: 7, anonymous_group: 8, ..usual };
        let text = lines(&export(&[("a", other), ("*", usual)]));
        let expected = "clients = [\n    { allow = \"a\", squash = \"all\", anonymous_user = 7, anonymous_group = 8 },\n    \
                        { allow = \"*\" },\n]\n";
        assert!(text.ends_with(expected), "{text}");
    }

    #[test]
    fn flavors_are_written_with_a_word_about_the_keytab() {
        let sec = crate::parse_flavors("krb5p:krb5").expect("two");
        let text = write(&[export(&[("*", ClientAccess { sec, ..ClientAccess::usual() })])]);
        assert!(
            text.ends_with("\nsec = ['krb5p', 'krb5']\n")
                || text.ends_with("\nsec = [\"krb5p\", \"krb5\"]\n"),
            "{text}"
        );
        assert!(text.contains("# Kerberos: howdah reads /etc/krb5.keytab"), "{text}");
        assert!(!write(&[export(&[("*", ClientAccess::usual())])]).contains("Kerberos"));
    }

    #[test]
    fn what_needs_a_certificate_is_a_comment() {
        let text =
            write(&[WrittenExport { tls: TlsPolicy::Required, ..export(&[("*", ClientAccess::usual())]) }]);
        assert!(
            text.contains("\n# [[export]] # line 3\n# name") && text.ends_with("\n# tls = \"required\"\n"),
            "{text}"
        );
    }
}
