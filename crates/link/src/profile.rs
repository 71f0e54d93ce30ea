//! Paths by name, each with the source of its figures.

use std::sync::LazyLock;

use crate::PathSpec;

/// A path that has a name.
#[derive(Debug, Clone)]
pub struct Profile {
    /// How it is asked for.
    pub name: &'static str,
    /// What it is, in a line.
    pub what: &'static str,
    /// Where its figures come from.
    pub source: &'static str,
    /// The path.
    pub path: PathSpec,
}

static PROFILES: LazyLock<Vec<Profile>> = LazyLock::new(Vec::new);

/// All profiles.
pub fn profiles() -> &'static [Profile] {
    &PROFILES
}

/// The profile of that name.
pub fn profile(name: &str) -> Option<&'static Profile> {
    PROFILES.iter().find(|profile| profile.name == name)
}
