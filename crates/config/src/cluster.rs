//! The section `[cluster]`: several servers (heads) that serve the same files as one, and what that forbids.

use std::collections::BTreeSet;
use std::net::IpAddr;
use std::path::{Path, PathBuf};

use toml::Spanned;
use toml::de::DeValue;

use super::identifier::{cluster_identifier, identifier};
use super::section::{Section, absolute, kind, text};
use super::{Delegations, ExportConfig, Source};

/// The longest name of a cluster.
const LONGEST: usize = 64;

/// What a head shares with the others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClusterConfig {
    /// The name of the cluster.
    pub id: String,
    /// The secret of the cluster.
    pub key_file: PathBuf,
    /// The directory on the cluster file system where heads keep the records of their clients, if they do.
    pub records: Option<PathBuf>,
    /// The addresses that move between heads.
    pub addresses: BTreeSet<IpAddr>,
}

/// Reads the section, if there is one.
pub fn cluster(
    file: &mut Section<'_, '_>,
    there: impl FnOnce(&DeValue<'_>) -> Result<PathBuf, String>,
) -> Option<ClusterConfig> {
    let value = file.raw("cluster")?;
    let DeValue::Table(table) = value.get_ref() else {
        let what = format!("`cluster`: expected a section [cluster], found {}", kind(value.get_ref()));
        file.problem(value.span(), what);
        return None;
    };
    let mut section = Section::new("[cluster]", table, value.span(), file.problems());
    let id = section.required("id", "id = \"storage\"", id);
    let key_file = section.required("key_file", "key_file = \"/etc/howdah/cluster.key\"", |value| {
        let help = "howdah cluster-key FILE makes one, which every head needs a copy of";
        there(value).map_err(|what| format!("{what}; {help}"))
    });
    let records = section.setting("records", absolute).map(Spanned::into_inner);
    let addresses = match records {
        Some(_) => section.required("addresses", "addresses = [\"10.0.0.7\"]", addresses)?.into_inner(),
        None => section.setting("addresses", addresses).map(Spanned::into_inner).unwrap_or_default(),
    };
    section.finish();
    Some(ClusterConfig { id: id?.into_inner(), key_file: key_file?.into_inner(), records, addresses })
}

/// Addresses that move between heads.
fn addresses(value: &DeValue<'_>) -> Result<BTreeSet<IpAddr>, String> {
    let expected =
        || "expected a list of the addresses that move between heads, such as [\"10.0.0.7\"]".to_owned();
    let DeValue::Array(list) = value else { return Err(expected()) };
    let address = |value: &Spanned<DeValue<'_>>| {
        let address: IpAddr = text(value.get_ref())?.parse().map_err(|_| expected())?;
        let address = address.to_canonical();
        if is_of_each_host(address) {
            return Err(format!("{address} is an address of every host, and moves nowhere"));
        }
        Ok(address)
    };
    list.iter().map(address).collect()
}

/// Whether each host has this address, or may have it.
fn is_of_each_host(address: IpAddr) -> bool {
    let is_link_local = match address {
        IpAddr::V4(address) => address.is_link_local(),
        IpAddr::V6(address) => address.is_unicast_link_local(),
    };
    address.is_loopback() || address.is_unspecified() || is_link_local
}

fn id(value: &DeValue<'_>) -> Result<String, String> {
    let id = text(value)?;
    let fits = |c: char| c.is_ascii_alphanumeric() || "-._".contains(c);
    if id.is_empty() || id.len() > LONGEST || !id.chars().all(fits) {
        return Err(format!("expected 1 to {LONGEST} letters, digits, dots, dashes and underscores"));
    }
    Ok(id.to_owned())
}

impl ClusterConfig {
    /// Gives these exports the ids that they have on every head, whatever path their files have there.
    ///
    /// # Errors
    /// An export cannot be shared, or two would have the same id.
    pub fn share(&self, exports: &mut [ExportConfig]) -> Result<(), String> {
        for export in &mut *exports {
            must_be_shareable(export)?;
            self.must_hide_records(export)?;
            if export.id == identifier(&export.name, &export.source) {
                export.id = cluster_identifier(&self.id, &export.name);
            }
            export.shared = true;
        }
        for (position, export) in exports.iter().enumerate() {
            if let Some(other) = exports[..position].iter().find(|other| other.id == export.id) {
                return Err(format!(
                    "export {} has the id {} of export {}; give it another `id`, the same on every head",
                    export.name, export.id, other.name
                ));
            }
        }
        Ok(())
    }
}

impl ClusterConfig {
    /// Clients of NFS must neither read nor damage what heads write of them.
    fn must_hide_records(&self, export: &ExportConfig) -> Result<(), String> {
        let (Some(records), Source::Directory(directory)) = (&self.records, &export.source) else {
            return Ok(());
        };
        let [real, exported] = [records, directory].map(|path| real_path(path));
        if !real.starts_with(&exported) {
            return Ok(());
        }
        let (name, records) = (&export.name, records.display());
        Err(format!(
            "[cluster] records = \"{records}\" is inside export {name}, where clients could change it; choose a directory of the cluster file system outside all exports"
        ))
    }
}

/// A path without symbolic links, as far as it is there.
fn real_path(path: &Path) -> PathBuf {
    let mut missing = PathBuf::new();
    for ancestor in path.ancestors() {
        if let Ok(real) = ancestor.canonicalize() {
            return real.join(missing);
        }
        let Some(name) = ancestor.file_name() else { break };
        missing = if missing.as_os_str().is_empty() { name.into() } else { Path::new(name).join(missing) };
    }
    path.to_owned()
}

fn must_be_shareable(export: &ExportConfig) -> Result<(), String> {
    let name = &export.name;
    let why = match (&export.source, export.delegations) {
        (Source::Memory(_), _) => {
            "its files are in the memory of this head, where no other head finds them; serve a directory"
        }
        (Source::Server(_), _) => {
            "its handles are kept in the state directory of this head, where no other head finds them; serve a directory"
        }
        (Source::Directory(_), Delegations::Read) => {
            "delegations = \"read\" is not possible: clients would not learn of changes made through other heads; leave it out"
        }
        (Source::Directory(_), Delegations::Auto | Delegations::None) => return Ok(()),
    };
    Err(format!("export {name} cannot be served by a cluster: {why}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::one_export;

    fn cluster() -> ClusterConfig {
        ClusterConfig {
            id: "storage".to_owned(),
            key_file: "/nonexistent".into(),
            records: None,
            addresses: BTreeSet::new(),
        }
    }

    #[test]
    fn an_export_has_one_id_wherever_its_files_are() {
        let id_at = |path: &str, written: Option<u32>| {
            let mut exports = one_export().exports;
            exports[0].source = Source::Directory(path.into());
            exports[0].id = written.unwrap_or_else(|| identifier(&exports[0].name, &exports[0].source));
            cluster().share(&mut exports).expect("it can be shared");
            assert!(exports[0].shared);
            exports[0].id
        };
        assert_eq!(id_at("/mnt/one", None), id_at("/mnt/other", None));
        assert_ne!(
            id_at("/mnt/one", None),
            identifier(&one_export().exports[0].name, &Source::Directory("/mnt/one".into()))
        );
        assert_eq!(id_at("/mnt/one", Some(7)), 7, "what is written holds");
    }

    #[test]
    fn records_are_kept_where_no_client_reaches_them() {
        let home = tempfile::tempdir().expect("a directory");
        std::fs::create_dir(home.path().join("data")).expect("made");
        std::os::unix::fs::symlink("data", home.path().join("link")).expect("made");
        let share = |records: &str, exported: &str| {
            let mut exports = one_export().exports;
            exports[0].source = Source::Directory(home.path().join(exported));
            let cluster = ClusterConfig { records: Some(home.path().join(records)), ..cluster() };
            cluster.share(&mut exports)
        };
        for (records, exported) in [("data", "data"), ("data/x/y", "link"), ("link/x", "data")] {
            assert!(
                share(records, exported).is_err_and(|why| why.contains("outside all exports")),
                "{records}"
            );
        }
        for (records, exported) in [("heads", "data"), ("data-2", "data"), (".heads", "link")] {
            share(records, exported).expect("it is outside");
        }
    }

    #[test]
    fn what_no_other_head_has_is_refused() {
        let refused = |change: fn(&mut ExportConfig)| {
            let mut exports = one_export().exports;
            change(&mut exports[0]);
            cluster().share(&mut exports).expect_err("it cannot be shared")
        };
        assert!(refused(|export| export.source = Source::Memory(1 << 20)).contains("serve a directory"));
        let far = refused(|export| export.source = Source::server("nfs://far.test/x").expect("a URL"));
        assert!(far.contains("serve a directory"), "{far}");
        assert!(refused(|export| export.delegations = Delegations::Read).contains("leave it out"));
        let mut two = [one_export().exports, one_export().exports].concat();
        two[1].name = "/other".parse().expect("a name");
        assert!(cluster().share(&mut two).is_err_and(|why| why.contains("give it another `id`")));
    }
}
