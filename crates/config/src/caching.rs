//! What is cached of another server's export.

use howdah_layers::CachingOptions;
use toml::Spanned;

use super::Source;
use super::section::{Section, absolute, seconds, size, truth};
use crate::disk_cache::DiskCacheSettings;
use crate::quantity::{parse_cache_memory, parse_cache_size};

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
    if let Err(what) = check_caching(&options) {
        section.problem(place, what);
    }
    Some(options)
}

/// Whether no least time is more than its most.
pub fn check_caching(options: &CachingOptions) -> Result<(), String> {
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
