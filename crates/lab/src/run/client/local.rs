//! `howdah bench` on the exported directory itself, on the server's host: what storage can do without a network.

use anyhow::Result;

use super::bench;
use super::contract::{Client, run_one};
use crate::plan::Cell;
use crate::record::CommandRecord;
use crate::run::{Measured, Place, Scene};

/// No network.
pub struct Local {
    /// Its name in the plan.
    pub name: String,
}

impl Client for Local {
    fn commands(&self, cell: &Cell, place: &Place) -> Result<Vec<CommandRecord>> {
        let directory = place.export.display().to_string();
        Ok(vec![bench::command(cell, place, &self.name, &cell.spec.server.host, &directory)?])
    }

    fn work(&mut self, scene: &Scene<'_>) -> Result<Measured> {
        run_one(self, scene)?;
        bench::measured(scene.place, &self.name)
    }
}
