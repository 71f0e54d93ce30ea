//! `howdah bench` on the server's export.

use anyhow::Result;

use super::bench;
use super::contract::{Client, run_one, spec, url};
use crate::plan::Cell;
use crate::record::CommandRecord;
use crate::run::{Measured, Place, Scene};

/// This program's own client.
pub struct HowdahClient {
    /// Its name in the plan.
    pub name: String,
}

impl Client for HowdahClient {
    fn commands(&self, cell: &Cell, place: &Place) -> Result<Vec<CommandRecord>> {
        let url = url(cell, place, &self.name)?;
        let mut command = bench::command(cell, place, &self.name, &spec(cell, &self.name)?.host, &url)?;
        // Clients of one export each work in a directory of their own beside the others'.
        if cell.spec.clients.len() > 1 {
            command.command.push("--non-empty".to_owned());
        }
        Ok(vec![command])
    }

    fn work(&mut self, scene: &Scene<'_>) -> Result<Measured> {
        run_one(self, scene)?;
        bench::measured(scene.place, &self.name)
    }
}
