//! The options of a client in an exports file, and what they mean here.

use howdah_server::exports::TlsPolicy;

use super::warning::Warning;
use crate::configuration::{Access, Durability, PrivilegedPorts, Squash};

/// What some clients of a Linux export may do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LinuxOptions {
    /// Access, squashing and ports.
    pub access: Access,
    /// When a change is answered.
    pub durability: Durability,
    /// Whether clients see what is mounted below.
    pub cross_mounts: bool,
    /// What must protect calls.
    pub tls: TlsPolicy,
    flavors: Flavors,
    /// Why no rule of howdah is as strict as this one.
    refusal: Option<String>,
}

/// What `sec=` said so far: it parts the options into those of each flavor.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Flavors {
    /// All that were named.
    named: Vec<String>,
    /// Whether the options that follow are of Kerberos alone.
    is_foreign: bool,
    /// Whether calls of AUTH_SYS or AUTH_NONE are taken.
    is_open: bool,
}

/// Options of Linux that change nothing here.
const SAME: [&str; 11] = [
    "no_subtree_check",
    "hide",
    "nocrossmnt",
    "wdelay",
    "no_wdelay",
    "no_acl",
    "no_pnfs",
    "auth_nlm",
    "secure_locks",
    "no_security_label",
    "nordirplus",
];

impl LinuxOptions {
    /// What Linux does unless told otherwise: read only, root squashed, ports below 1024, sync.
    pub fn usual() -> Self {
        Self {
            access: Access { read_only: true, privileged_ports: PrivilegedPorts::Always, ..Access::usual() },
            durability: Durability::Sync,
            cross_mounts: false,
            tls: TlsPolicy::Offered,
            flavors: Flavors::default(),
            refusal: None,
        }
    }

    /// These options, and those of a list like `rw,sync`.
    pub fn with(mut self, list: &str, line: usize, warnings: &mut Vec<Warning>) -> Self {
        for option in list.split(',').map(str::trim).filter(|option| !option.is_empty()) {
            if let Err(what) = self.apply(option) {
                warnings.push(Warning::new(line, format!("{option}: {what}")));
            }
        }
        self
    }

    /// Why clients of these options cannot be let in, if they cannot.
    pub fn refusal(&self) -> Option<String> {
        let is_closed = !self.flavors.named.is_empty() && !self.flavors.is_open;
        let closed = || format!("sec={}: no Kerberos", self.flavors.named.join(":"));
        self.refusal.clone().or_else(|| is_closed.then(closed))
    }

    /// Flavors that were offered besides those that howdah takes.
    pub fn left_out_flavors(&self) -> Option<String> {
        let named = self.flavors.named.iter().filter(|flavor| !is_ours(flavor));
        let left: Vec<&str> = named.map(String::as_str).collect();
        (!left.is_empty() && self.flavors.is_open).then(|| left.join(":"))
    }

    fn apply(&mut self, option: &str) -> Result<(), String> {
        let (key, value) = match option.split_once('=') {
            Some((key, value)) => (key, Some(value)),
            None => (option, None),
        };
        match (key, value) {
            ("sec", Some(flavors)) => self.sec(flavors),
            ("xprtsec", Some(kinds)) => self.transport(kinds),
            ("anonuid", Some(id)) => anonymous(id).map(|id| self.access.anonymous_user = id),
            ("anongid", Some(id)) => anonymous(id).map(|id| self.access.anonymous_group = id),
            ("refer" | "replicas", Some(_)) => {
                self.refusal =
                    Some(format!("{option}: no referrals; clients mount the other server themselves"));
                Ok(())
            }
            (key, _) => self.word(key),
        }
    }

    fn word(&mut self, word: &str) -> Result<(), String> {
        match word {
            "sync" => self.durability = Durability::Sync,
            "async" => self.durability = Durability::Async,
            "crossmnt" => self.cross_mounts = true,
            "ro" | "rw" | "secure" | "insecure" | "root_squash" | "no_root_squash" | "all_squash"
            | "no_all_squash" => self.of_flavor(word),
            word if SAME.contains(&word) => {}
            word => return Err(no_equal(word).to_owned()),
        }
        Ok(())
    }

    /// Options that `sec=` may give each flavor apart.
    fn of_flavor(&mut self, word: &str) {
        if self.flavors.is_foreign {
            return;
        }
        let access = &mut self.access;
        match word {
            "ro" => access.read_only = true,
            "rw" => access.read_only = false,
            "secure" => access.privileged_ports = PrivilegedPorts::Always,
            "insecure" => access.privileged_ports = PrivilegedPorts::Never,
            "all_squash" => access.squash = Squash::All,
            "no_all_squash" if access.squash == Squash::All => access.squash = Squash::Root,
            "root_squash" if access.squash == Squash::None => access.squash = Squash::Root,
            // all_squash takes root as well.
            "no_root_squash" if access.squash == Squash::Root => access.squash = Squash::None,
            _ => {}
        }
    }

    fn sec(&mut self, flavors: &str) -> Result<(), String> {
        let named: Vec<String> = flavors.split(':').map(str::to_owned).collect();
        let has = |words: [&str; 2]| named.iter().any(|flavor| words.contains(&flavor.as_str()));
        let (is_sys, is_none) = (has(["sys", "unix"]), has(["none", "null"]));
        self.flavors.is_foreign = !is_sys && !is_none;
        self.flavors.is_open |= is_sys || is_none;
        self.flavors.named.extend(named);
        if is_none && !is_sys {
            self.access.squash = Squash::All;
            return Err(
                "squash = \"all\" instead: calls act as the anonymous user, whatever user they name".into()
            );
        }
        Ok(())
    }

    fn transport(&mut self, kinds: &str) -> Result<(), String> {
        let kinds: Vec<&str> = kinds.split(':').collect();
        self.tls = match kinds[..] {
            ["none"] => TlsPolicy::Off,
            ["mtls"] => TlsPolicy::ClientCertificate,
            _ if kinds.iter().any(|kind| !["none", "tls", "mtls"].contains(kind)) => {
                self.refusal = Some(format!("xprtsec={}: not known", kinds.join(":")));
                return Ok(());
            }
            _ if kinds.contains(&"none") => TlsPolicy::Offered,
            _ => TlsPolicy::Required,
        };
        Ok(())
    }
}

fn is_ours(flavor: &str) -> bool {
    ["sys", "unix", "none", "null"].contains(&flavor)
}

fn anonymous(written: &str) -> Result<u32, String> {
    let id: i64 = written.parse().map_err(|_| "not a number; 65534 is used".to_owned())?;
    // -2 is how the user nobody was written.
    let id = if id < 0 { id + (1 << 32) } else { id };
    u32::try_from(id)
        .ok()
        .filter(|id| *id != u32::MAX)
        .ok_or_else(|| format!("not a user; 65534 is used (0 to {} can be)", u32::MAX - 1))
}

/// What to do where howdah has no such option.
fn no_equal(word: &str) -> &'static str {
    match word {
        "fsid" => {
            "left out: the id of an export is made of its name and path. Clients of NFSv4 that mounted an export \
             of fsid=0 as HOST:/ mount HOST:NAME now"
        }
        "subtree_check" => {
            "no such check: a client can reach a file that was moved out of the export by a handle that it has. \
             Export a file system of its own where that matters"
        }
        "nohide" => {
            "left out: set cross_mounts = true in the export around this one if clients are to see it without a \
             mount of its own"
        }
        "mp" | "mountpoint" => {
            "left out: the directory is served also while nothing is mounted there. Let the service require the \
             mount (RequiresMountsFor= in its systemd unit)"
        }
        "acl" => "no ACLs over NFS: the server's file system applies them, clients do not see them",
        "pnfs" => "no pNFS: clients read and write through the server",
        "security_label" => "no security labels: clients see none",
        _ => "howdah has no such option; left out",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(list: &str) -> (LinuxOptions, Vec<String>) {
        let mut warnings = Vec::new();
        let options = LinuxOptions::usual().with(list, 1, &mut warnings);
        (options, warnings.into_iter().map(|warning| warning.what).collect())
    }

    #[test]
    fn access_squashing_and_ports() {
        let usual = LinuxOptions::usual().access;
        for (list, expected) in [
            ("", usual),
            ("ro,sync,root_squash,no_subtree_check,wdelay,hide", usual),
            ("rw", Access { read_only: false, ..usual }),
            ("rw,ro", usual),
            ("insecure", Access { privileged_ports: PrivilegedPorts::Never, ..usual }),
            ("no_root_squash", Access { squash: Squash::None, ..usual }),
            ("no_root_squash,root_squash", usual),
            ("all_squash", Access { squash: Squash::All, ..usual }),
            ("no_root_squash,all_squash", Access { squash: Squash::All, ..usual }),
            ("all_squash,no_root_squash", Access { squash: Squash::All, ..usual }),
            ("no_root_squash,no_all_squash", Access { squash: Squash::None, ..usual }),
            ("all_squash,no_all_squash", usual),
            (
                "anonuid=1000,anongid=-2",
                Access { anonymous_user: 1000, anonymous_group: 4_294_967_294, ..usual },
            ),
        ] {
            let (options, warnings) = of(list);
            assert_eq!((options.access, &warnings[..]), (expected, &[][..]), "{list}");
        }
    }

    #[test]
    fn options_of_the_whole_export() {
        let (options, warnings) = of("async,crossmnt");
        assert!(options.durability == Durability::Async && options.cross_mounts && warnings.is_empty());
        for (list, expected) in [
            ("", TlsPolicy::Offered),
            ("xprtsec=none", TlsPolicy::Off),
            ("xprtsec=none:tls:mtls", TlsPolicy::Offered),
            ("xprtsec=tls:mtls", TlsPolicy::Required),
            ("xprtsec=mtls", TlsPolicy::ClientCertificate),
        ] {
            assert_eq!(of(list).0.tls, expected, "{list}");
        }
    }

    #[test]
    fn each_flavor_has_its_own_options() {
        let (options, _) = of("ro,sec=krb5p,rw,no_root_squash,sec=sys,all_squash");
        assert!(options.access.read_only && options.access.squash == Squash::All);
        assert_eq!((options.refusal(), options.left_out_flavors()), (None, Some("krb5p".to_owned())));
        assert_eq!(of("sec=sys").0.left_out_flavors(), None);
        let (options, warnings) = of("sec=none,rw");
        assert!(options.access.squash == Squash::All && options.refusal().is_none());
        assert!(warnings[0].contains("anonymous user"), "{warnings:?}");
    }

    #[test]
    fn what_cannot_be_as_strict_is_refused() {
        for (list, part) in [
            ("sec=krb5:krb5i,rw", "sec=krb5:krb5i: no Kerberos"),
            ("refer=/x@host", "no referrals"),
            ("replicas=/x@host", "no referrals"),
            ("xprtsec=quic", "not known"),
        ] {
            let refusal = of(list).0.refusal().expect(list);
            assert!(refusal.contains(part), "{list}: {refusal}");
        }
        assert_eq!(of("rw").0.refusal(), None);
    }

    #[test]
    fn what_has_no_equal_is_said() {
        for (list, part) in [
            ("subtree_check", "no such check"),
            ("fsid=0", "HOST:NAME"),
            ("fsid=1", "left out"),
            ("nohide", "cross_mounts"),
            ("mp=/x", "RequiresMountsFor"),
            ("mountpoint", "RequiresMountsFor"),
            ("acl", "no ACLs"),
            ("pnfs", "no pNFS"),
            ("security_label", "no security labels"),
            ("anonuid=bob", "not a number"),
            ("anongid=-1", "not a user"),
            ("anonuid=5000000000", "not a user"),
            ("rwx", "no such option"),
        ] {
            let (_, warnings) = of(list);
            assert!(warnings.len() == 1 && warnings[0].contains(part), "{list}: {warnings:?}");
        }
    }
}
