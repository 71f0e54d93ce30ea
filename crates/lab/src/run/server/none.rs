//! No server: the clients need none.

use anyhow::Result;

use super::{ServedExport, Server};
use crate::plan::Cell;
use crate::record::CommandRecord;
use crate::run::{Place, Scene};

/// Nobody serves.
pub struct Nobody;

impl Server for Nobody {
    fn commands(&self, _: &Cell, _: &Place) -> Vec<CommandRecord> {
        Vec::new()
    }

    fn start(&self, _: &Scene<'_>) -> Result<Box<dyn ServedExport>> {
        Ok(Box::new(Self))
    }
}

impl ServedExport for Nobody {}
