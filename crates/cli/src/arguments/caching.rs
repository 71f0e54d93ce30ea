//! Flags of the caches before another server's export.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use howdah_config::{DiskCacheSettings, Source, check_caching};
use howdah_layers::CachingOptions;

use howdah_config::quantity::{parse_believed, parse_cache_memory, parse_cache_size};

/// How an export of another server is cached.
#[derive(Debug, Default, Clone, PartialEq, Eq, Args)]
#[command(next_help_heading = "Caches (for nfs://HOST/EXPORT)")]
pub struct CachingArguments {
    /// Memory for cached data: half for read-ahead, half for writes that are not yet safe on the other server [default: 512M]
    #[arg(long, value_name = "SIZE", value_parser = parse_cache_memory, conflicts_with = "config")]
    pub cache_memory: Option<u64>,

    /// Keep data that was read in this directory on disk, over restarts
    ///
    /// Each file is checked with the other server before its data is used. Data is stored unencrypted, for the user of this process
    /// alone. One process can use a directory.
    #[arg(long, value_name = "DIR", conflicts_with = "config")]
    pub cache_dir: Option<PathBuf>,

    /// Max space for it on the disk; 5 % of the disk always stay free [default: 20G]
    #[arg(long, value_name = "SIZE", value_parser = parse_cache_size, requires = "cache_dir", conflicts_with = "config")]
    pub cache_size: Option<u64>,

    /// How long to cache attributes, names and permissions [default: 3 s for files and 30 s for directories after a change,
    /// doubling to 60 s while nothing changes]
    ///
    /// Sets the four times below. Clients of this server see each other's changes at once; changes made on the other server may
    /// appear this much later. 0 asks the other server every time.
    #[arg(long, value_name = "TIME", value_parser = parse_believed, conflicts_with = "config")]
    pub actimeo: Option<Duration>,

    /// Min cache time for files [default: 3 s]
    #[arg(long, value_name = "TIME", value_parser = parse_believed, conflicts_with_all = ["config", "actimeo"])]
    pub acregmin: Option<Duration>,

    /// Max cache time for files [default: 60 s]
    #[arg(long, value_name = "TIME", value_parser = parse_believed, conflicts_with_all = ["config", "actimeo"])]
    pub acregmax: Option<Duration>,

    /// Min cache time for directories [default: 30 s]
    #[arg(long, value_name = "TIME", value_parser = parse_believed, conflicts_with_all = ["config", "actimeo"])]
    pub acdirmin: Option<Duration>,

    /// Max cache time for directories [default: 60 s]
    #[arg(long, value_name = "TIME", value_parser = parse_believed, conflicts_with_all = ["config", "actimeo"])]
    pub acdirmax: Option<Duration>,
}

impl CachingArguments {
    /// What they say of caches in memory; `None` without `--cache`.
    pub fn options(&self, cache: bool, source: &Source) -> Result<Option<CachingOptions>, String> {
        match cache {
            false if *self == Self::default() => return Ok(None),
            false => return Err("sizes and times of caches need --cache".to_owned()),
            true => {}
        }
        let Source::Server(_) = source else {
            return Err("only an export of another server is cached: nfs://HOST/EXPORT".to_owned());
        };
        let mut options = CachingOptions::default();
        let times = options.attributes;
        options.attributes = self.actimeo.map_or(times, |time| times.with_all(time));
        let attributes = &mut options.attributes;
        for (time, said) in [
            (&mut attributes.file_min, self.acregmin),
            (&mut attributes.file_max, self.acregmax),
            (&mut attributes.directory_min, self.acdirmin),
            (&mut attributes.directory_max, self.acdirmax),
        ] {
            *time = said.unwrap_or(*time);
        }
        if let Some(memory) = self.cache_memory {
            options.memory_budget = usize::try_from(memory).unwrap_or(usize::MAX);
        }
        check_caching(&options)?;
        Ok(Some(options))
    }

    /// The cache on disk that they ask for.
    pub fn disk(&self) -> Option<DiskCacheSettings> {
        let directory = self.cache_dir.as_ref()?;
        let directory = std::path::absolute(directory).unwrap_or_else(|_| directory.clone());
        Some(DiskCacheSettings { directory, size: self.cache_size.unwrap_or(DiskCacheSettings::SIZE) })
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::time::Duration;

    use clap::Parser;
    use howdah_config::load_text;

    use super::*;
    use crate::arguments::{Command, Howdah, load_arguments};

    fn typed(words: &[&str]) -> anyhow::Result<Option<CachingOptions>> {
        let line = ["howdah"].iter().chain(words).chain(&["--state", "/nonexistent"]);
        let arguments = match Howdah::try_parse_from(line)?.command {
            Command::Serve(arguments) => *arguments,
            Command::Relay(arguments) => arguments.into_serve(),
            other => panic!("{other:?}"),
        };
        Ok(load_arguments(&arguments)?.exports[0].caching)
    }

    fn written(settings: &str) -> Result<Option<CachingOptions>, String> {
        let text = format!("state = '/nonexistent'\n[[export]]\nname = '/x'\n{settings}\n");
        let config = load_text(Path::new("howdah.toml"), text).map_err(|error| format!("{error:#}"))?;
        Ok(config.exports[0].caching)
    }

    #[test]
    fn a_relay_is_a_server_with_caches() {
        let usual = Some(CachingOptions::default());
        assert_eq!(typed(&["serve", "nfs://far/x"]).expect("good"), None);
        assert_eq!(typed(&["serve", "--cache", "nfs://far/x"]).expect("good"), usual);
        assert_eq!(typed(&["relay", "nfs://far/x"]).expect("good"), usual);
        assert_eq!(written("url = 'nfs://far/x'\ncache = true"), Ok(usual));
        assert_eq!(written("url = 'nfs://far/x'\ncache = false"), Ok(None));
    }

    #[test]
    fn sizes_and_times_are_said_in_both_ways_alike() {
        let flags = ["relay", "nfs://far/x", "--cache-memory", "1G", "--acregmin", "1", "--acdirmax", "0"];
        assert!(
            typed(&flags).expect_err("30 s and more are no more than 0").to_string().contains("acdirmin")
        );
        let flags =
            typed(&["relay", "nfs://far/x", "--cache-memory", "1G", "--acregmin", "1"]).expect("good");
        let file = written("url = 'nfs://far/x'\ncache = true\ncache_memory = '1G'\nacregmin = 1");
        assert_eq!(Ok(flags), file);
        let options = flags.expect("cached");
        let second = Duration::from_secs(1);
        assert_eq!((options.memory_budget, options.attributes.file_min), (1 << 30, second));
        let never = typed(&["relay", "nfs://far/x", "--actimeo", "0"]).expect("good").expect("cached");
        assert_eq!(never.attributes, CachingOptions::default().attributes.with_all(Duration::ZERO));
        assert_eq!(written("url = 'nfs://far/x'\ncache = true\nactimeo = 0"), Ok(Some(never)));
    }

    #[test]
    fn a_cache_on_disk_is_said_in_both_ways_alike() {
        let line = [
            "howdah",
            "relay",
            "nfs://far/x",
            "--cache-dir",
            "/c",
            "--cache-size",
            "1G",
            "--state",
            "/nonexistent",
        ];
        let Command::Relay(arguments) = Howdah::try_parse_from(line).expect("good").command else { panic!() };
        let flags = load_arguments(&arguments.into_serve()).expect("good").exports[0].disk_cache.clone();
        let text = "state = '/nonexistent'\n[[export]]\nname = '/x'\nurl = 'nfs://far/x'\ncache = true\ncache_dir = '/c'\ncache_size = '1G'\n";
        let config = load_text(Path::new("howdah.toml"), text.to_owned()).expect("good");
        assert_eq!(flags, config.exports[0].disk_cache);
        assert_eq!(flags, Some(DiskCacheSettings { directory: "/c".into(), size: 1 << 30 }));
    }

    #[test]
    fn what_has_no_effect_is_refused() {
        for words in [&["serve", "--cache", "/usr"][..], &["serve", "nfs://far/x", "--actimeo", "1"]] {
            assert!(typed(words).expect_err("refused").to_string().contains("cannot cache this"));
        }
        for (settings, part) in [
            ("path = '/usr'\ncache = true", "only an export of another server"),
            ("url = 'nfs://far/x'\nactimeo = 3", "without `cache = true`"),
            ("url = 'nfs://far/x'\ncache_dir = '/c'", "without `cache = true`"),
            ("url = 'nfs://far/x'\ncache = true\ncache_size = '1G'", "without `cache_dir`"),
            ("url = 'nfs://far/x'\ncache = true\ncache_dir = 'c'", "cache_dir"),
            ("url = 'nfs://far/x'\ncache = true\ncache_memory = '1M'", "starts at 16M"),
        ] {
            let why = written(settings).expect_err(settings);
            assert!(why.contains(part), "{settings}: {why}");
        }
    }
}
