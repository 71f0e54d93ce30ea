//! One export: a file system, its name, and the rules for its clients.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU16, Ordering};
use std::time::Instant;

use howdah_net::OwnAddresses;
use howdah_random::spread;
use howdah_vfs::layer::ReadOnly;
use howdah_vfs::{Caller, FileSystem, FsError, Handle, HostLocks, LocalChanges, Statistics};

use super::{
    ClientRule, DelegationPolicy, HostDirectory, Identity, NameVerdict, PrivilegedPorts, SecurityFlavor,
    SecurityFlavors, Squash, TlsPolicy, UserAccount, UserGroups,
};
use crate::Peer;
use crate::counts::Timed;
use crate::seldom::Seldom;
use crate::uplink::Uplink;

/// The first port that anybody may use.
pub const UNPRIVILEGED_PORTS: u16 = 1024;

/// A file system that is served.
pub struct Export {
    name: String,
    id: u32,
    file_system: Arc<dyn FileSystem>,
    read_only: Arc<dyn FileSystem>,
    rules: Vec<ClientRule>,
    /// What must protect its calls.
    tls: TlsPolicy,
    /// Whether NFSv4 clients are given delegations.
    delegations: DelegationPolicy,
    /// Whether byte-range locks and shares of its files are refused.
    refuses_locks: bool,
    /// Why it cannot be mounted now.
    gone: Option<String>,
    /// The way to the server behind it, if another one is.
    uplink: Option<Arc<dyn Uplink>>,
    root: Handle,
    /// The file system that the root lives on, if it said.
    root_file_system: Option<u64>,
    /// Whether its calls usually wait for another host.
    waits: bool,
    /// Where its calls are counted.
    place: AtomicU16,
    /// Where users that certificates name are looked up.
    accounts: Option<Arc<UserGroups>>,
    /// Where names of clients are looked up, if a rule asks for them.
    hosts: Option<Arc<HostDirectory>>,
    /// The addresses of this host.
    own: OwnAddresses,
    /// Whether it was logged that calls from this host are refused.
    has_refused_local: AtomicBool,
    /// Of calls that are not protected as they must be.
    seldom: Seldom,
    /// Of calls of a flavor that is not taken.
    wrong_flavors: Seldom,
}

/// What a client was let in to: the file system as it may see it, and who it acts as.
pub struct Admission<'e> {
    /// Refuses changes by itself if this client may only read, and says how long its calls take.
    pub file_system: Timed<'e>,
    /// After squashing.
    pub caller: Caller,
    /// Whether this client may change nothing.
    pub read_only: bool,
    /// The flavors that its rule takes.
    pub flavors: SecurityFlavors,
}

/// Why a call is not let in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotAdmitted {
    /// Its client's rule takes other flavors.
    WrongFlavor,
    /// No rule is for its client, it came from the wrong port, or nobody can tell now who sent it.
    Refused(FsError),
}

impl From<FsError> for NotAdmitted {
    fn from(error: FsError) -> Self {
        Self::Refused(error)
    }
}

impl Export {
    /// An export.
    ///
    /// `name` is what clients mount, such as `/` or `/srv/data`. `id` stands in every handle and must stay the same
    /// over restarts. The first of `rules` that fits a client holds for it; a client that none fits is refused.
    pub fn new(name: &str, id: u32, file_system: Arc<dyn FileSystem>, rules: Vec<ClientRule>) -> Self {
        let root = file_system.root();
        let waits = file_system.waits();
        // Another host may not answer, and then a reload must not hang: its file system is told by whoever opened it.
        let ask = || file_system.attributes(&Caller::ROOT, &root).ok().map(|root| root.file_system);
        let root_file_system = if waits { None } else { ask() };
        let read_only = Arc::new(ReadOnly::around(Arc::clone(&file_system)));
        let (name, place) = (canonical(name), AtomicU16::default());
        let (own, has_refused_local) = (OwnAddresses::default(), AtomicBool::new(false));
        Self {
            name,
            id,
            file_system,
            read_only,
            rules,
            tls: TlsPolicy::default(),
            delegations: DelegationPolicy::Never,
            refuses_locks: false,
            gone: None,
            uplink: None,
            root,
            root_file_system,
            waits,
            place,
            accounts: None,
            hosts: None,
            own,
            has_refused_local,
            seldom: Seldom::default(),
            wrong_flavors: Seldom::default(),
        }
    }

    /// The same export of another host, whose root lives on this file system.
    pub fn with_root_file_system(self, root_file_system: Option<u64>) -> Self {
        Self { root_file_system: root_file_system.or(self.root_file_system), ..self }
    }

    /// The same export while its directory is gone, for this reason: it cannot be mounted, and handles still reach what is
    /// left.
    pub fn with_gone(self, gone: Option<String>) -> Self {
        Self { gone, ..self }
    }

    /// The same export, whose calls must be protected so.
    #[must_use]
    pub fn with_tls(self, tls: TlsPolicy) -> Self {
        Self { tls, ..self }
    }

    /// The same export, where users that certificates name are looked up here.
    #[must_use]
    pub fn with_accounts(self, accounts: Option<Arc<UserGroups>>) -> Self {
        let asks = self.rules.iter().any(|rule| rule.squash == Squash::Certificate);
        Self { accounts: accounts.filter(|_| asks), ..self }
    }

    /// Where users that certificates name are looked up, if a rule asks for that.
    pub(crate) fn accounts(&self) -> Option<&UserGroups> {
        self.accounts.as_deref()
    }

    /// The same export, where names of clients are looked up here. Without it, rules that ask for names are not decided.
    #[must_use]
    pub fn with_host_names(self, hosts: Option<Arc<HostDirectory>>) -> Self {
        let asks = self.rules.iter().any(ClientRule::asks_name);
        Self { hosts: hosts.filter(|_| asks), ..self }
    }

    /// Where names of clients are looked up, if a rule asks for them.
    pub(crate) fn host_names(&self) -> Option<&HostDirectory> {
        self.hosts.as_deref()
    }

    /// The same export, of which NFSv4 clients are given delegations as the policy says.
    #[must_use]
    pub fn with_delegations(self, delegations: DelegationPolicy) -> Self {
        Self { delegations, ..self }
    }

    /// Whether NFSv4 clients are given delegations.
    pub(crate) fn delegations(&self) -> DelegationPolicy {
        self.delegations
    }

    /// What notices changes by programs of this host, if anything does.
    pub(crate) fn local_changes(&self) -> Option<&dyn LocalChanges> {
        self.file_system.local_changes()
    }

    /// The same export, whose files can be locked or not. A server of files that another server has too cannot give a lock that excludes
    /// that server's other clients.
    #[must_use]
    pub fn with_locks_refused(self, refuses_locks: bool) -> Self {
        Self { refuses_locks, ..self }
    }

    /// Whether locks of its files are refused.
    pub(crate) fn refuses_locks(&self) -> bool {
        self.refuses_locks
    }

    /// What must protect its calls.
    pub fn tls(&self) -> TlsPolicy {
        self.tls
    }

    /// Whether calls of this peer are protected as they must be. MOUNT does not ask: Linux clients mount in the clear, and learn nothing by
    /// it but a handle.
    pub(crate) fn takes(&self, peer: &Peer) -> bool {
        let takes = self.tls.takes(peer.security);
        if !takes {
            self.log_security(peer, self.remedy());
        }
        takes
    }

    /// The same, and nothing is logged: another export may take them.
    pub(crate) fn takes_silently(&self, peer: &Peer) -> bool {
        self.tls.takes(peer.security)
    }

    /// The same of a call about locks of NFSv3, which Linux clients send in the clear whatever they mounted with.
    pub(crate) fn takes_locks(&self, peer: &Peer) -> bool {
        let takes = self.tls.takes(peer.security);
        if !takes {
            self.log_security(
                peer,
                "for locks, mount with vers=4.2; a Linux client sends locks of NFSv3 in the clear",
            );
        }
        takes
    }

    /// What a client does whose calls are not protected as they must be.
    fn remedy(&self) -> &'static str {
        match self.tls {
            TlsPolicy::Off => "mount without xprtsec",
            TlsPolicy::ClientCertificate => "mount with xprtsec=mtls",
            _ => "mount with xprtsec=tls",
        }
    }

    /// Says that a call was refused for what protects it. Not for each one: a client that mounted in the clear goes on asking.
    #[cold]
    fn log_security(&self, peer: &Peer, remedy: &str) {
        let Some(others) = self.seldom.log(Instant::now()) else { return };
        let (export, client, tls) = (&self.name, peer.ends.client, self.tls.name());
        tracing::warn!(export, %client, tls, others, "refused a call without the TLS protection that the export requires: {remedy}");
    }

    /// The same export of another server, to which the way is this.
    #[must_use]
    pub fn with_uplink(self, uplink: Option<Arc<dyn Uplink>>) -> Self {
        Self { uplink, ..self }
    }

    /// The way to the server behind it, if another one is.
    pub fn uplink(&self) -> Option<&dyn Uplink> {
        self.uplink.as_deref()
    }

    /// Why it cannot be mounted now, if its directory is gone.
    pub fn gone(&self) -> Option<&str> {
        self.gone.as_deref()
    }

    /// What clients mount: starts with a slash, has no empty parts, and ends with a slash only if that is all.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Stands in its handles.
    pub fn id(&self) -> u32 {
        self.id
    }

    /// Whether its calls usually wait for another host.
    pub(crate) fn waits(&self) -> bool {
        self.waits
    }

    /// Closes what it keeps open between calls.
    pub(crate) fn let_go(&self) {
        self.file_system.let_go();
    }

    /// Its locks as processes of this host have them, if the kernel keeps such.
    pub(crate) fn host_locks(&self) -> Option<&dyn HostLocks> {
        self.file_system.host_locks()
    }

    /// Where its calls are counted.
    pub(crate) fn place(&self) -> u16 {
        self.place.load(Ordering::Relaxed)
    }

    /// Says where its calls are counted.
    pub(crate) fn set_place(&self, place: u16) {
        self.place.store(place, Ordering::Relaxed);
    }

    /// The rules for its clients.
    pub fn rules(&self) -> &[ClientRule] {
        &self.rules
    }

    /// The handle of its root, as its file system knows it.
    pub fn root(&self) -> &Handle {
        &self.root
    }

    /// How full its file system is.
    ///
    /// # Errors
    /// What the file system says.
    pub fn statistics(&self) -> Result<Statistics, FsError> {
        self.file_system.statistics(&Caller::ROOT, &self.root)
    }

    /// The number of a node within its file system; `None` if it is gone, or its file system waits for another host.
    pub fn file_number(&self, node: &Handle) -> Option<u64> {
        let ask = || self.file_system.attributes(&Caller::ROOT, node).ok().map(|node| node.file);
        if self.waits { None } else { ask() }
    }

    /// Whether a node is there no longer. What waits for another host is not asked.
    pub(crate) fn has_lost(&self, node: &Handle) -> bool {
        !self.waits && matches!(self.file_system.attributes(&Caller::ROOT, node), Err(FsError::Stale))
    }

    /// Its file system with no client's rule before it.
    pub(super) fn whole_file_system(&self) -> &dyn FileSystem {
        &*self.file_system
    }

    /// The rule that holds for a client, as far as it can be told now.
    pub(super) fn rule(&self, peer: &Peer) -> Option<&ClientRule> {
        self.decide(peer).ok()
    }

    /// The rule that holds for a client: the first that fits.
    ///
    /// # Errors
    /// [`FsError::AccessDenied`] if there is none, and [`FsError::Delay`] while nobody can tell the client's name, and so whether one
    /// fits before those that do.
    fn decide(&self, peer: &Peer) -> Result<&ClientRule, FsError> {
        for rule in &self.rules {
            match rule.judge(peer, self.hosts.as_deref()) {
                NameVerdict::Fits => return Ok(rule),
                NameVerdict::Other => {}
                NameVerdict::Unknown => return Err(FsError::Delay),
            }
        }
        Err(FsError::AccessDenied)
    }

    /// The flavors that calls of this client may have, in the order in which it is told them: those that MNT and SECINFO list, and
    /// the gate of each call compares. `None`: no rule is for it.
    pub(crate) fn flavors(&self, peer: &Peer) -> Option<SecurityFlavors> {
        self.rule(peer).map(|rule| rule.sec)
    }

    /// Whether a call of this flavor passes the gate. One that no rule is for is refused elsewhere.
    pub(crate) fn takes_flavor(&self, peer: &Peer, flavor: SecurityFlavor) -> bool {
        self.flavors(peer).is_none_or(|flavors| flavors.contains(flavor))
    }

    /// Whether calls of this flavor that only look at a node are taken though the rules take others: clients that mount with
    /// Kerberos ask about the root with AUTH_SYS (RFC 2623 2.3.2).
    pub(crate) fn is_open_at(&self, node: &Handle, flavor: SecurityFlavor) -> bool {
        !flavor.is_kerberos() && *node == self.root
    }

    /// Says that a call was refused for its flavor. Not for each one.
    pub(crate) fn log_flavor(&self, peer: &Peer, flavor: SecurityFlavor) {
        let Some(others) = self.wrong_flavors.log(Instant::now()) else { return };
        let (export, client, flavors) =
            (&self.name, peer.ends.client, self.flavors(peer).unwrap_or_default());
        tracing::info!(export, %client, others, "refused a call of sec={flavor}: the export takes sec={flavors}; mount with one of these");
    }

    /// Lets a call in, or refuses it.
    pub fn admit(&self, peer: &Peer, identity: &Identity) -> Result<Admission<'_>, NotAdmitted> {
        let rule = self.decide(peer)?;
        if !rule.sec.contains(identity.flavor()) {
            return Err(NotAdmitted::WrongFlavor);
        }
        Ok(self.admit_by(rule, peer, identity)?)
    }

    /// Lets a call about locks of NFSv3 in, or refuses it. Clients that mount with Kerberos send them with AUTH_SYS: a lock shows
    /// nobody any data.
    pub(crate) fn admit_lock(&self, peer: &Peer, identity: &Identity) -> Result<Admission<'_>, FsError> {
        let rule = self.decide(peer)?;
        if !rule.sec.contains(identity.flavor()) && identity.flavor().is_kerberos() {
            return Err(FsError::AccessDenied);
        }
        self.admit_by(rule, peer, identity)
    }

    fn admit_by(
        &self,
        rule: &ClientRule,
        peer: &Peer,
        identity: &Identity,
    ) -> Result<Admission<'_>, FsError> {
        if identity.is_unavailable() {
            return Err(FsError::Delay);
        }
        self.check_port(rule, peer, identity)?;
        let file_system = if rule.read_only { &self.read_only } else { &self.file_system };
        let caller = identity.under(rule, self.holder(rule, peer));
        let (read_only, flavors) = (rule.read_only, rule.sec);
        Ok(Admission { file_system: Timed::around(&**file_system), caller, read_only, flavors })
    }

    /// Whether any call of this client may be let in, whatever its flavor and whoever sent it: sessions and names of exports are
    /// not of users.
    pub(crate) fn knows(&self, peer: &Peer, identity: &Identity) -> bool {
        match self.decide(peer) {
            Ok(rule) => {
                !rule.sec.contains(identity.flavor()) || self.check_port(rule, peer, identity).is_ok()
            }
            // Each call is judged again.
            Err(error) => error == FsError::Delay,
        }
    }

    /// What a call of a flavor that is not taken sees while it finds out how to mount: it acts as the anonymous user, and changes
    /// nothing.
    ///
    /// # Errors
    /// No rule is for its client.
    pub(crate) fn admit_unproved(&self, peer: &Peer) -> Result<Admission<'_>, FsError> {
        self.decide(peer).map(|rule| self.admit_anonymous(rule))
    }

    fn admit_anonymous(&self, rule: &ClientRule) -> Admission<'_> {
        let caller = Identity::Unknown.under(rule, None);
        let file_system = Timed::around(&*self.read_only);
        Admission { file_system, caller, read_only: true, flavors: rule.sec }
    }

    /// Lets a client mount, or refuses it. MOUNT is answered whatever its flavor, since clients that mount with Kerberos ask with
    /// AUTH_SYS. One that calls in the clear cannot show a certificate, and Linux clients mount so: where rules ask for one, it
    /// looks up the path as the anonymous user. Its handle is of no use to anybody whom no rule fits.
    pub(super) fn admit_mount(&self, peer: &Peer, identity: &Identity) -> Result<Admission<'_>, FsError> {
        match self.admit(peer, identity) {
            Ok(admission) => Ok(admission),
            Err(NotAdmitted::WrongFlavor) => self.admit_unproved(peer),
            Err(NotAdmitted::Refused(FsError::AccessDenied)) if !peer.security.is_encrypted() => {
                let rule = self.rules.iter().find(|rule| rule.asks_certificate());
                rule.map(|rule| self.admit_anonymous(rule)).ok_or(FsError::AccessDenied)
            }
            Err(NotAdmitted::Refused(error)) => Err(error),
        }
    }

    /// The user whom the client's certificate names, where a rule asks for that. May wait for whoever knows users.
    pub(super) fn holder(&self, rule: &ClientRule, peer: &Peer) -> Option<UserAccount> {
        if rule.squash != Squash::Certificate {
            return None;
        }
        let name = peer.certificate.as_ref()?.user.as_ref()?;
        self.accounts.as_ref()?.named(name, Instant::now())
    }

    /// Refuses calls from ports that anybody may use, where the rule asks for others. Whoever has a ticket needs no port of root's,
    /// and the programs that fetch tickets run as users.
    fn check_port(&self, rule: &ClientRule, peer: &Peer, identity: &Identity) -> Result<(), FsError> {
        if identity.flavor().is_kerberos() || !self.refuses_port(rule, peer) {
            return Ok(());
        }
        if rule.privileged_ports == PrivilegedPorts::Local
            && !self.has_refused_local.swap(true, Ordering::Relaxed)
        {
            tracing::warn!(
                export = self.name,
                client = %peer.ends.client,
                "refused a call of an ordinary user of this host, who could call as any other user; \
                 to allow such calls, set privileged_ports = false (--privileged-ports=never)"
            );
        }
        Err(FsError::NotPermitted)
    }

    /// Whether a call of any flavor but Kerberos's is refused because anybody may use the port that it comes from.
    pub(super) fn refuses_port(&self, rule: &ClientRule, peer: &Peer) -> bool {
        let client = peer.ends.client;
        client.port() >= UNPRIVILEGED_PORTS
            && match rule.privileged_ports {
                PrivilegedPorts::Never => false,
                PrivilegedPorts::Always => true,
                PrivilegedPorts::Local => {
                    client.ip() == peer.ends.server.ip() || self.own.contains(client.ip())
                }
            }
    }

    /// The `fsid` that clients see for a file system inside this export. That of the root is made of the export's id
    /// alone, so that it outlives a restart even where the system numbers its devices anew.
    pub fn visible_file_system(&self, file_system: u64) -> u64 {
        let own = spread(u64::from(self.id) + 1);
        if self.root_file_system == Some(file_system) { own } else { spread(own ^ file_system) }
    }
}

/// One slash before each part of a path, none after.
fn canonical(name: &str) -> String {
    let parts = name.split('/').filter(|part| !part.is_empty());
    let canonical: String = parts.flat_map(|part| ["/", part]).collect();
    if canonical.is_empty() { "/".to_owned() } else { canonical }
}

#[cfg(test)]
mod tests {
    use howdah_vfs::memory::MemoryFileSystem;

    use super::*;

    #[test]
    fn an_export_keeps_its_file_system_number_over_restarts() {
        let export = |id| Export::new("/", id, Arc::new(MemoryFileSystem::new()), Vec::new());
        let (first, again, other) = (export(1), export(1), export(2));
        let own = |export: &Export| export.root_file_system.expect("memory tells it");
        let visible = |export: &Export| export.visible_file_system(own(export));
        assert_ne!(own(&first), own(&again), "the system numbers its file systems anew");
        assert_eq!(visible(&first), visible(&again));
        assert_ne!(visible(&first), visible(&other));
        let mounted = own(&first) ^ 1;
        assert_ne!(visible(&first), first.visible_file_system(mounted), "one that is mounted inside");
        assert_ne!(first.visible_file_system(mounted), other.visible_file_system(mounted));
    }

    #[test]
    fn names_are_told_in_one_way() {
        for (given, expected) in [("/", "/"), ("", "/"), ("srv//data/", "/srv/data"), ("/a", "/a")] {
            assert_eq!(canonical(given), expected);
        }
    }
}
