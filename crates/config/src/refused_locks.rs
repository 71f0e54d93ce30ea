//! Where locks may be refused.

use super::{ExportConfig, ExportLocks, Source};

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
