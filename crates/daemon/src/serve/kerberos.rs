//! Kerberos of a server: how the process that reads its keytab is started, and which principals are which users.

use std::env;
use std::fs::DirBuilder;
use std::fs::File;
use std::os::unix::fs::DirBuilderExt;
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use howdah_kerberos::HelperSettings;
use howdah_server::exports::{Exports, PrincipalMap, PrincipalSettings, UserGroups};

use howdah_config::{KeytabTrouble, ServerConfig, asks_kerberos};

/// Where accepted requests are noted, in the state directory.
const REPLAYS: &str = "kerberos";

/// How to start the helper that accepts clients' tickets, if any export takes them. It must start before the server gives up its
/// rights.
pub fn helper_settings(config: &ServerConfig) -> Result<Option<HelperSettings>> {
    if !asks_kerberos(&config.exports) {
        return Ok(None);
    }
    let replays = config.state.join(REPLAYS);
    let made = DirBuilder::new().recursive(true).mode(0o700).create(&replays);
    made.with_context(|| format!("making the directory {}", replays.display()))?;
    let program = env::current_exe().context("finding the program of howdah")?;
    let settings = HelperSettings::new(&program, &["kerberos-helper"]).inherited();
    let keytab = config.kerberos.keytab.as_ref();
    let settings = keytab.into_iter().fold(settings, |settings, keytab| settings.with_keytab(keytab));
    Ok(Some(settings.with_replay_directory(&replays)))
}

/// Refuses a keytab that the server cannot use. Who lacks Kerberos altogether is to hear that first, from the helper.
pub fn check_keytab(config: &ServerConfig) -> Result<()> {
    let keytab = config.kerberos.keytab();
    match config.kerberos.keytab_trouble() {
        _ if !asks_kerberos(&config.exports) => Ok(()),
        Some(KeytabTrouble::Error(what)) => bail!(what),
        _ => File::open(keytab).map(drop).with_context(|| format!("reading the keytab {}", keytab.display())),
    }
}

/// Which principals are which users. Callers that were mapped stay so while the configuration of it does.
#[derive(Clone)]
pub struct Principals {
    settings: PrincipalSettings,
    map: PrincipalMap,
    users: Arc<UserGroups>,
}

impl Principals {
    /// As the configuration has it, looked up among these users; `None`: no export takes Kerberos.
    pub fn of(config: &ServerConfig, users: &Arc<UserGroups>) -> Option<Self> {
        let settings = config.kerberos.principals.clone();
        asks_kerberos(&config.exports).then(|| Self {
            map: PrincipalMap::new(settings.clone()),
            settings,
            users: Arc::clone(users),
        })
    }

    /// The same under other settings.
    pub fn with(self, settings: &PrincipalSettings) -> Self {
        if self.settings == *settings {
            return self;
        }
        Self { map: PrincipalMap::new(settings.clone()), settings: settings.clone(), ..self }
    }

    /// Exports for these principals.
    pub fn add_to(&self, exports: Exports) -> Exports {
        exports.with_principals(self.map.clone(), Arc::clone(&self.users))
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn who_lacks_the_keytab_may_lack_kerberos_and_hears_of_that_first() {
        let state = tempfile::tempdir().expect("a directory");
        let (at, keytab) = (state.path().display(), state.path().join("none"));
        let text = format!(
            "state = \"{at}\"\n[kerberos]\nkeytab = \"{}\"\n[[export]]\nname = \"/data\"\npath = \"{at}\"\nsec = [\"krb5\"]\n",
            keytab.display()
        );
        let config = howdah_config::load_text(Path::new("howdah.toml"), text).expect("a configuration");
        assert!(helper_settings(&config).expect("the helper is started").is_some());
        let error = check_keytab(&config).expect_err("there is no keytab").to_string();
        assert!(error.contains("cannot be read") && error.contains("ktadd"), "{error}");
    }
}
