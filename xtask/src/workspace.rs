//! Where things are.

use std::env;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

/// The checkout and its target directory.
pub struct Workspace {
    /// The checkout.
    pub root: PathBuf,
    /// Where cargo builds: this program lies in it.
    pub target: PathBuf,
}

impl Workspace {
    /// Asks the environment.
    pub fn find() -> Result<Self> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().context("xtask lies in no workspace")?;
        let program = env::current_exe().context("asking for the path of this program")?;
        let target =
            program.ancestors().nth(2).context("this program lies in no target directory")?.to_owned();
        Ok(Self { root: root.to_owned(), target })
    }

    /// A binary as tests are built.
    pub fn binary(&self, name: &str) -> PathBuf {
        self.target.join("debug").join(name)
    }

    /// The cargo that runs us.
    pub fn cargo(&self) -> PathBuf {
        env::var_os("CARGO").map_or_else(|| "cargo".into(), PathBuf::from)
    }
}
