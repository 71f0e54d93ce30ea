//! `nfs-cp` of libnfs: one file, there (`write`) or back (`read`). Of its options it knows `--size`.

use std::fs;
use std::path::PathBuf;
use std::time::Instant;

use anyhow::{Result, bail};

use super::contract::{Client, STREAM, run_one, spec, url, workload_is_one_of};
use super::file;
use crate::plan::Cell;
use crate::record::CommandRecord;
use crate::run::word::one_of;
use crate::run::{Measured, Place, Scene};

/// libnfs as the client.
pub struct Libnfs {
    /// Its name in the plan.
    pub name: String,
}

impl Libnfs {
    /// The file on the client's side, and on the server's.
    fn files(&self, place: &Place) -> (PathBuf, PathBuf) {
        (
            place.temporary.join(format!("{}.copied", self.name)),
            place.export.join(format!("{}.served", self.name)),
        )
    }
}

impl Client for Libnfs {
    fn commands(&self, cell: &Cell, place: &Place) -> Result<Vec<CommandRecord>> {
        let client = spec(cell, &self.name)?;
        let url = url(cell, place, &self.name)?;
        let (local, served) = self.files(place);
        let name = served.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let (base, options) = url.split_once('?').unwrap_or((&url, ""));
        let there = format!("{}/{name}?{options}", base.trim_end_matches('/'));
        let local = local.display().to_string();
        let (from, to) = if reads(cell, &self.name)? { (there, local) } else { (local, there) };
        let command = vec!["nfs-cp".to_owned(), from, to];
        Ok(vec![CommandRecord { host: client.host.clone(), name: self.name.clone(), command }])
    }

    fn check(&self, cell: &Cell, _: &Place) -> Result<()> {
        workload_is_one_of(cell, &self.name, &STREAM)?;
        let flags = spec(cell, &self.name)?.options.iter().step_by(2);
        flags.into_iter().try_for_each(|flag| one_of("options", flag, &["--size"]))?;
        size(cell, &self.name).map(drop)
    }

    fn prepare(&mut self, scene: &Scene<'_>) -> Result<()> {
        let (local, served) = self.files(scene.place);
        let from = if reads(scene.cell, &self.name)? { served } else { local };
        file::fill(&from, size(scene.cell, &self.name)?)
    }

    fn work(&mut self, scene: &Scene<'_>) -> Result<Measured> {
        let began = Instant::now();
        run_one(self, scene)?;
        let mut measured = Measured::default();
        measured.add_bytes(size(scene.cell, &self.name)? as f64, began.elapsed().as_secs_f64());
        let (local, served) = self.files(scene.place);
        let lengths = [local, served].map(|path| fs::metadata(path).map(|data| data.len()).ok());
        if lengths[0] != lengths[1] {
            bail!("the copy is not as long as the file: {lengths:?}");
        }
        Ok(measured)
    }
}

fn reads(cell: &Cell, name: &str) -> Result<bool> {
    Ok(spec(cell, name)?.workload.as_deref() == Some("read"))
}

fn size(cell: &Cell, name: &str) -> Result<u64> {
    Ok(file::size(&spec(cell, name)?.options, "--size")?.unwrap_or(file::USUAL_SIZE))
}
