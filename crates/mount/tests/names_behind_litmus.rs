//! The litmus list of names written behind on a mount: programs are system calls, and each case must end as it says.

#[path = "../../layers/tests/layers/litmus/mod.rs"]
mod litmus;
mod support;

use std::collections::HashMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::symlink;
use std::sync::Arc;

use howdah_layers::NamesBehind;
use litmus::case::{Line, Operation, Who, cases};
use litmus::play::{Programs, Scope, play};
use litmus::server::LitmusServer;
use support::Mount;

/// Programs on a mount.
struct OnMount {
    mount: Mount,
    files: Arc<NamesBehind>,
    opened: HashMap<String, File>,
}

impl OnMount {
    /// A mount that has learnt how the server makes nodes.
    fn new((mount, files): (Mount, Arc<NamesBehind>)) -> Self {
        File::create_new(mount.at("learnt")).expect("made");
        fs::create_dir(mount.at("learnt-directory")).expect("made");
        fs::remove_file(mount.at("learnt")).expect("removed");
        fs::remove_dir(mount.at("learnt-directory")).expect("removed");
        files.settle_all();
        Self { mount, files, opened: HashMap::new() }
    }

    fn operate(&mut self, operation: &Operation) -> io::Result<()> {
        let at = |path: &String| self.mount.at(path);
        match operation {
            Operation::Mkdir(path) => fs::create_dir(at(path)),
            Operation::Make(path, data) => close(written(File::create_new(at(path))?, data)?),
            Operation::File(path, data) => close(written(File::create(at(path))?, data)?),
            Operation::Hold(path, data) => {
                let file = written(File::create_new(at(path))?, data)?;
                self.opened.insert(path.clone(), file);
                Ok(())
            }
            Operation::Close(path) => close(self.opened.remove(path).expect("it was opened")),
            Operation::Write(path, data) => {
                close(written(OpenOptions::new().write(true).open(at(path))?, data)?)
            }
            Operation::Cut(path) => OpenOptions::new().write(true).open(at(path))?.set_len(0),
            Operation::Remove(path) => fs::remove_file(at(path)),
            Operation::Rmdir(path) => fs::remove_dir(at(path)),
            Operation::Rename(from, to) => fs::rename(at(from), at(to)),
            Operation::Link(path, to) => fs::hard_link(at(path), at(to)),
            Operation::Symlink(path, target) => symlink(target, at(path)),
            Operation::Fsync(path) | Operation::Sync(path) => File::open(at(path))?.sync_all(),
        }
    }
}

fn written(mut file: File, data: &str) -> io::Result<File> {
    file.write_all(data.as_bytes())?;
    Ok(file)
}

fn close(file: File) -> io::Result<()> {
    Ok(nix::unistd::close(file)?)
}

impl Programs for OnMount {
    fn run(&mut self, _: Who, operation: &Operation) -> Result<(), String> {
        self.operate(operation).map_err(|error| error.to_string())
    }

    fn settle(&mut self) {
        self.files.settle_all();
    }
}

#[test]
fn every_case_ends_as_it_says() {
    let mut failures = Vec::new();
    // Programs of one user run here.
    let is_others = |line: &Line| matches!(line, Line::Program { who: Who::Other, .. });
    for case in cases().into_iter().filter(|case| !case.lines.iter().any(is_others)) {
        let server = Arc::new(LitmusServer::new(0));
        let Some(mounted) = Mount::behind(Arc::clone(&server) as _) else { return };
        let outcome = play(&case, &server, Scope::End, || OnMount::new(mounted));
        failures.extend(outcome.err().map(|why| format!("case {}: {why}", case.name)));
    }
    assert!(failures.is_empty(), "{failures:#?}");
}
