//! How a helper is started: by which program, as which user, and with which keytab, cache and settings of Kerberos.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// Variables of the environment by which users steer the library, and those that it finds its files by.
const INHERITED: [&str; 9] = [
    "HOME",
    "KRB5_CONFIG",
    "KRB5_KTNAME",
    "KRB5_CLIENT_KTNAME",
    "KRB5_TRACE",
    "KRB5CCNAME",
    "KRB5RCACHEDIR",
    "KRB5RCACHENAME",
    "GSS_USE_PROXY",
];

/// How to start a helper. Its environment is empty but for what is named here.
#[derive(Debug, Clone)]
pub struct HelperSettings {
    pub(crate) program: PathBuf,
    pub(crate) arguments: Vec<OsString>,
    pub(crate) environment: Vec<(OsString, OsString)>,
    pub(crate) user: Option<(u32, u32)>,
}

impl HelperSettings {
    /// A helper that is this program with these arguments, by which it calls [`run_helper`](crate::run_helper).
    pub fn new(program: &Path, arguments: &[&str]) -> Self {
        Self {
            program: program.to_owned(),
            arguments: arguments.iter().map(OsString::from).collect(),
            environment: Vec::new(),
            user: None,
        }
    }

    /// With this variable in its environment.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.environment.retain(|(other, _)| other != name);
        self.environment.push((name.into(), value.as_ref().into()));
        self
    }

    /// With what this process's own environment says to the library: for a command that a user runs.
    #[must_use]
    pub fn inherited(mut self) -> Self {
        for name in INHERITED {
            if let Some(value) = std::env::var_os(name) {
                self = self.with(name, value);
            }
        }
        self
    }

    /// With the keys of the services that it accepts tickets for; otherwise those of the system's keytab.
    #[must_use]
    pub fn with_keytab(self, keytab: &Path) -> Self {
        self.with("KRB5_KTNAME", keytab)
    }

    /// As a principal whose key is in this keytab: tickets are fetched by it, and kept in memory.
    #[must_use]
    pub fn with_client_keytab(self, keytab: &Path) -> Self {
        self.with("KRB5_CLIENT_KTNAME", keytab).with("KRB5CCNAME", "MEMORY:howdah")
    }

    /// With this directory for the record of requests that were accepted, by which a replay is found.
    #[must_use]
    pub fn with_replay_directory(self, directory: &Path) -> Self {
        self.with("KRB5RCACHEDIR", directory)
    }

    /// As this user and group, without further groups. Only root may ask for that.
    #[must_use]
    pub fn as_user(mut self, user: u32, group: u32) -> Self {
        self.user = Some((user, group));
        self
    }
}
