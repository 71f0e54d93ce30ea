//! `-o` in mount(8)'s spelling, and the URL that the transport's options become a part of.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Result, anyhow, bail, ensure};
use howdah_client::url::encoded;
use howdah_client::url::{NfsUrl, UrlError, url_of};
use howdah_config::DiskCacheSettings;
use howdah_config::quantity::parse_cache_size;
use howdah_layers::LookupCache;

use super::journals::named_directory;
use super::options_table::{LockPlace, Meaning, meaning, nearest_option};

/// How long the kernel believes an answer, at most: the caches below believe longer, and are asked in microseconds.
const KERNEL_BELIEVES: Duration = Duration::from_secs(1);

/// How late names may reach the server, by default.
const LATE: Duration = Duration::from_secs(5);

/// What to mount, and how.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MountSettings {
    /// The export.
    pub url: NfsUrl,
    /// What was typed for it.
    pub source: String,
    /// Whether every change is refused.
    pub read_only: bool,
    /// Whether other users may use it.
    pub allow_other: bool,
    /// Whether set-ID bits count.
    pub set_id: bool,
    /// Whether devices can be opened.
    pub devices: bool,
    /// Whether every write is durable before it is answered.
    pub synchronous: bool,
    /// Whether programs on it can be run.
    pub executable: bool,
    /// Whether programs see and set POSIX ACLs.
    pub acls: bool,
    /// Whether files in the directory may be hidden.
    pub nonempty: bool,
    /// Whether a mount that is there gets these options.
    pub remount: bool,
    /// How late names and small files may reach the server, if they are written behind.
    pub behind: Option<Duration>,
    /// Whether what is written behind is kept on this host's disk until the server has it.
    pub journal: bool,
    /// The directory of journals, unless it is the usual one.
    pub journals: Option<PathBuf>,
    /// Whether a journal is taken over that another host wrote.
    pub adopt: bool,
    /// How long attributes are believed.
    pub believed: Believed,
    /// Whether nobody else changes the tree: then they are believed for ever.
    pub alone: bool,
    /// Where locks hold.
    pub locks: LockPlace,
    /// An option that says how long attributes or names are believed.
    aged: Option<String>,
    /// Where data is kept over restarts, if anywhere.
    pub disk: Option<DiskCacheSettings>,
}

/// How long attributes are believed, as nfs(5) has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Believed {
    pub file_min: Duration,
    pub file_max: Duration,
    pub directory_min: Duration,
    pub directory_max: Duration,
    /// Which names are remembered.
    pub lookups: LookupCache,
    /// How long it is believed that a name is not there, without a look at its directory.
    pub absence: Duration,
}

impl Default for Believed {
    fn default() -> Self {
        let seconds = Duration::from_secs;
        Self {
            file_min: seconds(3),
            file_max: seconds(60),
            directory_min: seconds(30),
            directory_max: seconds(60),
            lookups: LookupCache::All,
            absence: seconds(1),
        }
    }
}

impl Believed {
    /// How long the kernel believes an answer.
    pub fn by_kernel(&self) -> Duration {
        KERNEL_BELIEVES.min(self.file_min).min(self.directory_min)
    }

    /// How long the kernel believes a name.
    pub fn names_by_kernel(&self) -> Duration {
        if self.lookups == LookupCache::None { Duration::ZERO } else { self.by_kernel() }
    }

    /// All four times the same.
    fn set_all(&mut self, time: Duration) {
        for place in
            [&mut self.file_min, &mut self.file_max, &mut self.directory_min, &mut self.directory_max]
        {
            *place = time;
        }
    }

    /// As nfs(5) has `lookupcache`. Unless `all` is asked for, an absent name is looked for again after a second.
    fn set_lookups(&mut self, value: &str) -> Result<()> {
        let usual = Self::default();
        (self.lookups, self.absence) = match value {
            "all" => (LookupCache::All, Duration::MAX),
            "pos" | "positive" => (LookupCache::Positive, usual.absence),
            "none" => (LookupCache::None, usual.absence),
            _ => bail!("the mount option lookupcache cannot be \"{value}\": expected all, positive or none"),
        };
        Ok(())
    }
}

impl MountSettings {
    /// From what was typed.
    ///
    /// # Errors
    /// An option that does not exist or a value that it does not take, with the nearest that does.
    pub fn parse(source: &str, options: &[String]) -> Result<Self> {
        let mut query = Vec::new();
        let mut settings = Self {
            url: url(source, &[])?,
            source: source.to_owned(),
            read_only: false,
            allow_other: false,
            set_id: false,
            devices: false,
            synchronous: false,
            executable: true,
            acls: false,
            nonempty: false,
            remount: false,
            behind: None,
            journal: true,
            journals: None,
            adopt: false,
            believed: Believed::default(),
            alone: false,
            locks: LockPlace::Usual,
            aged: None,
            disk: None,
        };
        for option in options.iter().flat_map(|options| separated(options)) {
            settings.take(option.trim(), &mut query)?;
        }
        if let Some(aged) = settings.aged.as_ref().filter(|_| settings.alone) {
            bail!(
                "-o alone and -o {aged} contradict each other: with alone, nothing that is known is asked again; leave one of them out"
            );
        }
        if settings.disk.as_ref().is_some_and(|disk| disk.directory.as_os_str().is_empty()) {
            bail!("the mount option cache_size has no effect without cache_dir=DIR");
        }
        settings.url = url(source, &query)?;
        settings.check_behind()?;
        if settings.locks == LockPlace::Server && (settings.alone || settings.behind.is_some()) {
            let with = if settings.alone { "alone" } else { "behind" };
            bail!(
                "with -o {with}, locks hold on this host only: leave out lock and local_lock=none, or {with}"
            );
        }
        Ok(settings)
    }

    /// Whether locks hold at the server, if that has any.
    pub fn shares_locks(&self) -> bool {
        self.locks != LockPlace::Local && !self.alone && self.behind.is_none()
    }

    fn check_behind(&self) -> Result<()> {
        if self.behind.is_some() && self.read_only {
            bail!("the mount options behind and ro contradict each other: nothing is written; leave one out");
        }
        if self.behind.is_some() && self.synchronous {
            bail!("the mount options behind and sync contradict each other: leave one out");
        }
        Ok(())
    }

    /// Whether all calls act as one user, no matter which user makes them.
    pub fn names_a_user(&self) -> bool {
        self.url.options.user.is_some() || self.url.options.group.is_some()
    }

    /// The cache on disk, which has no directory until that is named.
    fn disk(&mut self) -> &mut DiskCacheSettings {
        let usual = || DiskCacheSettings { directory: PathBuf::new(), size: DiskCacheSettings::SIZE };
        self.disk.get_or_insert_with(usual)
    }

    fn take(&mut self, option: &str, query: &mut Vec<String>) -> Result<()> {
        let (name, value) = option.split_once('=').unwrap_or((option, ""));
        let seconds = || value.parse().map(Duration::from_secs).map_err(|_| anyhow!(number(name, value)));
        let believed = &mut self.believed;
        let meaning = meaning(name);
        if meaning.is_some_and(Meaning::is_age) && option != "lookupcache=all" {
            self.aged = Some(option.to_owned());
        }
        match meaning {
            Some(Meaning::Alone) => self.alone = true,
            Some(Meaning::Ignored) => {}
            Some(Meaning::Url(its_name)) => {
                let its = format!("{its_name}={}", encoded(value));
                check_alone(name, &its)?;
                query.push(its);
            }
            Some(Meaning::UrlWith(whole)) => query.push(whole.to_owned()),
            Some(Meaning::ReadOnly(yes)) => self.read_only = yes,
            Some(Meaning::AllowOther) => self.allow_other = true,
            Some(Meaning::NonEmpty) => self.nonempty = true,
            Some(Meaning::Remount) => self.remount = true,
            Some(Meaning::SetId(yes)) => self.set_id = yes,
            Some(Meaning::Devices(yes)) => self.devices = yes,
            Some(Meaning::Synchronous(yes)) => self.synchronous = yes,
            Some(Meaning::Executable(yes)) => self.executable = yes,
            Some(Meaning::Acls(yes)) => self.acls = yes,
            Some(Meaning::BelieveFileMin) => believed.file_min = seconds()?,
            Some(Meaning::BelieveFileMax) => believed.file_max = seconds()?,
            Some(Meaning::BelieveDirectoryMin) => believed.directory_min = seconds()?,
            Some(Meaning::BelieveDirectoryMax) => believed.directory_max = seconds()?,
            Some(Meaning::BelieveAll) => believed.set_all(seconds()?),
            Some(Meaning::BelieveNames) => believed.set_lookups(value)?,
            // As nfs(5) has it, `noac` has two parts: nothing is believed, and writes are synchronous.
            Some(Meaning::BelieveNothing) => {
                believed.set_all(Duration::ZERO);
                self.synchronous = true;
            }
            Some(Meaning::Behind) => self.behind = Some(late(value)?),
            Some(Meaning::Journal) => {
                self.journal = match value {
                    "on" | "" => true,
                    "off" => false,
                    directory => {
                        self.journals = Some(named_directory(directory)?);
                        true
                    }
                }
            }
            Some(Meaning::AdoptJournal) => self.adopt = true,
            Some(Meaning::CacheDirectory) => {
                let directory = std::path::absolute(value);
                self.disk().directory =
                    directory.map_err(|_| anyhow!("the mount option cache_dir needs a directory"))?;
            }
            Some(Meaning::CacheSize) => {
                self.disk().size =
                    parse_cache_size(value).map_err(|why| anyhow!("the mount option cache_size: {why}"))?;
            }
            Some(Meaning::Locks(place)) => self.locks = place,
            Some(Meaning::LocalLock) => {
                self.locks = match value {
                    "all" => LockPlace::Local,
                    "none" => LockPlace::Server,
                    _ => bail!(
                        "the mount option {option} is not supported: fcntl and flock locks hold at the same place; use local_lock=all or \
                         local_lock=none"
                    ),
                }
            }
            Some(Meaning::Unsupported(why)) => bail!("the mount option {option} is not supported: {why}"),
            None => match nearest_option(name) {
                Some(near) => bail!("howdah mount has no option -o {name}; did you mean {near}?"),
                None => bail!("howdah mount has no option -o {name}; howdah mount --help lists them"),
            },
        }
        Ok(())
    }
}

/// The options of a list. A label of SELinux may have commas between quotes.
fn separated(options: &str) -> impl Iterator<Item = &str> {
    let mut is_quoted = false;
    let parts = options.split(move |letter| {
        is_quoted ^= letter == '"';
        letter == ',' && !is_quoted
    });
    parts.filter(|option| !option.trim().is_empty())
}

/// How late names may be: seconds, with or without their unit.
fn late(value: &str) -> Result<Duration> {
    let seconds = value.strip_suffix('s').unwrap_or(value);
    match seconds.parse() {
        Ok(seconds @ 1..=3600) => Ok(Duration::from_secs(seconds)),
        _ if value.is_empty() => Ok(LATE),
        _ => bail!("the mount option behind cannot be \"{value}\": expected 1s to 3600s, or nothing for 5s"),
    }
}

fn number(name: &str, value: &str) -> String {
    format!("the mount option {name} cannot be \"{value}\": expected a number of seconds")
}

/// Refuses a value that an option of the URL does not take, by the name of the mount option that was typed.
fn check_alone(typed: &str, option: &str) -> Result<()> {
    let parsed = format!("nfs://host/?{option}").parse::<NfsUrl>();
    Ok(parsed.map(drop).map_err(|error| match error {
        UrlError::OptionValue { value, takes, .. } => {
            UrlError::OptionValue { option: typed.to_owned(), value, takes }
        }
        UrlError::Unsupported { option, why } => {
            let value = option.split_once('=').map_or("", |(_, value)| value);
            UrlError::Unsupported { option: format!("{typed}={value}"), why }
        }
        other => other,
    })?)
}

/// The URL with further options. `HOST:/EXPORT`, as mount(8) has it, is one, too.
fn url(source: &str, further: &[String]) -> Result<NfsUrl> {
    ensure!(!source.is_empty(), "the source is empty: type HOST:/EXPORT or nfs://HOST/EXPORT");
    let mut text = url_of(source)?.ok_or_else(|| {
        anyhow!("{source} is no export of a server: type HOST:/EXPORT or nfs://HOST/EXPORT")
    })?;
    for option in further {
        text.push(if text.contains('?') { '&' } else { '?' });
        text.push_str(option);
    }
    Ok(text.parse()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(options: &str) -> Result<MountSettings> {
        MountSettings::parse("nfs://host/x?uid=5", &[options.to_owned()])
    }

    #[test]
    fn options_of_the_transport_go_to_the_url() {
        let settings =
            parse("ro,soft,timeo=50,retrans=1,port=2050,mountport=2051,_netdev,x-systemd.automount");
        let settings = settings.expect("taken");
        assert!(settings.read_only && !settings.allow_other);
        let options = &settings.url.options;
        assert_eq!(options.gives_up_after(), Some(Duration::from_secs(10)));
        assert_eq!((options.nfs_port, options.mount_port, options.user), (Some(2050), Some(2051), Some(5)));
        assert_eq!(parse("soft,hard").expect("taken").url.options.gives_up_after(), None);
    }

    #[test]
    fn attributes_are_believed_as_long_as_was_asked() {
        let believed = |options| parse(options).expect("taken").believed;
        assert_eq!(believed(""), Believed::default());
        assert_eq!(believed("acregmin=1,acdirmax=90").directory_max, Duration::from_secs(90));
        assert_eq!(believed("noac"), believed("actimeo=0"));
        assert_eq!(believed("noac").by_kernel(), Duration::ZERO);
        assert!(parse("noac").expect("taken").synchronous && !parse("").expect("taken").synchronous);
        assert_eq!(believed("actimeo=600").by_kernel(), Duration::from_secs(1));
    }

    #[test]
    fn names_are_remembered_as_was_asked() {
        let lookups = |options: &str| parse(options).map(|settings| settings.believed);
        let usual = lookups("").expect("taken");
        assert_eq!((usual.lookups, usual.absence), (LookupCache::All, Duration::from_secs(1)));
        assert_eq!(lookups("lookupcache=all").expect("taken").absence, Duration::MAX);
        for value in ["pos", "positive"] {
            let taken = lookups(&format!("lookupcache={value}")).expect("taken");
            assert_eq!(taken.lookups, LookupCache::Positive);
        }
        let none = lookups("actimeo=60,lookupcache=none").expect("taken");
        assert_eq!((none.lookups, none.names_by_kernel()), (LookupCache::None, Duration::ZERO));
        assert_eq!(none.by_kernel(), Duration::from_secs(1));
        assert!(lookups("lookupcache=some").expect_err("no value").to_string().contains("positive or none"));
    }

    #[test]
    fn names_are_written_behind_with_a_journal_unless_it_is_off() {
        let behind = |options: &str| parse(options).map(|settings| settings.behind);
        assert_eq!(behind("").expect("taken"), None);
        assert_eq!(behind("behind,journal=off").expect("taken"), Some(Duration::from_secs(5)));
        assert_eq!(behind("behind=20s,journal=off").expect("taken"), Some(Duration::from_secs(20)));
        let journal = |options: &str| parse(options).map(|settings| (settings.journal, settings.journals));
        assert_eq!(journal("behind").expect("taken"), (true, None));
        assert_eq!(journal("behind,journal=off").expect("taken"), (false, None));
        assert_eq!(journal("behind,journal=/j").expect("taken"), (true, Some(PathBuf::from("/j"))));
        for (options, said) in [
            ("behind,journal=x", "expected on, off, or a directory"),
            ("behind,journal=off,sync", "contradict"),
            ("behind=0,journal=off", "1s to 3600s"),
            ("behind=x,journal=off", "1s to 3600s"),
            ("journal=no", "expected on, off"),
        ] {
            let error = format!("{:#}", parse(options).expect_err(options));
            assert!(error.contains(said), "{options}: {error}");
        }
    }

    #[test]
    fn alone_is_refused_with_options_that_contradict_it() {
        assert!(parse("alone,lookupcache=all,allow_other,sync").expect("taken").alone);
        assert!(!parse("").expect("taken").alone);
        for option in ["noac", "actimeo=60", "acregmin=3", "acdirmax=600", "lookupcache=none"] {
            for options in [format!("alone,{option}"), format!("{option},alone")] {
                let error = format!("{:#}", parse(&options).expect_err(&options));
                assert!(error.contains(&format!("-o alone and -o {option} contradict")), "{error}");
            }
        }
    }

    #[test]
    fn a_cache_on_disk_has_a_directory_and_a_size() {
        let disk = |options: &str| parse(options).map(|settings| settings.disk);
        assert_eq!(disk("").expect("taken"), None);
        let directory = PathBuf::from("/var/cache/x");
        let of = |size| Some(DiskCacheSettings { directory: directory.clone(), size });
        assert_eq!(disk("cache_dir=/var/cache/x").expect("taken"), of(20 << 30));
        assert_eq!(disk("cache_size=1G,ro,cache_dir=/var/cache/x").expect("taken"), of(1 << 30));
        let relative = disk("cache_dir=here").expect("taken").expect("a cache").directory;
        assert!(relative.is_absolute() && relative.ends_with("here"));
    }

    #[test]
    fn set_id_bits_and_devices_are_allowed_one_by_one() {
        for (options, expected) in [
            ("suid", (true, false)),
            ("dev", (false, true)),
            ("suid,dev,nosuid", (false, true)),
            ("", (false, false)),
        ] {
            let settings = parse(options).expect("taken");
            assert_eq!((settings.set_id, settings.devices), expected, "{options}");
        }
    }

    #[test]
    fn options_of_other_lines_in_fstab_change_nothing() {
        let usual = parse("").expect("taken");
        for options in [
            "nocto,fsc,softreval,noacl,sharecache,nordirplus",
            "fsname=x,subtype=howdah,auto_unmount,default_permissions,max_read=131072",
            "silent,loud,noiversion,nomand,relatime,_netdev,nofail,x-systemd.idle-timeout=10min",
            "context=\"system_u:object_r:tmp_t:s0:c127,c456\",defcontext=x",
        ] {
            assert_eq!(parse(options).expect(options), usual, "{options}");
        }
        let settings = parse("nonempty,remount,ro").expect("taken");
        assert!(settings.nonempty && settings.remount && settings.read_only);
        assert!(parse("softerr").expect("taken").url.options.gives_up_after().is_some());
        let after_label = parse("context=\"a,b\",ro").expect("taken");
        assert!(after_label.read_only);
    }

    #[test]
    fn locks_hold_where_that_is_asked_for() {
        for (options, place, is_shared) in [
            ("", LockPlace::Usual, true),
            ("alone", LockPlace::Usual, false),
            ("behind,journal=off", LockPlace::Usual, false),
            ("nolock", LockPlace::Local, false),
            ("local_lock=all,behind,journal=off", LockPlace::Local, false),
            ("nolock,lock", LockPlace::Server, true),
            ("local_lock=none", LockPlace::Server, true),
        ] {
            let settings = parse(options).expect("taken");
            assert_eq!((settings.locks, settings.shares_locks()), (place, is_shared), "{options}");
        }
    }

    #[test]
    fn the_version_has_the_name_that_advice_and_urls_give_it() {
        for option in ["vers=4.1", "nfsvers=4.1", "version=4.1"] {
            let version = parse(option).expect("taken").url.options.version;
            assert_eq!(version, Some(howdah_client::url::NfsVersion::V4(Some(1))), "{option}");
        }
    }

    #[test]
    fn what_is_wrong_is_said() {
        for (options, said) in [
            ("alow_other", "did you mean allow_other?"),
            ("zzzzzz", "howdah mount --help"),
            ("acregmin=soon", "a number of seconds"),
            ("timeo=0", "timeo"),
            ("nconnect=0", "the option nconnect=0 is wrong: expected auto, or 1 to 16"),
            ("port=0", "the option port=0 is wrong: expected a port"),
            ("vers=", "the option vers= is wrong: expected 3, 4, 4.1 or 4.2"),
            ("nfsvers=4.0", "the option nfsvers=4.0 is not supported: "),
            ("sec=krb4", "krb5, krb5i or krb5p"),
            ("lock,behind,journal=off", "with -o behind, locks hold on this host only"),
            ("alone,local_lock=none", "with -o alone, locks hold on this host only"),
            ("cache_size=1G", "without cache_dir=DIR"),
            ("cache_dir=", "needs a directory"),
            ("cache_dir=/x,cache_size=1M", "starts at 64M"),
            ("local_lock=flock", "local_lock=all or"),
        ] {
            let error = format!("{:#}", parse(options).expect_err(options));
            assert!(error.contains(said), "{options}: {error}");
        }
        for source in ["", "/local"] {
            let error = MountSettings::parse(source, &[]).expect_err(source).to_string();
            assert!(error.contains("type HOST:/EXPORT or nfs://HOST/EXPORT"), "{error}");
        }
    }

    #[test]
    fn a_source_may_be_written_as_mount_has_it() {
        let settings = MountSettings::parse("host:/a b/c", &[]).expect("taken");
        assert_eq!(settings.url.path_bytes(), b"/a b/c");
        let settings = MountSettings::parse("[fd00::1]:/x", &[]).expect("taken");
        assert_eq!(settings.url.host, "fd00::1");
    }
}
