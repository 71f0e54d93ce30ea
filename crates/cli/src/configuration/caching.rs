//! What is cached of another server's export.

use howdah_layers::CachingOptions;
use toml::Spanned;

use super::Source;
use super::section::{Section, absolute, seconds, size, truth};
use crate::arguments::CachingArguments;
use crate::arguments::quantity::{parse_cache_memory, parse_cache_size};
use crate::places::DiskCacheSettings;

/// What flags say; `None` without `--cache`.
pub fn from_flags(
    cache: bool,
    flags: &CachingArguments,
    source: &Source,
) -> Result<Option<CachingOptions>, String> {
    match cache {
        false if *flags == CachingArguments::default() => return Ok(None),
        false => return Err("sizes and times of caches need --cache".to_owned()),
        true => {}
    }
    let Source::Server(_) = source else {
        return Err("only an export of another server is cached: nfs://HOST/EXPORT".to_owned());
    };
    let mut options = CachingOptions::default();
    let times = options.attributes;
    options.attributes = flags.actimeo.map_or(times, |time| times.with_all(time));
    let attributes = &mut options.attributes;
    for (time, said) in [
        (&mut attributes.file_min, flags.acregmin),
        (&mut attributes.file_max, flags.acregmax),
        (&mut attributes.directory_min, flags.acdirmin),
        (&mut attributes.directory_max, flags.acdirmax),
    ] {
        *time = said.unwrap_or(*time);
    }
    if let Some(memory) = flags.cache_memory {
        options.memory_budget = usize::try_from(memory).unwrap_or(usize::MAX);
    }
    check(&options)?;
    Ok(Some(options))
}

/// The cache on disk that flags ask for.
pub fn disk_from_flags(flags: &CachingArguments) -> Option<DiskCacheSettings> {
    let directory = flags.cache_dir.as_ref()?;
    let directory = std::path::absolute(directory).unwrap_or_else(|_| directory.clone());
    Some(DiskCacheSettings { directory, size: flags.cache_size.unwrap_or(DiskCacheSettings::SIZE) })
}

/// The cache on disk that the table of an export asks for.
pub fn on_disk(section: &mut Section<'_, '_>) -> Option<DiskCacheSettings> {
    let has_cache = section.has("cache");
    let directory = section.setting("cache_dir", absolute);
    let size = section.setting("cache_size", size(parse_cache_size));
    match (&directory, &size) {
        (Some(directory), _) if !has_cache => {
            section.problem(directory.span(), "`cache_dir`: has no effect without `cache = true`".to_owned());
        }
        (None, Some(size)) => {
            section.problem(size.span(), "`cache_size`: has no effect without `cache_dir`".to_owned());
        }
        _ => {}
    }
    let size = size.map_or(DiskCacheSettings::SIZE, Spanned::into_inner);
    Some(DiskCacheSettings { directory: directory?.into_inner(), size })
}

/// What the table of an export says.
pub fn in_table(section: &mut Section<'_, '_>, source: Option<&Source>) -> Option<CachingOptions> {
    let cache = section.setting("cache", truth);
    let mut options = CachingOptions::default();
    let mut said = cache.as_ref().filter(|cache| *cache.get_ref()).map(Spanned::span);
    let mut needs = None;
    if let Some(memory) = section.setting("cache_memory", size(parse_cache_memory)) {
        needs = needs.or(Some(("cache_memory", memory.span())));
        options.memory_budget = usize::try_from(memory.into_inner()).unwrap_or(usize::MAX);
    }
    if let Some(time) = section.setting("actimeo", seconds) {
        needs = needs.or(Some(("actimeo", time.span())));
        options.attributes = options.attributes.with_all(time.into_inner());
    }
    let attributes = &mut options.attributes;
    for (key, place) in [
        ("acregmin", &mut attributes.file_min),
        ("acregmax", &mut attributes.file_max),
        ("acdirmin", &mut attributes.directory_min),
        ("acdirmax", &mut attributes.directory_max),
    ] {
        if let Some(time) = section.setting(key, seconds) {
            needs = needs.or(Some((key, time.span())));
            *place = time.into_inner();
        }
    }
    match (&said, needs) {
        (None, Some((key, place))) => {
            section.problem(place, format!("`{key}`: has no effect without `cache = true`"));
        }
        (Some(place), _) if source.is_some_and(|source| !matches!(source, Source::Server(_))) => {
            let what = "`cache`: only an export of another server (`url`) is cached".to_owned();
            section.problem(place.clone(), what);
        }
        _ => {}
    }
    let place = said.take()?;
    if let Err(what) = check(&options) {
        section.problem(place, what);
    }
    Some(options)
}

fn check(options: &CachingOptions) -> Result<(), String> {
    let attributes = &options.attributes;
    for (low, high, least, most) in [
        ("acregmin", "acregmax", attributes.file_min, attributes.file_max),
        ("acdirmin", "acdirmax", attributes.directory_min, attributes.directory_max),
    ] {
        if least > most {
            return Err(format!(
                "{low} ({} s) is more than {high} ({} s)",
                least.as_secs_f64(),
                most.as_secs_f64()
            ));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::time::Duration;

    use clap::Parser;

    use super::*;
    use crate::arguments::{Command, Howdah};
    use crate::configuration::{load_arguments, load_text};

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
