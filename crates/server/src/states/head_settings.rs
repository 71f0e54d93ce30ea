//! What all heads of a cluster must have alike, as each notes it for the others when it starts. One that differs would hand out handles
//! that no other head opens.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{self, ErrorKind, Write};
use std::net::IpAddr;
use std::path::Path;

use super::private_files::private_file;

const NAME: &str = "settings";
const NEW_NAME: &str = "settings.new";

/// What all heads of a cluster must have alike.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeadSettings {
    /// The name of all heads together, made of the key and the name of the cluster.
    pub scope: [u8; 16],
    /// The exports: id and name.
    pub exports: Vec<(u32, String)>,
    /// The addresses that move between heads. Only the clients of these are taken over: hosts have others in common, such as those of a
    /// bridge for containers.
    pub addresses: BTreeSet<IpAddr>,
}

impl HeadSettings {
    /// Compares them with those of all other heads, whose directories are beside that of this one, and leaves them there.
    ///
    /// # Errors
    /// A head has others, or they cannot be read or written.
    pub fn agree(&self, heads: &Path, own: &str) -> io::Result<()> {
        for entry in fs::read_dir(heads)? {
            let entry = entry?;
            if entry.file_name() == own {
                continue;
            }
            let text = match fs::read_to_string(entry.path().join(NAME)) {
                Err(error) if error.kind() == ErrorKind::NotFound => continue,
                text => text?,
            };
            if let Some(what) = self.difference(&text) {
                let path = entry.path();
                let what = format!("{what}. If that head is gone for good, remove {}", path.display());
                return Err(io::Error::new(ErrorKind::InvalidData, what));
            }
            let others = addresses_in(&text);
            if !others.is_empty() && others != self.addresses {
                let what = self.unlike(&others);
                tracing::warn!(
                    "{what}: only clients of those in both lists keep their locks in a failover; write the same on all heads"
                );
            }
        }
        let own = heads.join(own);
        // Nothing is to be written, which may fail, where nothing changed.
        if fs::read_to_string(own.join(NAME)).is_ok_and(|text| text == self.text()) {
            return Ok(());
        }
        self.write(&own)
    }

    fn write(&self, directory: &Path) -> io::Result<()> {
        let new = directory.join(NEW_NAME);
        let mut file = private_file(&new)?;
        file.write_all(self.text().as_bytes())?;
        file.sync_all()?;
        fs::rename(new, directory.join(NAME))?;
        File::open(directory)?.sync_all()
    }

    fn text(&self) -> String {
        let mut text = format!("scope {}\n", self.scope_text());
        for (id, name) in &self.exports {
            let _ = writeln!(text, "export {id} {name}");
        }
        for address in &self.addresses {
            let _ = writeln!(text, "address {address}");
        }
        text
    }

    fn scope_text(&self) -> String {
        format!("{:032x}", u128::from_be_bytes(self.scope))
    }

    fn unlike(&self, others: &BTreeSet<IpAddr>) -> String {
        let (theirs, ours) = (listed(others), listed(&self.addresses));
        format!("[cluster] addresses are {theirs} on another head, and {ours} here")
    }

    /// What another head has otherwise, so that this one cannot serve with it.
    fn difference(&self, other: &str) -> Option<String> {
        let others = addresses_in(other);
        // While addresses are added or removed, one head after the other starts with the new list.
        if !others.is_subset(&self.addresses) && !others.is_superset(&self.addresses) {
            return Some(format!("{}: write the same on all heads", self.unlike(&others)));
        }
        other.lines().find_map(|line| {
            if let Some(scope) = line.strip_prefix("scope ") {
                let why = "another head has another [cluster] id or key_file: no handle of one is good at the other; copy both from that head";
                return (scope != self.scope_text()).then(|| why.to_owned());
            }
            let (id, name) = line.strip_prefix("export ")?.split_once(' ')?;
            let (own, _) = self.exports.iter().find(|(_, own)| own == name)?;
            (own.to_string() != id).then(|| {
                format!("export {name} has the id {id} on another head, and {own} here: no handle of one is good at the other; write the same id into both")
            })
        })
    }
}

/// The addresses that another head noted; none if it is of an earlier version.
fn addresses_in(text: &str) -> BTreeSet<IpAddr> {
    text.lines().filter_map(|line| line.strip_prefix("address ")?.parse().ok()).collect()
}

fn listed(addresses: &BTreeSet<IpAddr>) -> String {
    addresses.iter().map(IpAddr::to_string).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(scope: u8, exports: &[(u32, &str)]) -> HeadSettings {
        let exports = exports.iter().map(|(id, name)| (*id, (*name).to_owned())).collect();
        HeadSettings { scope: [scope; 16], exports, addresses: BTreeSet::new() }
    }

    #[test]
    fn a_head_that_differs_does_not_start() {
        let home = tempfile::tempdir().expect("a directory");
        for head in ["one", "other"] {
            fs::create_dir(home.path().join(head)).expect("made");
        }
        let agree = |own: &str, settings: &HeadSettings| settings.agree(home.path(), own);
        agree("one", &settings(1, &[(1, "/data"), (2, "/more")])).expect("it is the first");
        for same in [settings(1, &[(2, "/more"), (1, "/data")]), settings(1, &[(3, "/third")])] {
            agree("other", &same).expect("they agree");
        }
        agree("one", &settings(1, &[(1, "/data"), (2, "/more")])).expect("they agree");
        let refused = |settings: &HeadSettings| agree("other", settings).expect_err("it differs").to_string();
        let key = refused(&settings(2, &[(1, "/data")]));
        assert!(key.contains("key_file") && key.contains("remove "), "{key}");
        let id = refused(&settings(1, &[(7, "/data")]));
        assert!(id.contains("export /data has the id 1 on another head, and 7 here"), "{id}");
        let one = BTreeSet::from(["192.0.2.1".parse().expect("an address")]);
        let with =
            |addresses: &BTreeSet<IpAddr>| HeadSettings { addresses: addresses.clone(), ..settings(1, &[]) };
        agree("other", &with(&one)).expect("the first head names none");
        agree("one", &with(&one)).expect("they agree");
        let address = refused(&with(&BTreeSet::from(["192.0.2.2".parse().expect("an address")])));
        assert!(address.contains("addresses are 192.0.2.1 on another head, and 192.0.2.2 here"), "{address}");
        // One head after the other gets one more address, and then one less.
        let both = &one | &BTreeSet::from(["192.0.2.2".parse().expect("an address")]);
        for (head, addresses) in [("other", &both), ("one", &both), ("other", &one), ("one", &one)] {
            agree(head, &with(addresses)).expect("one has all of the other's");
        }
        fs::remove_dir_all(home.path().join("one")).expect("removed");
        agree("other", &settings(2, &[(7, "/data")])).expect("that head is gone");
    }
}
