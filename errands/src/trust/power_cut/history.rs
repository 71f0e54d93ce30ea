//! What was promised by a moment, out of what was called and answered.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result, anyhow};

use crate::trust::territory::Territory;
use crate::trust::world::{Act, Answered, Found, World};

/// Compares what is left of all territories with what was promised by this moment; gives the bytes that were read.
pub fn verify(territories: &[Arc<Territory>], export: &Path, moment: u64) -> Result<u64> {
    let mut bytes = 0;
    for territory in territories {
        let directory = export.join(&territory.name);
        let found =
            Found::read(&directory).with_context(|| format!("reading what is left of {}", territory.name))?;
        let (world, pending) = at(territory, moment);
        found.judge(&world, pending.as_ref()).map_err(|wrong| anyhow!("{}/{wrong}", territory.name))?;
        bytes += found.bytes();
    }
    Ok(bytes)
}

/// What a territory was at a moment, and the call that was open then.
fn at(territory: &Territory, moment: u64) -> (World, Option<Act>) {
    let state = territory.state();
    let mut world = World::new(false);
    for event in &state.history {
        if event.answered > moment {
            return (world, (event.sent <= moment).then(|| event.act.clone()));
        }
        world.apply(&event.act, Answered::Yes);
    }
    let pending = state.pending.as_ref().filter(|(_, sent)| *sent <= moment);
    (world, pending.map(|(act, _)| act.clone()))
}
