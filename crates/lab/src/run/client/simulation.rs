//! A simulation in virtual time: `options`, and those of `workload` too, are those of `simulation::run`. The cell's path is
//! the path, unless it is a perfect wire; the seed is the row's.

use anyhow::{Context, Result};
use howdah_link::PathSpec;

use super::contract::{Client, spec};
use crate::plan::Cell;
use crate::record::CommandRecord;
use crate::run::{Measured, Place, Scene};
use crate::simulation::{Parameters, simulate};

/// No client at all, but figures as if it were one.
pub struct SimulationClient {
    /// Its name in the plan.
    pub name: String,
}

impl SimulationClient {
    /// Its options, but for the seed.
    fn options(&self, cell: &Cell) -> Result<Vec<String>> {
        let client = spec(cell, &self.name)?;
        let words = client.workload.iter().flat_map(|words| words.split_whitespace()).map(str::to_owned);
        Ok(words.chain(client.options.iter().cloned()).collect())
    }
}

impl Client for SimulationClient {
    fn commands(&self, cell: &Cell, _: &Place) -> Result<Vec<CommandRecord>> {
        let host = spec(cell, &self.name)?.host.clone();
        let command = std::iter::once("simulation".to_owned()).chain(self.options(cell)?).collect();
        Ok(vec![CommandRecord { host, name: self.name.clone(), command }])
    }

    fn check(&self, cell: &Cell, _: &Place) -> Result<()> {
        Parameters::parse(&self.options(cell)?).context("options").map(drop)
    }

    fn work(&mut self, scene: &Scene<'_>) -> Result<Measured> {
        let mut parameters = Parameters::parse(&self.options(scene.cell)?)?;
        parameters.seed = scene.seed;
        let wires = scene.cell.spec.all_wires();
        if let Some(wire) = wires.values().find(|wire| wire.path != PathSpec::default()) {
            parameters.path = wire.path.clone();
        }
        let result = simulate(&parameters)?;
        Ok(Measured { figures: result.figures, latencies: result.latencies })
    }
}
