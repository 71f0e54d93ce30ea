//! What both directions of a path are like.

use std::time::Duration;

use super::{DirectionSpec, RateSpec};

/// A path between a client and a server. As TOML see [the crate](crate).
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PathSpec {
    /// From client to server.
    pub there: DirectionSpec,
    /// From server to client.
    pub back: DirectionSpec,
}

impl PathSpec {
    /// Both directions the same.
    pub fn symmetric(direction: DirectionSpec) -> Self {
        Self { there: direction.clone(), back: direction }
    }

    /// What a packet takes there and back at least, on empty lines, its own time on the line left out.
    pub fn round_trip(&self) -> Duration {
        self.there.delay() + self.back.delay()
    }

    /// Loads the files of traces; `read` is given what the path says, and gives the text.
    pub fn load(&mut self, mut read: impl FnMut(&str) -> Result<String, String>) -> Result<(), String> {
        for direction in [&mut self.there, &mut self.back] {
            if let Some(RateSpec::Trace(file)) = &direction.rate {
                let loaded = read(file).and_then(|text| RateSpec::opportunities(&text));
                direction.rate = Some(loaded.map_err(|error| format!("trace {file}: {error}"))?);
            }
        }
        Ok(())
    }
}
