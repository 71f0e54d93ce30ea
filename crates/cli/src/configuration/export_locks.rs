//! Whether clients can lock the files of an export.

use std::fmt;

use clap::ValueEnum;

use super::{ExportConfig, Source};

/// Whether clients can lock the files of another server's export.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum ExportLocks {
    /// Grant locks, which apply only among the clients of this server
    #[default]
    Local,
    /// Refuse every lock at once
    Refuse,
}

impl ExportLocks {
    /// The word in the file.
    pub fn parse(text: &str) -> Option<Self> {
        Self::from_str(text, false).ok()
    }
}

impl fmt::Display for ExportLocks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Local => "local",
            Self::Refuse => "refuse",
        })
    }
}

/// Refuses `locks = "refuse"` where this server's locks exclude everybody anyway.
pub fn check_locks(exports: &[ExportConfig]) -> Result<(), String> {
    let refuses = |export: &&ExportConfig| export.locks == ExportLocks::Refuse;
    match exports.iter().filter(refuses).find(|export| !matches!(export.source, Source::Server(_))) {
        Some(export) => Err(format!(
            "export {}: locks = \"refuse\" is possible for an export of another server only (url = \"nfs://…\"); leave it out",
            export.name
        )),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::super::load_text;
    use super::super::testing::one_export;
    use super::*;

    fn loaded(lines: &str) -> Result<ExportLocks, String> {
        let text = format!("[[export]]\nname = \"/data\"\n{lines}");
        let config = load_text(Path::new("howdah.toml"), text).map_err(|error| format!("{error:#}"))?;
        Ok(config.exports[0].locks)
    }

    #[test]
    fn a_file_says_whether_locks_are_refused() {
        let far = |locks: &str| loaded(&format!("url = \"nfs://far.test/x\"\n{locks}"));
        assert_eq!(far(""), Ok(ExportLocks::Local));
        assert_eq!(far("locks = \"local\""), Ok(ExportLocks::Local));
        assert_eq!(far("locks = \"refuse\""), Ok(ExportLocks::Refuse));
        assert!(far("locks = \"none\"").expect_err("no such").contains("expected \"local\" or \"refuse\""));
        let memory = loaded("memory = \"1M\"\nlocks = \"refuse\"");
        assert!(memory.expect_err("not far").contains("leave it out"));
    }

    #[test]
    fn locks_are_refused_of_another_servers_files_only() {
        let export = one_export().exports.remove(0);
        let far = Source::server("nfs://far.test/x").expect("a URL");
        for (source, locks, is_possible) in [
            (export.source.clone(), ExportLocks::Local, true),
            (export.source.clone(), ExportLocks::Refuse, false),
            (far.clone(), ExportLocks::Local, true),
            (far, ExportLocks::Refuse, true),
        ] {
            let checked = check_locks(&[ExportConfig { source, locks, ..export.clone() }]);
            assert_eq!(checked.is_ok(), is_possible, "{checked:?}");
        }
    }
}
