//! Delegations of files that other exports have, too: where they would do harm.

use std::path::Path;

use super::{Delegations, ExportConfig, Source};

/// Why an export gives no delegations with `auto`, as far as the configuration shows it.
pub fn delegations_obstacle(export: &ExportConfig, exports: &[ExportConfig]) -> Option<String> {
    if export.shared {
        return Some("other heads of the cluster serve the same files".to_owned());
    }
    if let Source::Server(_) = export.source {
        return Some("its files are another server's".to_owned());
    }
    let other = other_of_same_files(export, exports)?;
    Some(format!("export {} has the same files", other.name))
}

fn other_of_same_files<'e>(export: &ExportConfig, exports: &'e [ExportConfig]) -> Option<&'e ExportConfig> {
    exports.iter().find(|other| other.name != export.name && overlap(export, other))
}

/// Refuses delegations of files that are changed in other ways than through their export: clients would not learn of it.
pub fn check_delegations(exports: &[ExportConfig]) -> Result<(), String> {
    for export in exports.iter().filter(|export| export.delegations == Delegations::Read) {
        let name = &export.name;
        if let Source::Server(_) = export.source {
            return Err(format!(
                "export {name}: delegations = \"read\" is not possible for files of another server, where they change without our \
                 knowledge; leave it out"
            ));
        }
        if let Some(other) = other_of_same_files(export, exports) {
            return Err(format!(
                "export {name}: delegations = \"read\" is not possible, since export {} has the same files: clients would not learn of \
                 changes made there; leave one of them out",
                other.name
            ));
        }
    }
    Ok(())
}

fn overlap(one: &ExportConfig, other: &ExportConfig) -> bool {
    let (Some(one), Some(other)) = (one.source.directory(), other.source.directory()) else { return false };
    let contains = |outer: &Path, inner: &Path| inner.starts_with(outer);
    contains(one, other) || contains(other, one)
}

#[cfg(test)]
mod tests {
    use super::super::testing::one_export;
    use super::*;

    #[test]
    fn files_that_change_elsewhere_have_no_delegations() {
        let export = one_export().exports.remove(0);
        let with = |name: &str, source: Source, delegations| ExportConfig {
            name: name.parse().expect("a name"),
            source,
            delegations,
            ..export.clone()
        };
        let directory = |path: &str| Source::Directory(path.into());
        let delegating = with("/a", directory("/srv/a"), Delegations::Read);
        let beside = with("/b", directory("/srv/ab"), Delegations::Read);
        assert_eq!(check_delegations(&[delegating.clone(), beside]), Ok(()));
        for path in ["/srv", "/srv/a", "/srv/a/b"] {
            let other = with("/c", directory(path), Delegations::None);
            let refused = check_delegations(&[delegating.clone(), other]).expect_err(path);
            assert!(refused.contains("export /c has the same files"), "{refused}");
        }
        let far = with("/far", Source::server("nfs://far.test/x").expect("a URL"), Delegations::Read);
        assert!(check_delegations(&[far]).is_err_and(|why| why.contains("another server")));
    }

    #[test]
    fn by_default_an_export_alone_with_its_files_gives_delegations() {
        let export = ExportConfig {
            source: Source::Directory("/srv/a".into()),
            delegations: Delegations::Auto,
            ..one_export().exports.remove(0)
        };
        let other = ExportConfig { name: "/other".parse().expect("a name"), ..export.clone() };
        assert_eq!(delegations_obstacle(&export, std::slice::from_ref(&export)), None);
        let obstacle = |export: &ExportConfig| {
            let both = [export.clone(), other.clone()];
            assert_eq!(check_delegations(&both), Ok(()));
            delegations_obstacle(export, &both).expect("none are given")
        };
        assert!(obstacle(&export).contains("export /other has the same files"));
        assert!(obstacle(&ExportConfig { shared: true, ..export.clone() }).contains("heads"));
        let source = Source::server("nfs://far.test/x").expect("a URL");
        assert!(obstacle(&ExportConfig { source, ..export.clone() }).contains("another server"));
    }
}
