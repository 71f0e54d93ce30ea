//! Somebody who comes while something is wrong: mounts, makes a file, writes it, reads it; sooner or later all that is answered.

use std::sync::Arc;
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use howdah_client::connect::own_caller;
use howdah_net::Namespace;
use howdah_vfs::{Change, Create, CreateFile, Data, FileSystem, Name, NewAttributes, Stability, WriteFile};

use crate::trust::calls::read;

/// What is written.
const WORDS: &[u8] = b"I came while something was wrong";
/// Between two attempts to mount.
pub const PAUSE: Duration = Duration::from_millis(100);

/// Somebody on the way in.
pub struct Newcomer {
    name: &'static str,
    served: Receiver<Result<Instant>>,
}

impl Newcomer {
    /// Comes from a host, to make a file of this name; mounts as often as it takes, for so long.
    pub fn come(
        name: &'static str,
        host: &Namespace,
        patience: Duration,
        mount: impl Fn() -> Result<Arc<dyn FileSystem>> + Send + 'static,
    ) -> Self {
        let ((tell, served), host) = (mpsc::channel(), host.clone());
        thread::spawn(move || {
            let give_up = Instant::now() + patience;
            let entered = host.enter().context("entering a host");
            let mounted = loop {
                match mount() {
                    Err(_) if Instant::now() < give_up => thread::sleep(PAUSE),
                    mounted => break mounted,
                }
            };
            let outcome = entered.and(mounted).and_then(|fs| open(&*fs, name)).map(|()| Instant::now());
            // The receiver may have given up.
            let _ = tell.send(outcome);
        });
        Self { name, served }
    }

    /// When it was served.
    pub fn served(&self, patience: Duration) -> Result<Instant> {
        let served = self.served.recv_timeout(patience);
        let served = served.with_context(|| format!("{}: not served for {patience:?}", self.name))?;
        served.with_context(|| format!("{}: came while it lasted", self.name))
    }
}

fn open(fs: &dyn FileSystem, name: &str) -> Result<()> {
    let (caller, change) = (own_caller(), &mut Change::default());
    let how = Create::Unchecked(NewAttributes::with_mode(0o600));
    let name = Name::parse(name.as_bytes()).context("a name")?;
    let file =
        fs.create(&caller, CreateFile::new(&fs.root(), name, &how), change).context("making a file")?.handle;
    fs.write(&caller, WriteFile::new(&file, 0, Data::Bytes(WORDS), Stability::FileSync), change)
        .context("writing it")?;
    let read = read(fs, &caller, &file, 0, WORDS.len()).context("reading it")?;
    ensure!(read == WORDS, "what was written is not there");
    Ok(())
}
