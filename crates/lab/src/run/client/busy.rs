//! Loops that keep processors busy: `options` are for how many seconds, and how many loops.

use anyhow::{Context, Result, bail};

use super::contract::{Client, run_one, spec};
use crate::plan::Cell;
use crate::record::CommandRecord;
use crate::run::{Measured, Place, Scene};

/// Works for nobody.
pub struct Busy {
    /// Its name in the plan.
    pub name: String,
}

impl Client for Busy {
    fn commands(&self, cell: &Cell, _: &Place) -> Result<Vec<CommandRecord>> {
        let client = spec(cell, &self.name)?;
        let [seconds, loops] = &client.options[..] else {
            bail!("options: two are needed: for how many seconds, and how many loops")
        };
        let number =
            |text: &String| text.parse::<u32>().with_context(|| format!("options: \"{text}\" is no number"));
        let (seconds, loops) = (number(seconds)?, number(loops)?);
        let script = format!(
            "n=0; while [ $n -lt {loops} ]; do n=$((n+1)); timeout {seconds} sh -c 'while :; do :; done' & done; wait"
        );
        let command = ["sh", "-c", &script].map(str::to_owned).to_vec();
        Ok(vec![CommandRecord { host: client.host.clone(), name: self.name.clone(), command }])
    }

    fn work(&mut self, scene: &Scene<'_>) -> Result<Measured> {
        run_one(self, scene)?;
        Ok(Measured::default())
    }
}
