//! A tree of files that is packed: as a Debian package, or as a layer of a container image.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

/// What a program prints; an error with its message if it fails.
pub fn said(command: &mut Command) -> Result<Vec<u8>> {
    let program = command.get_program().to_string_lossy().into_owned();
    let output = command.output().with_context(|| format!("starting {program}"))?;
    ensure!(output.status.success(), "{program}: {}", String::from_utf8_lossy(&output.stderr).trim());
    Ok(output.stdout)
}

/// What is in a directory, sorted.
pub fn files_in(directory: &Path) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(directory).with_context(|| format!("listing {}", directory.display()))? {
        files.push(entry.context("listing")?.path());
    }
    files.sort();
    Ok(files)
}

/// The files of a package or of an image, from its root on.
pub struct Tree(pub PathBuf);

impl Tree {
    /// The path of a file in it, whose directory is made.
    pub fn make_room(&self, to: &str) -> Result<PathBuf> {
        let file = self.0.join(to);
        let above = file.parent().context("a file without a directory")?;
        fs::create_dir_all(above).with_context(|| format!("making {}", above.display()))?;
        Ok(file)
    }

    /// Copies a file into it.
    pub fn copy(&self, from: &Path, to: &str) -> Result<()> {
        let file = self.make_room(to)?;
        fs::copy(from, file).with_context(|| format!("copying {}", from.display()))?;
        Ok(())
    }

    /// Writes a file in it.
    pub fn write(&self, to: &str, bytes: &[u8]) -> Result<()> {
        let file = self.make_room(to)?;
        fs::write(&file, bytes).with_context(|| format!("writing {}", file.display()))
    }

    /// All files and directories but links, sorted, parents first.
    pub fn all(&self) -> Result<Vec<PathBuf>> {
        let (mut all, mut at) = (vec![self.0.clone()], 0);
        while let Some(place) = all.get(at).cloned() {
            if place.is_dir() {
                all.extend(files_in(&place)?.into_iter().filter(|file| !file.is_symlink()));
            }
            at += 1;
        }
        all.sort();
        Ok(all)
    }

    /// The files that are installed.
    pub fn files(&self) -> Result<Vec<PathBuf>> {
        Ok(self.all()?.into_iter().filter(|file| file.is_file()).collect())
    }

    /// Their names below the root.
    pub fn names<'f>(&self, files: &'f [PathBuf]) -> Result<Vec<&'f Path>> {
        files.iter().map(|file| file.strip_prefix(&self.0).context("a file outside")).collect()
    }

    /// Makes these files and all directories 0755 and all other files 0644, whatever the umask and the checkout were.
    pub fn set_modes(&self, programs: &[PathBuf]) -> Result<()> {
        for file in self.all()? {
            let name = file.strip_prefix(&self.0).context("a file outside")?;
            let is_program = programs.iter().any(|program| name == program);
            let mode = if file.is_dir() || is_program { 0o755 } else { 0o644 };
            let set = fs::set_permissions(&file, fs::Permissions::from_mode(mode));
            set.with_context(|| format!("setting the mode of {}", file.display()))?;
        }
        Ok(())
    }
}
