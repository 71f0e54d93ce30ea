//! The options of a client in an exports file, and what they mean here.

use howdah_server::exports::{SecurityFlavor, SecurityFlavors, TlsPolicy};

use super::warning::Warning;
use crate::spelling::nearest;
use crate::{ClientAccess, Durability, PrivilegedPorts, Squash};

/// What some clients of a Linux export may do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LinuxOptions {
    /// Access, squashing and ports, of all flavors or those that `sec=` does not name apart.
    access: ClientAccess,
    /// When a change is answered.
    pub durability: Durability,
    /// Whether clients see what is mounted below.
    pub cross_mounts: bool,
    /// What must protect calls.
    pub tls: TlsPolicy,
    /// What `sec=` said: flavors, with the options that followed it.
    parts: Vec<FlavorOptions>,
    /// Flavors of `sec=` that howdah has not.
    unknown: Vec<String>,
    /// Why no rule of howdah is as strict as this one.
    refusal: Option<String>,
}

/// Flavors that `sec=` named together. Options before the first `sec=` are theirs too.
#[derive(Debug, Clone, PartialEq, Eq)]
struct FlavorOptions {
    flavors: Vec<SecurityFlavor>,
    access: ClientAccess,
}

/// Options that `sec=` may give each flavor apart.
const OF_FLAVORS: [&str; 8] =
    ["ro", "rw", "secure", "insecure", "root_squash", "no_root_squash", "all_squash", "no_all_squash"];

/// Options of Linux that change nothing here.
const SAME: [&str; 11] = [
    "no_subtree_check",
    "hide",
    "nocrossmnt",
    "wdelay",
    "no_wdelay",
    "acl",
    "no_pnfs",
    "auth_nlm",
    "secure_locks",
    "no_security_label",
    "nordirplus",
];

impl LinuxOptions {
    /// The defaults of Linux: read only, root squashed, ports below 1024, sync.
    pub fn usual() -> Self {
        Self {
            access: ClientAccess {
                read_only: true,
                privileged_ports: PrivilegedPorts::Always,
                ..ClientAccess::usual()
            },
            durability: Durability::Sync,
            cross_mounts: false,
            tls: TlsPolicy::Offered,
            parts: Vec::new(),
            unknown: Vec::new(),
            refusal: None,
        }
    }

    /// These options, and those of a list like `rw,sync`.
    pub fn with(mut self, list: &str, line: usize, warnings: &mut Vec<Warning>) -> Self {
        for option in list.split(',').map(str::trim).filter(|option| !option.is_empty()) {
            if let Err(what) = self.apply(option) {
                let key = option.split('=').next().unwrap_or_default();
                let is_known = key == "sec" || !without_equal(key).is_empty();
                let warn = if is_known { Warning::new } else { Warning::loss };
                warnings.push(warn(line, format!("{option}: {what}")));
            }
        }
        self
    }

    /// Why clients of these options cannot be let in, if they cannot.
    pub fn refusal(&self) -> Option<String> {
        let is_closed = !self.unknown.is_empty() && self.named().next().is_none();
        let closed = || format!("sec={}: howdah has no such flavor", self.unknown.join(":"));
        self.refusal.clone().or_else(|| is_closed.then(closed))
    }

    /// What they may do. A rule of howdah has the same options for each flavor: where they differ, the strictest.
    pub fn access(&self) -> ClientAccess {
        let Some(sec) = SecurityFlavors::new(self.named()) else { return self.access };
        let of_all = |access: ClientAccess| ClientAccess {
            sec,
            anonymous_user: self.access.anonymous_user,
            anonymous_group: self.access.anonymous_group,
            ..access
        };
        let parts = self.parts.iter().filter(|part| !part.flavors.is_empty()).map(|part| of_all(part.access));
        parts.reduce(|one, other| one.and(other).expect("the flavors are the same")).unwrap_or(self.access)
    }

    /// What changes for the flavors that were named, in words.
    pub fn of_flavors(&self) -> impl Iterator<Item = String> {
        let unknown = (!self.unknown.is_empty())
            .then(|| format!("sec={}: howdah has no such flavor; left out", self.unknown.join(":")));
        let differ = self.parts.iter().any(|part| part.access != self.parts[0].access);
        let strictest = differ.then(|| {
            "options of sec= differ: the strictest apply to all flavors, which one rule of howdah has in common".to_owned()
        });
        unknown.into_iter().chain(strictest)
    }

    fn named(&self) -> impl Iterator<Item = SecurityFlavor> {
        self.parts.iter().flat_map(|part| part.flavors.iter().copied())
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
            word if OF_FLAVORS.contains(&word) => self.of_flavor(word),
            word if SAME.contains(&word) => {}
            word => return Err(no_equal(word)),
        }
        Ok(())
    }

    /// Options that `sec=` may give each flavor apart.
    fn of_flavor(&mut self, word: &str) {
        let access = self.parts.last_mut().map_or(&mut self.access, |part| &mut part.access);
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

    fn sec(&mut self, written: &str) -> Result<(), String> {
        let mut part = FlavorOptions { flavors: Vec::new(), access: self.access };
        let mut is_none = false;
        for word in written.split(':') {
            match word {
                "unix" => part.flavors.push(SecurityFlavor::Sys),
                "none" | "null" => is_none = true,
                word => match word.parse() {
                    Ok(flavor) => part.flavors.push(flavor),
                    Err(_) => self.unknown.push(word.to_owned()),
                },
            }
        }
        let alone = is_none && part.flavors.is_empty();
        if alone {
            part.flavors.push(SecurityFlavor::Sys);
            part.access.squash = Squash::All;
        }
        let takes_sys = part.flavors.contains(&SecurityFlavor::Sys);
        self.parts.push(part);
        match (is_none, alone) {
            (true, true) => {
                Err("squash = \"all\" instead: calls act as the anonymous user, whatever user they name"
                    .into())
            }
            (true, false) if !takes_sys => {
                Err("none is left out: it would let in callers that claim to be any user (sys)".into())
            }
            _ => Ok(()),
        }
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

fn anonymous(written: &str) -> Result<u32, String> {
    let id: i64 = written.parse().map_err(|_| "not a number; 65534 is used".to_owned())?;
    // -2 is how the user nobody was written.
    let id = if id < 0 { id + (1 << 32) } else { id };
    u32::try_from(id)
        .ok()
        .filter(|id| *id != u32::MAX)
        .ok_or_else(|| format!("not a user; 65534 is used (0 to {} can be)", u32::MAX - 1))
}

/// What is wrong with an option that howdah does not have.
fn no_equal(word: &str) -> String {
    let usual = OF_FLAVORS.into_iter().chain(SAME).chain(["sync", "async", "crossmnt"]);
    match (without_equal(word), nearest(word, usual)) {
        ("", Some(near)) => format!("there is no such option; left out: did you mean {near}?"),
        ("", None) => "howdah has no such option; left out".to_owned(),
        (known, _) => known.to_owned(),
    }
}

/// What to do about an option of Linux without an equivalent; nothing about others.
fn without_equal(word: &str) -> &'static str {
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
        "no_acl" => "left out: clients of NFSv3 see and set the ACLs of the file system",
        "pnfs" => "no pNFS: clients read and write through the server",
        "security_label" => "no security labels: clients see none",
        _ => "",
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
    fn a_slip_names_the_option_that_was_meant() {
        for (list, part) in
            [("no_root_sqash", "did you mean no_root_squash?"), ("zzzz", "has no such option")]
        {
            let (_, warnings) = of(list);
            assert!(warnings[0].contains(part), "{warnings:?}");
        }
    }

    #[test]
    fn access_squashing_and_ports() {
        let usual = LinuxOptions::usual().access();
        for (list, expected) in [
            ("", usual),
            ("ro,sync,root_squash,no_subtree_check,wdelay,hide", usual),
            ("rw", ClientAccess { read_only: false, ..usual }),
            ("rw,ro", usual),
            ("insecure", ClientAccess { privileged_ports: PrivilegedPorts::Never, ..usual }),
            ("no_root_squash", ClientAccess { squash: Squash::None, ..usual }),
            ("no_root_squash,root_squash", usual),
            ("all_squash", ClientAccess { squash: Squash::All, ..usual }),
            ("no_root_squash,all_squash", ClientAccess { squash: Squash::All, ..usual }),
            ("all_squash,no_root_squash", ClientAccess { squash: Squash::All, ..usual }),
            ("no_root_squash,no_all_squash", ClientAccess { squash: Squash::None, ..usual }),
            ("all_squash,no_all_squash", usual),
            (
                "anonuid=1000,anongid=-2",
                ClientAccess { anonymous_user: 1000, anonymous_group: 4_294_967_294, ..usual },
            ),
        ] {
            let (options, warnings) = of(list);
            assert_eq!((options.access(), &warnings[..]), (expected, &[][..]), "{list}");
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
    fn flavors_keep_their_order_and_share_the_strictest_options() {
        let listed = |options: &LinuxOptions| options.of_flavors().collect::<Vec<_>>().join("; ");
        for (list, flavors, differ) in [
            ("rw", "sys", false),
            ("sec=sys,rw", "sys", false),
            ("sec=krb5p:krb5i:krb5,rw", "krb5p:krb5i:krb5", false),
            ("rw,sec=krb5,sec=unix", "krb5:sys", false),
            ("sec=krb5,rw,sec=sys,ro", "krb5:sys", true),
        ] {
            let (options, warnings) = of(list);
            assert_eq!(
                (options.access().sec.to_string(), &warnings[..]),
                (flavors.to_owned(), &[][..]),
                "{list}"
            );
            assert_eq!(listed(&options).contains("the strictest apply"), differ, "{list}");
        }
        let (options, _) = of("ro,sec=krb5p,rw,no_root_squash,anonuid=7,sec=sys,all_squash");
        let access = options.access();
        assert!(access.read_only && access.squash == Squash::All && access.anonymous_user == 7);
        let (options, _) = of("rw,sec=krb5:lkey");
        assert_eq!((options.refusal(), options.access().sec.to_string()), (None, "krb5".to_owned()));
        assert!(listed(&options).contains("sec=lkey: howdah has no such flavor"));
    }

    #[test]
    fn calls_without_any_user_are_anonymous() {
        let (options, warnings) = of("sec=none,rw");
        assert!(options.access().squash == Squash::All && options.refusal().is_none());
        assert!(warnings[0].contains("anonymous user"), "{warnings:?}");
        let (options, warnings) = of("sec=krb5:none,rw");
        assert_eq!(
            (options.access().sec.to_string(), options.access().squash),
            ("krb5".to_owned(), Squash::Root)
        );
        assert!(warnings[0].contains("none is left out"), "{warnings:?}");
        assert_eq!(of("sec=sys:none,rw").1, [""; 0]);
    }

    #[test]
    fn what_cannot_be_as_strict_is_refused() {
        for (list, part) in [
            ("sec=lkey:spkm3,rw", "sec=lkey:spkm3: howdah has no such flavor"),
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
            ("no_acl", "left out"),
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
