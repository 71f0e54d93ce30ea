//! What is left of a disk, mounted by the kernel, which recovers what it can, as after a power cut.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use crate::trust::disk::{Kind, run};

/// Pieces that are zeros are not written.
const PIECE: usize = 64 << 10;
static ZEROS: [u8; PIECE] = [0; PIECE];

/// Where images are written and mounted: in memory.
pub struct Image {
    file: PathBuf,
    mounted: PathBuf,
    kind: Kind,
}

impl Image {
    /// Below this place, for this kind of file system.
    pub fn new(place: &Path, kind: Kind) -> Result<Self> {
        let (memory, mounted) = (place.join("memory"), place.join("cut"));
        for directory in [&memory, &mounted] {
            std::fs::create_dir_all(directory).with_context(|| format!("making {}", directory.display()))?;
        }
        run(Command::new("mount").args(["-t", "tmpfs", "cuts"]).arg(&memory))?;
        Ok(Self { file: memory.join("image"), mounted, kind })
    }

    /// Mounts a disk of these bytes, and looks at it.
    pub fn mounted<T>(&self, bytes: &[u8], look: impl FnOnce(&Path) -> Result<T>) -> Result<T> {
        self.write(bytes).context("writing an image")?;
        let options = format!("loop,{}", self.kind.options);
        let mut mount = Command::new("mount");
        mount.args(["-t", self.kind.name, "-o", &options]).arg(&self.file).arg(&self.mounted);
        run(&mut mount).context("mounting what is left")?;
        let outcome = look(&self.mounted);
        run(Command::new("umount").arg(&self.mounted))?;
        outcome
    }

    fn write(&self, bytes: &[u8]) -> std::io::Result<()> {
        let file = File::create(&self.file)?;
        file.set_len(bytes.len() as u64)?;
        for (number, piece) in bytes.chunks(PIECE).enumerate() {
            if piece != &ZEROS[..piece.len()] {
                file.write_all_at(piece, (number * PIECE) as u64)?;
            }
        }
        Ok(())
    }
}
