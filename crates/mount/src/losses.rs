//! Directories that the server is about to let another client change: the kernel forgets what it believes of them.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Weak};
use std::thread;
use std::time::Duration;

use fuser::{INodeNo, Notifier};
use howdah_vfs::{DelegationLoss, Handle};

use crate::shared::Shared;

/// How long the server waits for the kernel to forget. The kernel itself waits while a program changes the directory through this mount,
/// which may wait for another client that waits for us: then names are believed until they age.
const PATIENCE: Duration = Duration::from_millis(50);

/// A directory, and who waits until it is forgotten.
type Forgetting = (Handle, Sender<()>);

/// From now on the kernel forgets names and attributes of directories that are delegated no more.
pub fn forget_losses(shared: &Arc<Shared>, notifier: Notifier) {
    let Some(delegations) = shared.file_system.directory_delegations() else { return };
    if shared.lately.is_none() {
        return;
    }
    let (sender, wanted) = channel::<Forgetting>();
    let weak = Arc::downgrade(shared);
    let forgets = move || {
        while let Ok((directory, done)) = wanted.recv() {
            forget(&weak, &notifier, &directory);
            // Nobody may wait any more.
            let _ = done.send(());
        }
    };
    if let Err(error) = thread::Builder::new().name("mount-forget".into()).spawn(forgets) {
        tracing::warn!(%error, "the kernel sees changes by other clients up to a second late");
        return;
    }
    delegations.also_tell(Arc::new(move |loss| {
        let DelegationLoss::Of(directory) = loss else { return };
        let (done, is_done) = channel();
        if sender.send((directory, done)).is_ok() {
            let _ = is_done.recv_timeout(PATIENCE);
        }
    }));
}

fn forget(shared: &Weak<Shared>, notifier: &Notifier, directory: &Handle) {
    let Some(shared) = shared.upgrade() else { return };
    let Some(node) = shared.nodes.with(directory) else { return };
    let number = INodeNo(node.number);
    let names = shared.lately.as_ref().map(|lately| lately.take(node.number)).unwrap_or_default();
    drop(shared);
    let forgotten = names.iter().map(|name| notifier.inval_entry(number, OsStr::from_bytes(name)));
    // A negative offset leaves pages.
    let all = forgotten.chain([notifier.inval_inode(number, -1, 0)]);
    if let Some(error) = all.filter_map(Result::err).next() {
        tracing::debug!(%error, "the kernel did not forget all of a directory");
    }
}
