//! What grows with use is bounded. Counts the descriptors of the whole process, so it is alone in its program.

mod common;

use common::{Place, is_root, myself, with_and_without_privilege};
use howdah_store::local::{LocalFileSystem, Options, SyncMode};
use howdah_vfs::{
    Caller, Change, Create, CreateFile, Data, FileSystem, Name, NewAttributes, ReadFile, Stability, WriteFile,
};

fn me() -> Caller {
    if is_root() { Caller::ROOT } else { myself() }
}

fn open_descriptors() -> usize {
    std::fs::read_dir("/proc/self/fd").expect("lists").count()
}

#[test]
fn the_cache_of_open_files_is_bounded() {
    with_and_without_privilege("the_cache_of_open_files_is_bounded", |under| {
        const MOST: usize = 100;
        let place = Place::under(under);
        let options = Options { open_files: MOST, sync: SyncMode::Async, ..place.options() };
        let fs = LocalFileSystem::open(&place.export(), options).expect("opens");
        let before = open_descriptors();
        let mut handles = Vec::new();
        for number in 0..400 {
            let text = format!("f{number}");
            let name = Name::parse(text.as_bytes()).expect("a name");
            let how = Create::Guarded(NewAttributes::with_mode(0o644));
            let node = fs
                .create(&me(), CreateFile::new(&fs.root(), name, &how), &mut Change::default())
                .expect("CREATE");
            handles.push(node.handle);
        }
        for handle in handles.iter().cycle().take(800) {
            let (data, change) = (Data::Bytes(b"data"), &mut Change::default());
            fs.write(&me(), WriteFile::new(handle, 0, data, Stability::Unstable), change).expect("WRITE");
            fs.read(&me(), ReadFile::new(handle, 0, 4), &mut Vec::new()).expect("READ");
            let open = open_descriptors().saturating_sub(before);
            // One in eight more may wait to be flushed. Directories, threads and the test itself have a few open too.
            assert!(open <= MOST + MOST / 8 + 16, "{open} descriptors");
        }
    });
}
