//! A program that copies: `howdah cp` to or from the export, `rsync -a` to or from an rsync daemon, or `tar` to or from a `tar` behind a
//! socket. One file of `--size`, or as many small files as `--files` says, there (`write`) or back (`read`).

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, Result, bail, ensure};

use super::contract::{Client, STREAM, run_one, spec, url, workload_is_one_of};
use super::file;
use crate::plan::{Cell, ServerKind};
use crate::record::CommandRecord;
use crate::run::server::{rsync_url, tar_address};
use crate::run::word::one_of;
use crate::run::{Measured, Place, Scene};

/// What its source, and its copy, is called.
const NAME: &str = "copied";

/// What it is called in a plan, and which server it needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tool {
    /// `howdah cp`.
    Howdah,
    /// `rsync -a`.
    Rsync,
    /// `tar` through a socket.
    Tar,
}

impl Tool {
    /// The server that it copies to and from; none: whatever serves NFS.
    fn its_server(self) -> Option<ServerKind> {
        match self {
            Self::Howdah => None,
            Self::Rsync => Some(ServerKind::Rsync),
            Self::Tar => Some(ServerKind::Tar),
        }
    }
}

/// Sends the first argument's directory to the address that is the second one; ends when the other end has it all.
const SEND: &str = r#"tar -C "$1" -c copied | socat -t 90 - "$2""#;

/// The other way.
const FETCH: &str = r#"socat -u "$2" - | tar -C "$1" -x"#;

/// A copying program as the client.
pub struct Copy {
    /// Its name in the plan.
    pub name: String,
    /// The program.
    pub tool: Tool,
}

impl Copy {
    /// What is copied, and where it comes to be.
    fn places(&self, cell: &Cell, place: &Place) -> Result<(PathBuf, PathBuf)> {
        let local = place.temporary.join(&self.name).join(NAME);
        let served = place.export.join(NAME);
        Ok(if self.reads(cell)? { (served, local) } else { (local, served) })
    }

    fn reads(&self, cell: &Cell) -> Result<bool> {
        Ok(spec(cell, &self.name)?.workload.as_deref() == Some("read"))
    }

    fn files(&self, cell: &Cell) -> Result<Option<u64>> {
        file::size(&spec(cell, &self.name)?.options, "--files")
    }

    fn size(&self, cell: &Cell) -> Result<u64> {
        Ok(file::size(&spec(cell, &self.name)?.options, "--size")?.unwrap_or(file::USUAL_SIZE))
    }

    /// How the served copy is written for the program.
    fn served(&self, cell: &Cell, place: &Place) -> Result<String> {
        Ok(match self.tool {
            Tool::Rsync => format!("{}/{NAME}", rsync_url(place.server_address(cell, &self.name)?)),
            Tool::Tar => tar_address(place.server_address(cell, &self.name)?),
            Tool::Howdah => {
                let url = url(cell, place, &self.name)?;
                let (base, options) = url.split_once('?').unwrap_or((&url, ""));
                format!("{}/{NAME}?{options}", base.trim_end_matches('/'))
            }
        })
    }
}

impl Client for Copy {
    fn commands(&self, cell: &Cell, place: &Place) -> Result<Vec<CommandRecord>> {
        let client = spec(cell, &self.name)?;
        let local = place.temporary.join(&self.name).join(NAME).display().to_string();
        let served = self.served(cell, place)?;
        let (mut from, to) = if self.reads(cell)? { (served, local) } else { (local, served) };
        let reads = self.reads(cell)?;
        if self.tool == Tool::Rsync && self.files(cell)?.is_some() {
            // The content of the directory and not the directory: the copy has the name that `to` says.
            from.push('/');
        }
        let directory = place.temporary.join(&self.name).display().to_string();
        let howdah = place.howdah();
        let command: Vec<&str> = match self.tool {
            Tool::Howdah => vec![&howdah, "cp", "-q", "-r", &from, &to],
            Tool::Rsync => vec!["rsync", "-a", &from, &to],
            Tool::Tar if reads => vec!["sh", "-c", FETCH, "tar", &directory, &from],
            Tool::Tar => vec!["sh", "-c", SEND, "tar", &directory, &to],
        };
        let command = command.into_iter().map(str::to_owned).collect();
        Ok(vec![CommandRecord { host: client.host.clone(), name: self.name.clone(), command }])
    }

    fn check(&self, cell: &Cell, _: &Place) -> Result<()> {
        workload_is_one_of(cell, &self.name, &STREAM)?;
        let flags = spec(cell, &self.name)?.options.iter().step_by(2);
        flags.into_iter().try_for_each(|flag| one_of("options", flag, &["--size", "--files"]))?;
        let (own, kind) = (self.tool.its_server(), cell.spec.server.kind);
        let serves_nfs = !matches!(kind, ServerKind::Rsync | ServerKind::Tar);
        ensure!(
            own.map_or(serves_nfs, |own| own == kind),
            "kind = \"rsync\", and \"tar\": client and server, or neither"
        );
        ensure!(cell.spec.clients.len() == 1, "a client that copies is the only one");
        self.files(cell)?;
        self.size(cell).map(drop)
    }

    fn prepare(&mut self, scene: &Scene<'_>) -> Result<()> {
        let (from, _) = self.places(scene.cell, scene.place)?;
        fs::create_dir_all(scene.place.temporary.join(&self.name)).context("making a directory")?;
        match self.files(scene.cell)? {
            Some(files) => file::tree(&from, files),
            None => file::fill(&from, self.size(scene.cell)?),
        }
    }

    fn work(&mut self, scene: &Scene<'_>) -> Result<Measured> {
        let began = Instant::now();
        run_one(self, scene)?;
        let took = began.elapsed().as_secs_f64();
        let (from, to) = self.places(scene.cell, scene.place)?;
        let mut measured = Measured::default();
        measured.add_bytes(compare(&from, &to)? as f64, took);
        Ok(measured)
    }
}

/// Compares a copy with its source. Gives the bytes of its files.
fn compare(from: &Path, to: &Path) -> Result<u64> {
    let look = |path: &Path| fs::metadata(path).with_context(|| format!("looking at {}", path.display()));
    if !look(from)?.is_dir() {
        let read = |path: &Path| fs::read(path).with_context(|| format!("reading {}", path.display()));
        let bytes = read(from)?;
        ensure!(bytes == read(to)?, "{} differs from {}", to.display(), from.display());
        return Ok(bytes.len() as u64);
    }
    let list = |path: &Path| -> Result<Vec<_>> {
        let mut names: Vec<_> =
            fs::read_dir(path)?.map(|entry| Ok(entry?.file_name())).collect::<Result<_>>()?;
        names.sort();
        Ok(names)
    };
    let names = list(from)?;
    if names != list(to)? {
        bail!("{} has other names than {}", to.display(), from.display());
    }
    names.iter().map(|name| compare(&from.join(name), &to.join(name))).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tree_is_compared_to_the_last_byte() {
        let home = tempfile::tempdir().expect("a directory");
        let [from, to] = ["from", "to"].map(|name| home.path().join(name));
        [&from, &to].into_iter().for_each(|top| file::tree(top, 60).expect("grown"));
        let bytes = compare(&from, &to).expect("the same");
        assert!((60 * 1024..60 * 65536).contains(&bytes), "{bytes}");
        fs::write(to.join("0001/000055"), "x").expect("written");
        assert!(compare(&from, &to).is_err());
        fs::remove_file(to.join("0001/000055")).expect("removed");
        assert!(compare(&from, &to).is_err());
    }
}
