//! Every look at a connection, written to a file: for experiments.

use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result};
use howdah_server::{Look, Watcher};
use howdah_tune::Recorded;

/// Writes every look to this file, which is made anew, a line each. If that fails it is said once, and no more is written.
pub fn samples(path: &Path) -> Result<Watcher> {
    let file = File::create(path).with_context(|| format!("--samples: making {}", path.display()))?;
    let shown = path.display().to_string();
    let failed = AtomicBool::new(false);
    Ok(Watcher::new(move |look| {
        if failed.load(Ordering::Relaxed) {
            return;
        }
        if let Err(error) = write(&file, look) {
            failed.store(true, Ordering::Relaxed);
            tracing::warn!(%error, "cannot write {shown}: no more samples are written");
        }
    }))
}

fn write(mut file: &File, look: &Look<'_>) -> std::io::Result<()> {
    let recorded = Recorded {
        time: SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64(),
        client: look.client.to_string(),
        unsent_mark: look.unsent_mark,
        sample: look.sample.clone(),
        judgement: look.judgement.copied(),
    };
    let mut line = serde_json::to_vec(&recorded)?;
    line.push(b'\n');
    // One write for each line: who reads along sees whole ones.
    file.write_all(&line)
}
