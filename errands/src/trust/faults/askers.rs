//! Clients that ask at once whether what they wrote to one file is durable, when it cannot be written to the disk.

use std::sync::atomic::{AtomicU64, Ordering};

use anyhow::{Context as _, Result, ensure};
use howdah_client::connect::own_caller;
use howdah_vfs::{
    Change, CommitFile, Data, FileSystem, Handle, Name, NewAttributes, SetAttributes, Stability, WriteFile,
};

use super::scene::Scene;

/// What they write to.
pub const SHARED: &str = "shared";
/// How many they are, how often each writes, and how much.
const ASKERS: u64 = 8;
const ROUNDS: u64 = 8;
const BLOCK: u64 = 4096;

/// The kernel reports data that it could not write to the first caller that asks. Many ask at once, in each way there is.
pub fn many_are_told(scene: &Scene) -> Result<()> {
    let fs = &*scene.mount(&scene.url())?;
    let name = Name::parse(SHARED.as_bytes()).context("a name")?;
    let file = &fs.lookup(&own_caller(), &fs.root(), name).context("looking for the file")?.node.handle;
    let lies = AtomicU64::new(0);
    std::thread::scope(|scope| {
        for asker in 0..ASKERS {
            let lies = &lies;
            scope.spawn(move || {
                for round in 0..ROUNDS {
                    let offset = (round * ASKERS + asker) * BLOCK;
                    if claims_durable(fs, file, asker, offset) {
                        lies.fetch_add(1, Ordering::Relaxed);
                    }
                }
            });
        }
    });
    let (lies, all) = (lies.into_inner(), ASKERS * ROUNDS);
    ensure!(lies == 0, "of {all} blocks that could not be written {lies} were answered for as durable");
    Ok(())
}

/// Whether a block was answered for as durable once it was written. Who is refused, or is given another verifier than before, knows.
fn claims_durable(fs: &dyn FileSystem, file: &Handle, asker: u64, offset: u64) -> bool {
    let (caller, change) = (own_caller(), &mut Change::default());
    let bytes = vec![b'x'; BLOCK as usize];
    if asker.is_multiple_of(2) {
        let written =
            fs.write(&caller, WriteFile::new(file, offset, Data::Bytes(&bytes), Stability::FileSync), change);
        return written.is_ok_and(|written| written.stability != Stability::Unstable);
    }
    let Ok(written) =
        fs.write(&caller, WriteFile::new(file, offset, Data::Bytes(&bytes), Stability::Unstable), change)
    else {
        return false;
    };
    if asker % 4 == 1 {
        // This call does not ask whether data was lost, and gets the error.
        let mode = NewAttributes { mode: Some(0o600), ..NewAttributes::default() };
        let _ = fs.set_attributes(&caller, SetAttributes::new(file, &mode, None), change);
    }
    let committed = fs.commit(&caller, CommitFile::new(file, 0, 0), change);
    committed.is_ok_and(|committed| committed.verifier == written.verifier)
}
