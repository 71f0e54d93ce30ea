//! Programs that make or remove many names on a mount: `tar x`, `git clone`, `git init`, `rsync -a`, `rm -rf`, and temporary files as npm
//! makes them. Two times count: until the program returns, and until all is safe on the server. Then the server's tree is compared.

use std::path::PathBuf;

use anyhow::{Context, Result};

use super::file;
use crate::plan::Cell;
use crate::record::CommandRecord;
use crate::run::Place;

/// What a program does. Its script gets the directory of the source, the directory to work in, and the number of files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NamesKind {
    /// `tar -x` of an archive.
    Untar,
    /// `git clone` of a bare repository that is not on the mount.
    Clone,
    /// `git init`.
    Init,
    /// `rsync -a` of a tree that is not on the mount.
    Rsync,
    /// `rm -rf` of a tree that another client made.
    Remove,
    /// Each file is made after two temporary ones, which are removed. Nothing is made durable.
    Temporaries,
}

/// Makes 50 files in each directory, and removes the temporary ones of a directory together.
const TEMPORARIES: &str = r#"
data=$(head -c 6600 /dev/zero | tr '\0' x)
number=0
while [ $number -lt $3 ]; do
    directory=$2/$((number / 50))
    mkdir -p "$directory"
    end=$((number + 50))
    while [ $number -lt $end ] && [ $number -lt $3 ]; do
        for name in $number.1.tmp $number.2.tmp $number.js; do
            printf '%s %s' $number "$data" >"$directory/$name"
        done
        number=$((number + 1))
    done
    rm -f "$directory"/*.tmp
done"#;

/// Makes a bare repository of the source.
const BARE: &str = r#"
cd "$1/tree"
git init -q
git add -A
git -c user.name=lab -c user.email=lab commit -qm tree
git clone -q --bare . ../bare.git
rm -rf .git"#;

/// Compares names, kinds, permissions, times in seconds, and data.
const COMPARE: &str = r#"
list() { (cd "$1" && find . -mindepth 1 -printf '%P %y %m %Ts\n' | LC_ALL=C sort); }
list "$1/tree" >"$1/wanted"
list "$2" >"$1/served"
diff "$1/wanted" "$1/served" >&2
diff -r "$1/tree" "$2" >&2"#;

impl NamesKind {
    /// The kind that a workload names.
    pub fn of(workload: &str) -> Option<Self> {
        Some(match workload {
            "untar" => Self::Untar,
            "clone" => Self::Clone,
            "init" => Self::Init,
            "rsync" => Self::Rsync,
            "remove" => Self::Remove,
            "temporaries" => Self::Temporaries,
            _ => return None,
        })
    }

    /// The script that is measured.
    fn script(self) -> &'static str {
        match self {
            Self::Untar => r#"mkdir "$2"; tar -xf "$1/tree.tar" -C "$2""#,
            Self::Clone => r#"git clone -q "file://$1/bare.git" "$2""#,
            Self::Init => r#"git init -q "$2""#,
            Self::Rsync => r#"rsync -a "$1/tree/" "$2""#,
            Self::Remove => r#"rm -rf "$2""#,
            Self::Temporaries => TEMPORARIES,
        }
    }

    /// The script that completes the source, where a tree is not all of it.
    fn preparation(self) -> Option<&'static str> {
        match self {
            Self::Untar => Some(r#"tar -cf "$1/tree.tar" -C "$1/tree" ."#),
            Self::Clone => Some(BARE),
            Self::Rsync | Self::Remove => None,
            Self::Init | Self::Temporaries => Some(self.script()),
        }
    }

    /// The script that fails unless the server's tree is as it should be.
    fn check(self) -> &'static str {
        match self {
            Self::Untar | Self::Rsync => COMPARE,
            Self::Clone => {
                r#"diff -r -x .git "$1/tree" "$2" >&2; git -c safe.directory='*' -C "$2" fsck --no-progress"#
            }
            Self::Init | Self::Temporaries => r#"diff -r "$1/tree" "$2" >&2"#,
            Self::Remove => r#"if [ -e "$2" ]; then echo "$2 is still there" >&2; exit 1; fi"#,
        }
    }

    /// The program that it takes beside those of every system.
    pub fn needed(self) -> &'static [&'static str] {
        match self {
            Self::Untar => &["tar"],
            Self::Clone | Self::Init => &["git"],
            Self::Rsync => &["rsync"],
            Self::Remove | Self::Temporaries => &[],
        }
    }
}

/// Work with names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamesWork {
    /// The program.
    pub kind: NamesKind,
    /// The tree's name in the export.
    pub tree: String,
    /// Where the source is, on a disk of the client.
    pub source: PathBuf,
    /// Its files. 0 for `git init`.
    pub files: u64,
}

impl NamesWork {
    /// The command that is measured, of the tree below the directory `mounted`.
    pub fn command(&self, mounted: &str) -> Vec<String> {
        self.shell(
            self.kind.script(),
            &self.source.display().to_string(),
            &format!("{mounted}/{}", self.tree),
        )
    }

    /// The command after which all is safe on the server: fsync of the mount's root.
    pub fn safe_command(&self, mounted: &str) -> Vec<String> {
        ["sync", mounted].map(str::to_owned).to_vec()
    }

    /// Makes the source, or what is to be removed. Gives the command that completes it.
    pub fn grow(&self, cell: &Cell, place: &Place) -> Result<Option<CommandRecord>> {
        let own = self.source.join("tree");
        let tree = match self.kind {
            NamesKind::Remove => Some(place.export.join(&self.tree)),
            NamesKind::Untar | NamesKind::Clone | NamesKind::Rsync => Some(own.clone()),
            NamesKind::Init | NamesKind::Temporaries => None,
        };
        std::fs::create_dir_all(&self.source).with_context(|| format!("making {}", self.source.display()))?;
        if let Some(tree) = tree {
            file::deep_tree(&tree, self.files)?;
        }
        let source = self.source.display().to_string();
        let own = own.display().to_string();
        let prepared = self.kind.preparation().map(|script| self.shell(script, &source, &own));
        Ok(prepared.map(|command| at_server(cell, "source", command)))
    }

    /// The command that compares the server's tree with what it should be.
    pub fn check(&self, cell: &Cell, place: &Place) -> CommandRecord {
        let served = place.export.join(&self.tree).display().to_string();
        let source = self.source.display().to_string();
        at_server(cell, "compare", self.shell(self.kind.check(), &source, &served))
    }

    fn shell(&self, script: &str, source: &str, tree: &str) -> Vec<String> {
        ["sh", "-ec", script, "names", source, tree, &self.files.to_string()].map(str::to_owned).to_vec()
    }
}

fn at_server(cell: &Cell, name: &str, command: Vec<String>) -> CommandRecord {
    CommandRecord { host: cell.spec.server.host.clone(), name: name.to_owned(), command }
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::process::Command;

    use super::*;

    fn runs(command: &[String]) -> bool {
        let output = Command::new(&command[0]).args(&command[1..]).output().expect("sh runs");
        output.status.success()
    }

    fn cell() -> Cell {
        Cell { number: 1, factors: Default::default(), spec: Default::default() }
    }

    fn place(home: &Path) -> Place {
        Place {
            howdah: "/bin/howdah".into(),
            temporary: home.to_owned(),
            export: home.join("export"),
            logs: home.to_owned(),
            addresses: Default::default(),
            seed: 7,
        }
    }

    /// Prepares, works on the export itself, and compares; then again when the tree was damaged.
    fn check(workload: &str, files: u64, damage: impl Fn(&Path)) {
        let home = tempfile::tempdir().expect("a directory");
        let (cell, place) = (cell(), place(home.path()));
        std::fs::create_dir(&place.export).expect("an export");
        let kind = NamesKind::of(workload).expect("a kind");
        let names = NamesWork { kind, tree: "main.tree".into(), source: home.path().join("source"), files };
        if let Some(completed) = names.grow(&cell, &place).expect("grown") {
            assert!(runs(&completed.command), "{workload}: {completed:?}");
        }
        let mounted = place.export.display().to_string();
        assert!(runs(&names.command(&mounted)), "{workload}");
        let compared = names.check(&cell, &place).command;
        assert!(runs(&compared), "{workload}: {compared:?}");
        damage(&place.export.join("main.tree"));
        assert!(!runs(&compared), "{workload}: a difference must be seen");
    }

    #[test]
    fn trees_are_compared_by_names_times_and_data() {
        let first = "0/0/0/0/0/0/000000";
        check("untar", 40, |tree| {
            let file = std::fs::File::options().append(true).open(tree.join(first)).expect("a file");
            file.set_modified(std::time::SystemTime::UNIX_EPOCH).expect("set");
        });
        check("remove", 20, |tree| std::fs::create_dir(tree).expect("made"));
        check("temporaries", 60, |tree| std::fs::write(tree.join("1/50.1.tmp"), "").expect("written"));
    }

    #[test]
    fn a_tree_of_ten_thousand_files_has_66_megabytes_in_900_directories() {
        let directories: std::collections::BTreeSet<PathBuf> = (0..10_000)
            .map(file::deep_directory)
            .flat_map(|leaf| leaf.ancestors().map(Path::to_owned).collect::<Vec<_>>())
            .collect();
        assert_eq!(directories.len() - 1, 891);
    }
}
