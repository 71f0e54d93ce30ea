//! The options that mount(8) and nfs(5) know, and what each means here.

use howdah_config::spelling::nearest;

/// Where the locks of programs hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LockPlace {
    /// At the server, if it has locks for this mount.
    #[default]
    Usual,
    /// On this host.
    Local,
    /// At the server, or nothing is mounted.
    Server,
}

/// What an option means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Meaning {
    /// It is for others, or already so.
    Ignored,
    /// The option of a URL with this name, and the value.
    Url(&'static str),
    /// This option of a URL.
    UrlWith(&'static str),
    /// Whether writes are refused.
    ReadOnly(bool),
    /// All users may use it.
    AllowOther,
    /// Whether set-ID bits count.
    SetId(bool),
    /// Whether devices can be opened.
    Devices(bool),
    /// Whether every write is durable before it is answered.
    Synchronous(bool),
    /// A mount that is there gets other options.
    Remount,
    /// Files may be in the directory.
    NonEmpty,
    /// Where locks hold, by the value.
    LocalLock,
    /// Where locks hold.
    Locks(LockPlace),
    /// Whether programs may be run.
    Executable(bool),
    /// Whether programs see and set POSIX ACLs.
    Acls(bool),
    /// `acregmin`
    BelieveFileMin,
    /// `acregmax`
    BelieveFileMax,
    /// `acdirmin`
    BelieveDirectoryMin,
    /// `acdirmax`
    BelieveDirectoryMax,
    /// `actimeo`
    BelieveAll,
    /// `lookupcache`
    BelieveNames,
    /// `noac`
    BelieveNothing,
    /// `behind`
    Behind,
    /// `journal`
    Journal,
    /// `journal_adopt`
    AdoptJournal,
    /// Nobody else changes the tree.
    Alone,
    /// `cache_dir`
    CacheDirectory,
    /// `cache_size`
    CacheSize,
    /// It asks for what is not done here, and cannot be left out in silence.
    Unsupported(&'static str),
}

impl Meaning {
    /// Whether it says how long attributes or names are believed.
    pub fn is_age(self) -> bool {
        use Meaning::{
            BelieveAll, BelieveDirectoryMax, BelieveDirectoryMin, BelieveFileMax, BelieveFileMin,
            BelieveNames, BelieveNothing,
        };
        let times = [BelieveFileMin, BelieveFileMax, BelieveDirectoryMin, BelieveDirectoryMax, BelieveAll];
        times.contains(&self) || [BelieveNames, BelieveNothing].contains(&self)
    }
}

const TABLE: &[(&str, Meaning)] = &[
    ("ro", Meaning::ReadOnly(true)),
    ("rw", Meaning::ReadOnly(false)),
    ("allow_other", Meaning::AllowOther),
    ("suid", Meaning::SetId(true)),
    ("nosuid", Meaning::SetId(false)),
    ("dev", Meaning::Devices(true)),
    ("nodev", Meaning::Devices(false)),
    ("exec", Meaning::Executable(true)),
    ("noexec", Meaning::Executable(false)),
    ("soft", Meaning::Url("soft")),
    ("hard", Meaning::UrlWith("autoreconnect=-1")),
    ("timeo", Meaning::Url("timeo")),
    ("retrans", Meaning::Url("retrans")),
    ("acregmin", Meaning::BelieveFileMin),
    ("acregmax", Meaning::BelieveFileMax),
    ("acdirmin", Meaning::BelieveDirectoryMin),
    ("acdirmax", Meaning::BelieveDirectoryMax),
    ("actimeo", Meaning::BelieveAll),
    ("lookupcache", Meaning::BelieveNames),
    ("noac", Meaning::BelieveNothing),
    ("alone", Meaning::Alone),
    ("cache_dir", Meaning::CacheDirectory),
    ("cache_size", Meaning::CacheSize),
    ("port", Meaning::Url("nfsport")),
    ("mountport", Meaning::Url("mountport")),
    ("proto", Meaning::Url("proto")),
    ("tcp", Meaning::UrlWith("proto=tcp")),
    ("udp", Meaning::UrlWith("proto=udp")),
    ("rsize", Meaning::Url("rsize")),
    ("wsize", Meaning::Url("wsize")),
    ("nconnect", Meaning::Url("lanes")),
    ("lanes", Meaning::Url("lanes")),
    ("vers", Meaning::Url("version")),
    ("nfsvers", Meaning::Url("version")),
    ("version", Meaning::Url("version")),
    ("sec", Meaning::Url("sec")),
    ("krb5name", Meaning::Url("krb5name")),
    ("xprtsec", Meaning::Url("xprtsec")),
    ("tlsca", Meaning::Url("tlsca")),
    ("tlscert", Meaning::Url("tlscert")),
    ("tlskey", Meaning::Url("tlskey")),
    ("tlsname", Meaning::Url("tlsname")),
    ("uid", Meaning::Url("uid")),
    ("gid", Meaning::Url("gid")),
    ("addresses", Meaning::Url("addresses")),
    ("sync", Meaning::Synchronous(true)),
    ("dirsync", Meaning::Ignored),
    ("defaults", Meaning::Ignored),
    ("auto", Meaning::Ignored),
    ("noauto", Meaning::Ignored),
    ("user", Meaning::Ignored),
    ("users", Meaning::Ignored),
    ("nouser", Meaning::Ignored),
    ("owner", Meaning::Ignored),
    ("group", Meaning::Ignored),
    ("nofail", Meaning::Ignored),
    ("_netdev", Meaning::Ignored),
    ("comment", Meaning::Ignored),
    ("async", Meaning::Synchronous(false)),
    ("atime", Meaning::Ignored),
    ("noatime", Meaning::Ignored),
    ("diratime", Meaning::Ignored),
    ("nodiratime", Meaning::Ignored),
    ("relatime", Meaning::Ignored),
    ("norelatime", Meaning::Ignored),
    ("strictatime", Meaning::Ignored),
    ("lazytime", Meaning::Ignored),
    ("ac", Meaning::Ignored),
    ("cto", Meaning::Ignored),
    ("intr", Meaning::Ignored),
    ("nointr", Meaning::Ignored),
    ("bg", Meaning::Ignored),
    ("fg", Meaning::Ignored),
    ("retry", Meaning::Ignored),
    ("lock", Meaning::Locks(LockPlace::Server)),
    ("nolock", Meaning::Locks(LockPlace::Local)),
    ("local_lock", Meaning::LocalLock),
    ("resvport", Meaning::Ignored),
    ("noresvport", Meaning::Ignored),
    ("mountproto", Meaning::Ignored),
    ("mountvers", Meaning::Ignored),
    ("rdirplus", Meaning::Ignored),
    ("nordirplus", Meaning::Ignored),
    ("noacl", Meaning::Acls(false)),
    ("acl", Meaning::Acls(true)),
    ("behind", Meaning::Behind),
    ("journal", Meaning::Journal),
    ("journal_adopt", Meaning::AdoptJournal),
    ("remount", Meaning::Remount),
    ("nonempty", Meaning::NonEmpty),
    // Those that ask for less than is done, or for what only other clients have.
    ("nocto", Meaning::Ignored),
    ("fsc", Meaning::Ignored),
    ("nofsc", Meaning::Ignored),
    ("softerr", Meaning::Url("soft")),
    ("softreval", Meaning::Ignored),
    ("nosoftreval", Meaning::Ignored),
    ("sharecache", Meaning::Ignored),
    ("nosharecache", Meaning::Ignored),
    ("max_connect", Meaning::Ignored),
    ("write", Meaning::Ignored),
    ("minorversion", Meaning::Unsupported("use vers=4.1 or vers=4.2")),
    ("clientaddr", Meaning::Ignored),
    ("namlen", Meaning::Ignored),
    ("silent", Meaning::Ignored),
    ("loud", Meaning::Ignored),
    ("iversion", Meaning::Ignored),
    ("noiversion", Meaning::Ignored),
    ("mand", Meaning::Unsupported("no file system of Linux has mandatory locks any more")),
    ("nomand", Meaning::Ignored),
    // Those of other programs for FUSE.
    ("fsname", Meaning::Ignored),
    ("subtype", Meaning::Ignored),
    ("auto_unmount", Meaning::Ignored),
    ("default_permissions", Meaning::Ignored),
    ("auto_cache", Meaning::Ignored),
    ("noauto_cache", Meaning::Ignored),
    ("big_writes", Meaning::Ignored),
    ("large_read", Meaning::Ignored),
    ("max_read", Meaning::Ignored),
    ("max_write", Meaning::Ignored),
    ("blkdev", Meaning::Unsupported("it is no block device")),
    // SELinux labels all files of such a mount alike, whatever is asked for.
    ("context", Meaning::Ignored),
    ("fscontext", Meaning::Ignored),
    ("defcontext", Meaning::Ignored),
    ("rootcontext", Meaning::Ignored),
    ("seclabel", Meaning::Ignored),
];

/// What an option means, if there is one of that name.
pub fn meaning(name: &str) -> Option<Meaning> {
    // Options for systemd and other programs that read fstab(5).
    if name.starts_with("x-") || name.starts_with("X-") {
        return Some(Meaning::Ignored);
    }
    TABLE.iter().find(|(known, _)| *known == name).map(|(_, meaning)| *meaning)
}

/// The option whose name is nearest, if one is near.
pub fn nearest_option(name: &str) -> Option<&'static str> {
    nearest(name, TABLE.iter().map(|(known, _)| *known))
}
