//! Lists of operations on a real directory and on the model in memory, which must see the same.

use std::path::Path;
use std::sync::Arc;

use howdah_store::local::{LocalFileSystem, Mode, Options, SyncMode};
use howdah_vfs::Caller;
use howdah_vfs::conformance::operations::{compare, from_bytes};
use howdah_vfs::conformance::{Abilities, ActsAs, Subject};

/// The most operations of one list: enough to meet every node several times, few enough for thousands of lists.
const OPERATIONS_MAX: usize = 200;
/// Bytes that an operation is made from.
const OPERATION_SIZE: usize = 8;
/// Where the directory is made: in memory if there is such a place, since nothing here is about the disk.
const PLACE: &str = "/dev/shm";

/// Every eight bytes are an operation.
pub fn run(input: &[u8]) {
    let input = &input[..input.len().min(OPERATIONS_MAX * OPERATION_SIZE)];
    let directory =
        tempfile::tempdir_in(PLACE).or_else(|_| tempfile::tempdir()).expect("a temporary directory");
    let options = Options { sync: SyncMode::Async, ..Options::default() };
    let file_system = LocalFileSystem::open(directory.path(), options).expect("a directory of our own opens");
    let acts_as = acts_as(file_system.mode(), directory.path());
    let abilities = Abilities {
        device_nodes: acts_as == ActsAs::Caller,
        acts_as,
        replaced_names_keep_their_place: false,
        ..Abilities::default()
    };
    let subject = Subject::new(Arc::new(file_system), abilities).with_keep(directory);
    if let Err(difference) = compare(&from_bytes(input), &subject) {
        panic!("{difference}");
    }
}

/// As the caller where the process may take on other identities; else as the owner of what it makes.
fn acts_as(mode: Mode, made: &Path) -> ActsAs {
    use std::os::unix::fs::MetadataExt;
    if mode.acts_as_caller {
        return ActsAs::Caller;
    }
    let owner = std::fs::metadata(made).expect("the directory is there");
    ActsAs::Always(Caller::new(owner.uid(), owner.gid()))
}
