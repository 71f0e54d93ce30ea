//! Kerberos of a server: its keytab, and which principals are which users. Which flavors are taken, the exports say.

use std::collections::HashMap;
use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use howdah_server::exports::{PrincipalSettings, SecurityFlavor, SecurityFlavors};
use toml::Spanned;
use toml::de::DeValue;

use super::section::{Section, absolute, kind, text};
use super::{ClientRuleConfig, ExportConfig};

/// The keytab of the system, where krb5.conf names no other.
const SYSTEM_KEYTAB: &str = "/etc/krb5.keytab";

/// Bits of a mode: everybody may read, and the file's group may.
const EVERYBODY: u32 = 0o004;
const GROUP: u32 = 0o040;

/// What `[kerberos]` says, and the flag of its keytab.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct KerberosConfig {
    /// The server's keys; `None`: the system's keytab.
    pub keytab: Option<PathBuf>,
    /// How principals become users of this host.
    pub principals: PrincipalSettings,
}

/// What is wrong with a keytab.
#[derive(Debug, PartialEq, Eq)]
pub enum KeytabTrouble {
    /// The server must not use it, or cannot.
    Error(String),
    /// Its owner should know.
    Warning(String),
}

impl KerberosConfig {
    /// The file of the server's keys.
    pub fn keytab(&self) -> &Path {
        self.keytab.as_deref().unwrap_or(Path::new(SYSTEM_KEYTAB))
    }

    /// What is wrong with the keytab, as far as this process may look.
    pub fn keytab_trouble(&self) -> Option<KeytabTrouble> {
        let path = self.keytab();
        let shown = path.display();
        // What cannot be read here may be by the server.
        let has_no_key = fs::read(path).is_ok_and(|text| !matches!(text[..], [5, 1 | 2, _, ..]));
        let no_key = || Err(io::Error::other("it is no keytab, or has no key"));
        let metadata = match if has_no_key { no_key() } else { path.metadata() } {
            Ok(metadata) => metadata,
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => return None,
            Err(error) => {
                return Some(KeytabTrouble::Error(format!(
                    "the keytab {shown} cannot be read: {error}; add the key of nfs/HOST.DOMAIN to it (kadmin: ktadd -k {shown} \
                     nfs/HOST.DOMAIN), or name another file by `keytab` in [kerberos] (--keytab)"
                )));
            }
        };
        let mode = metadata.permissions().mode();
        if mode & EVERYBODY != 0 {
            return Some(KeytabTrouble::Error(format!(
                "every user of this host can read the keytab {shown}, and so can act as this server; run chmod 600 {shown}, then \
                 create new keys (kadmin: ktadd)"
            )));
        }
        (mode & GROUP != 0).then(|| {
            KeytabTrouble::Warning(format!(
                "the group of the keytab {shown} can read it; if you do not want that, run chmod 600 {shown}"
            ))
        })
    }
}

/// Reads `[kerberos]`.
pub fn kerberos(section: &mut Section<'_, '_>) -> KerberosConfig {
    let Some(value) = section.raw("kerberos") else { return KerberosConfig::default() };
    let DeValue::Table(table) = value.get_ref() else {
        let what = format!("`kerberos`: expected [kerberos], found {}", kind(value.get_ref()));
        section.problem(value.span(), what);
        return KerberosConfig::default();
    };
    let mut section = Section::new("[kerberos]", table, value.span(), section.problems());
    let keytab = section.setting("keytab", absolute).map(Spanned::into_inner);
    let realms = section.setting("realms", realms).map(Spanned::into_inner).unwrap_or_default();
    let table = principals(&mut section);
    let id_domain = section.setting("id_domain", domain).map(Spanned::into_inner);
    section.finish();
    KerberosConfig { keytab, principals: PrincipalSettings { table, realms, id_domain } }
}

/// One realm, or a list of them.
fn realms(value: &DeValue<'_>) -> Result<Vec<String>, String> {
    let realm = |value: &DeValue<'_>| match text(value)? {
        realm if is_word(realm) && !realm.contains('@') => Ok(realm.to_owned()),
        _ => Err("expected a realm, such as \"EXAMPLE.ORG\"".to_owned()),
    };
    match value {
        DeValue::Array(items) => items.iter().map(|item| realm(item.get_ref())).collect(),
        value => realm(value).map(|realm| vec![realm]),
    }
}

fn domain(value: &DeValue<'_>) -> Result<String, String> {
    match text(value)? {
        domain if is_word(domain) && !domain.contains('@') => Ok(domain.to_owned()),
        _ => Err("expected a domain, such as \"example.org\"".to_owned()),
    }
}

fn principals(section: &mut Section<'_, '_>) -> HashMap<String, String> {
    let mut found = HashMap::new();
    let Some(value) = section.raw("principals") else { return found };
    let DeValue::Table(table) = value.get_ref() else {
        let what = format!(
            "`principals`: expected a table such as {{ \"alice@EXAMPLE.ORG\" = \"alice\" }}, found {}",
            kind(value.get_ref())
        );
        section.problem(value.span(), what);
        return found;
    };
    for (principal, user) in table.iter() {
        let name = principal.get_ref();
        let has_realm =
            name.rsplit_once('@').is_some_and(|(user, realm)| !user.is_empty() && !realm.is_empty());
        if !has_realm {
            let what =
                format!("`principals`: {name}: expected a principal with its realm, as alice@EXAMPLE.ORG");
            section.problem(principal.span(), what);
        }
        match text(user.get_ref()) {
            Ok(user) if is_word(user) => drop(found.insert(name.to_string(), user.to_owned())),
            Ok(_) => {
                section.problem(user.span(), format!("`principals`: {name}: expected the name of a user"))
            }
            Err(what) => section.problem(user.span(), format!("`principals`: {name}: {what}")),
        }
    }
    found
}

fn is_word(text: &str) -> bool {
    !text.is_empty() && !text.contains(|char: char| char.is_whitespace() || char.is_control() || char == ':')
}

/// One flavor, or a list in the order of preference.
pub fn flavors(value: &DeValue<'_>) -> Result<SecurityFlavors, String> {
    let flavor = |value: &DeValue<'_>| text(value)?.parse::<SecurityFlavor>();
    let list = match value {
        DeValue::Array(items) => {
            items.iter().map(|item| flavor(item.get_ref())).collect::<Result<Vec<_>, _>>()?
        }
        value => vec![flavor(value)?],
    };
    SecurityFlavors::new(list)
        .ok_or_else(|| "an empty list: nobody could use the export; leave it out for \"sys\"".to_owned())
}

/// The same as a flag has it: `krb5:krb5p`, or with commas as other flags have lists.
pub fn parse_flavors(written: &str) -> Result<SecurityFlavors, String> {
    let list = written.split([':', ',']).map(str::parse::<SecurityFlavor>).collect::<Result<Vec<_>, _>>()?;
    SecurityFlavors::new(list).ok_or_else(|| "expected sys, krb5, krb5i or krb5p".to_owned())
}

/// Whether any export takes calls of Kerberos.
pub fn asks_kerberos(exports: &[ExportConfig]) -> bool {
    let takes = |rule: &ClientRuleConfig| rule.access.sec.has_kerberos();
    exports.iter().any(|export| export.clients.iter().any(takes))
}

/// That what is encrypted for some is open to others.
pub fn open_beside_privacy(export: &ExportConfig) -> Option<String> {
    let is_open = |rule: &&ClientRuleConfig| {
        rule.access.sec.contains(SecurityFlavor::Sys) && rule.access.sec.contains(SecurityFlavor::Krb5p)
    };
    let rule = export.clients.iter().find(is_open)?;
    Some(format!(
        "export {}: the rule for {} takes sys beside krb5p: hosts without a ticket reach the same files, unencrypted, as any user; \
         for protection, name krb5p alone",
        export.name, rule.who
    ))
}

#[cfg(test)]
mod tests {
    use std::fs::Permissions;

    use super::*;
    use crate::{ServerConfig, load_text};

    fn load(text: &str) -> Result<ServerConfig, String> {
        let text = format!("state = '/nonexistent'\n{text}");
        load_text(Path::new("x"), text).map_err(|error| error.to_string())
    }

    const EXPORT: &str = "[[export]]\nname = '/usr'\npath = '/usr'\n";

    #[test]
    fn a_section_says_who_is_who() {
        let config = load(&format!(
            "[kerberos]\nkeytab = '/k'\nid_domain = 'a.org'\nrealms = ['A.ORG', 'B.ORG']\nprincipals = {{ 'host/b1@A.ORG' = 'root' }}\n{EXPORT}"
        ))
        .expect("good");
        assert_eq!(config.kerberos.keytab(), Path::new("/k"));
        assert_eq!(config.kerberos.principals.realms, ["A.ORG", "B.ORG"]);
        assert_eq!(config.kerberos.principals.id_domain.as_deref(), Some("a.org"));
        assert_eq!(config.kerberos.principals.table["host/b1@A.ORG"], "root");
        let one = load(&format!("[kerberos]\nrealms = 'A.ORG'\n{EXPORT}")).expect("good").kerberos;
        assert_eq!((one.principals.realms, one.keytab), (vec!["A.ORG".to_owned()], None));
        let none = load(EXPORT).expect("good");
        assert!(none.kerberos == KerberosConfig::default() && !asks_kerberos(&none.exports));
    }

    #[test]
    fn what_is_wrong_is_told_in_a_sentence() {
        for (text, part) in [
            ("kerberos = 1", "expected [kerberos], found a number"),
            ("[kerberos]\nkeytab = 'k'", "starts with a slash"),
            ("[kerberos]\nrealm = 'A'", "[kerberos] has no setting `realm`"),
            ("[kerberos]\nrealms = ['a@B']", "expected a realm"),
            ("[kerberos]\nid_domain = '@a'", "expected a domain"),
            ("[kerberos]\nprincipals = 'a'", "expected a table"),
            ("[kerberos]\nprincipals = { alice = 'alice' }", "with its realm"),
            ("[kerberos]\nprincipals = { 'alice@A' = 1 }", "expected a string"),
            ("[kerberos]\nprincipals = { 'alice@A' = '' }", "the name of a user"),
        ] {
            let message = load(&format!("{text}\n{EXPORT}")).expect_err(text);
            assert!(message.contains(part), "{text}: {message}");
        }
    }

    #[test]
    fn rules_have_the_flavors_of_their_export_or_their_own() {
        let text = "sec = ['krb5p', 'sys']\nclients = ['10.0.0.1', { allow = '*', sec = 'krb5i' }]\n";
        let config = load(&format!("{EXPORT}{text}")).expect("good");
        let flavors: Vec<_> =
            config.exports[0].clients.iter().map(|rule| rule.access.sec.to_string()).collect();
        assert_eq!(flavors, ["krb5p:sys", "krb5i"]);
        assert!(asks_kerberos(&config.exports));
        for (text, part) in [
            ("sec = ['krb4']", "expected sys, krb5, krb5i or krb5p"),
            ("sec = []", "an empty list"),
            ("sec = 1", "expected a string"),
        ] {
            let message = load(&format!("{EXPORT}{text}\n")).expect_err(text);
            assert!(message.contains(part), "{text}: {message}");
        }
    }

    #[test]
    fn flags_name_flavors_as_exports_files_do() {
        for written in ["krb5p:sys", "krb5p,sys"] {
            assert_eq!(parse_flavors(written).expect("two").to_string(), "krb5p:sys");
        }
        for wrong in ["", "krb5;sys", "krb5:", "none"] {
            assert!(parse_flavors(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_keytab_is_for_the_server_alone() {
        let home = tempfile::tempdir().expect("a directory");
        let keytab = home.path().join("krb5.keytab");
        let config = KerberosConfig { keytab: Some(keytab.clone()), ..KerberosConfig::default() };
        let Some(KeytabTrouble::Error(what)) = config.keytab_trouble() else { panic!("it is not there") };
        assert!(what.contains("cannot be read") && what.contains("ktadd"), "{what}");
        fs::write(&keytab, "").expect("written");
        let Some(KeytabTrouble::Error(what)) = config.keytab_trouble() else { panic!("it is empty") };
        assert!(what.contains("has no key"), "{what}");
        fs::write(&keytab, [5, 2, 0]).expect("written");
        for (mode, is_error, part) in
            [(0o644, true, "every user"), (0o640, false, "the group"), (0o600, false, "")]
        {
            fs::set_permissions(&keytab, Permissions::from_mode(mode)).expect("set");
            let message = match config.keytab_trouble() {
                Some(KeytabTrouble::Error(what)) => (true, what),
                Some(KeytabTrouble::Warning(what)) => (false, what),
                None => (false, String::new()),
            };
            assert!(
                message.0 == is_error && message.1.contains(part) && message.1.is_empty() == part.is_empty(),
                "{message:?}"
            );
        }
    }
}
