//! What the tests of copies share: trees, destinations that die, and one call that copies.
#![allow(dead_code, reason = "each test binary uses a part")]

pub mod random;
pub mod tree;
pub mod trouble;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use howdah_copy::{Copier, CopyOptions, CopyTarget, CopyTuning, Event, Item, Outcome, Side};
use howdah_vfs::Node;
use tree::{Files, ROOT};

/// Options in which small files are big, so that everything happens.
pub fn options() -> CopyOptions {
    CopyOptions {
        recursive: true,
        tuning: CopyTuning {
            block: 64 * 1024,
            journal_from: 200_000,
            commit_bytes: (128 * 1024, 256 * 1024),
            commit_interval: Duration::from_secs(1000),
            most_jobs: 8,
            most_small_jobs: 8,
            expected: None,
            one_writer: None,
        },
        ..CopyOptions::default()
    }
}

/// The same with one writer for each file, or with as many as there are workers.
pub fn with_writer(one_writer: bool) -> CopyOptions {
    let options = options();
    CopyOptions { tuning: CopyTuning { one_writer: Some(one_writer), ..options.tuning }, ..options }
}

/// What a running copy reports.
#[derive(Clone, Default)]
pub struct Heard(pub Arc<Mutex<Vec<String>>>);

impl Heard {
    pub fn all(&self) -> Vec<String> {
        self.0.lock().expect("not poisoned").clone()
    }

    pub fn has(&self, text: &str) -> bool {
        self.all().iter().any(|line| line.contains(text))
    }
}

fn describe(event: &Event<'_>) -> String {
    let text = |path: &[u8]| String::from_utf8_lossy(path).into_owned();
    match event {
        Event::Copied { path, bytes } => format!("copied {} {bytes}", text(path)),
        Event::Made { path } => format!("made {}", text(path)),
        Event::Linked { path } => format!("linked {}", text(path)),
        Event::Removed { path } => format!("removed {}", text(path)),
        Event::Vanished { path } => format!("vanished {}", text(path).rsplit('/').next().unwrap_or_default()),
        Event::Grown { path, bytes } => {
            format!("grown {} {bytes}", text(path).rsplit('/').next().unwrap_or_default())
        }
        Event::Kept { path } => format!("kept {}", text(path)),
        Event::Resumed { path, bytes, of } => format!("resumed {} {bytes} of {of}", text(path)),
        Event::StartedOver { path, why } => format!("started over {}: {why}", text(path)),
        Event::SentAgain { path, bytes } => format!("sent again {} {bytes}", text(path)),
        Event::Note(note) => format!("note {note}"),
        Event::Failed(error) => format!("failed {error}"),
    }
}

/// A copier that reports what it does.
pub fn copier(to: &Files, options: CopyOptions) -> (Copier, Heard) {
    let heard = Heard::default();
    let listener = heard.clone();
    let observer = move |event: &Event<'_>| {
        listener.0.lock().expect("not poisoned").push(describe(event));
    };
    (Copier::new(Side::new(Arc::clone(&to.0), ROOT.clone()), options, Arc::new(observer)), heard)
}

/// One node as an entry of the destination's root.
pub fn item(from: &Files, node: Node, to: &Files, called: &str) -> Item {
    Item {
        source: Arc::new(Side::new(Arc::clone(&from.0), ROOT.clone())),
        node,
        target: CopyTarget::Entry { directory: to.root().handle, name: called.as_bytes().to_vec() },
        path: called.as_bytes().to_vec(),
        directory_path: b"/there".to_vec(),
        id: 7,
    }
}

/// Copies one node to an entry of the destination's root.
pub fn copy(from: &Files, node: Node, to: &Files, called: &str, options: CopyOptions) -> (Outcome, Heard) {
    let (copier, heard) = copier(to, options);
    (copier.run(vec![item(from, node, to, called)]), heard)
}
