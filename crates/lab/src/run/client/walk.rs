//! A tree of small files that a program of everyday walks on a mount: `ls -lR`, and `git status`.

use anyhow::{Result, ensure};

use super::file;
use crate::plan::Cell;
use crate::record::CommandRecord;
use crate::run::Place;

/// Lists the directory that is the argument, and says how many files there are: who lists looks at each of them.
const LIST: &str = r#"ls -lR "$1" | grep -c '^-'"#;

/// Makes the argument a clean checkout.
const COMMIT: &str =
    r#"cd "$1"; git init -q; git add -A; git -c user.name=lab -c user.email=lab commit -qm tree"#;

/// Who walks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WalkKind {
    /// `ls -lR`.
    List,
    /// `git status` in a clean checkout.
    Status,
}

/// A walk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Walk {
    /// Who walks.
    pub kind: WalkKind,
    /// The tree's name in the export.
    pub tree: String,
    /// Its files, 50 in a directory.
    pub files: u64,
}

impl Walk {
    /// The command, of the tree below the directory `mounted`.
    pub fn command(&self, mounted: &str) -> Vec<String> {
        let tree = format!("{mounted}/{}", self.tree);
        match self.kind {
            WalkKind::List => ["sh", "-c", LIST, "ls", &tree].map(str::to_owned).to_vec(),
            WalkKind::Status => ["git", "-C", &tree, "status", "--porcelain"].map(str::to_owned).to_vec(),
        }
    }

    /// Makes the tree in the exported directory. What makes it a checkout is to be run on the server's host.
    pub fn grow(&self, cell: &Cell, place: &Place) -> Result<Option<CommandRecord>> {
        let top = place.export.join(&self.tree);
        file::tree(&top, self.files)?;
        if self.kind == WalkKind::List {
            return Ok(None);
        }
        let top = top.display().to_string();
        let command = ["sh", "-ec", COMMIT, "git", &top].map(str::to_owned).to_vec();
        Ok(Some(CommandRecord { host: cell.spec.server.host.clone(), name: "commit".to_owned(), command }))
    }

    /// Whether it saw all: every file is listed, or none is changed.
    pub fn judge(&self, output: &str) -> Result<()> {
        let said = output.trim();
        match self.kind {
            WalkKind::List => {
                ensure!(said == self.files.to_string(), "ls saw {said} of {} files", self.files)
            }
            WalkKind::Status => {
                ensure!(
                    said.is_empty(),
                    "git takes files for changed: {}",
                    said.lines().next().unwrap_or(said)
                );
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn walk(kind: WalkKind) -> Walk {
        Walk { kind, tree: "main.tree".into(), files: 3 }
    }

    #[test]
    fn a_walk_that_misses_a_file_or_changes_one_is_a_failure() {
        let list = walk(WalkKind::List);
        list.judge("3\n").expect("all");
        assert_eq!(list.judge("2\n").expect_err("one less").to_string(), "ls saw 2 of 3 files");
        let status = walk(WalkKind::Status);
        status.judge("").expect("clean");
        assert!(status.judge(" M 0000/000001\n").is_err());
    }

    #[test]
    fn a_tree_is_listed_by_the_command() {
        let home = tempfile::tempdir().expect("a directory");
        file::tree(&home.path().join("main.tree"), 3).expect("grown");
        let list = walk(WalkKind::List);
        let command = list.command(&home.path().display().to_string());
        let output = std::process::Command::new(&command[0]).args(&command[1..]).output().expect("ls");
        list.judge(&String::from_utf8_lossy(&output.stdout)).expect("three files");
    }
}
