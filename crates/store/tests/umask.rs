//! Whose umask cuts the modes of new files: the client's alone where the server acts as its callers, else also that of the user who
//! runs it. The only test of its process, whose umask it sets.

mod common;

use std::os::unix::fs::PermissionsExt;

use common::{Place, is_root, myself, with_and_without_privilege};
use howdah_vfs::{Change, Create, CreateFile, FileSystem, MakeDirectory, Name, NewAttributes};
use rustix::fs::Mode;

#[test]
fn an_ordinary_users_umask_holds_for_new_files() {
    with_and_without_privilege("an_ordinary_users_umask_holds_for_new_files", |under| {
        let place = Place::under(under);
        let before = rustix::process::umask(Mode::from_raw_mode(0o077));
        let fs = place.open();
        let (me, root, change) = (myself(), fs.root(), &mut Change::default());
        let name = |text: &'static str| Name::parse(text.as_bytes()).expect("a name");
        let new = Create::Guarded(NewAttributes::with_mode(0o666));
        fs.create(&me, CreateFile::new(&root, name("file"), &new), change).expect("made");
        fs.make_directory(
            &me,
            MakeDirectory::new(&root, name("directory"), &NewAttributes::with_mode(0o777)),
            change,
        )
        .expect("made");
        let mode = |name: &str| {
            let seen = std::fs::metadata(place.export().join(name)).expect("it is there");
            seen.permissions().mode() & 0o777
        };
        let expected = if is_root() { (0o666, 0o777) } else { (0o600, 0o700) };
        assert_eq!((mode("file"), mode("directory")), expected);
        rustix::process::umask(before);
    });
}
