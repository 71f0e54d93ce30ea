//! Ranges of files and extended attributes where a local directory differs from the model.

mod common;

use common::{Place, is_root, myself, with_and_without_privilege};
use howdah_store::limits::COPY_MAX;
use howdah_vfs::{
    Caller, Change, CopyRange, Create, CreateFile, FileSystem, Handle, Name, NewAttributes, SetXattr,
    SetXattrMode, Stability, XattrName,
};

fn me() -> Caller {
    if is_root() { Caller::ROOT } else { myself() }
}

fn create(fs: &dyn FileSystem, name: &str, size: u64) -> Handle {
    let how = Create::Guarded(NewAttributes { mode: Some(0o644), ..NewAttributes::with_size(size) });
    let name = Name::parse(name.as_bytes()).expect("a name");
    fs.create(&me(), CreateFile::new(&fs.root(), name, &how), &mut Change::default()).expect("CREATE").handle
}

#[test]
fn a_copy_is_bounded() {
    with_and_without_privilege("a_copy_is_bounded", |under| {
        let place = Place::under(under);
        let fs = place.open();
        let size = COPY_MAX + (1 << 20);
        let (from, to) = (create(&fs, "from", size), create(&fs, "to", 0));
        let ranges = fs.ranges().expect("it has them");
        let (mut done, change) = (0, &mut Change::default());
        while done < size {
            let copied = ranges
                .copy_range(&me(), CopyRange::new((&from, done), (&to, done), 0), change)
                .expect("COPY");
            assert!(0 < copied.count && copied.count as u64 <= COPY_MAX, "{} bytes", copied.count);
            assert_eq!(copied.stability, Stability::Unstable);
            done += copied.count as u64;
        }
        assert_eq!(fs.attributes(&me(), &to).expect("GETATTR").size, size);
    });
}

#[test]
fn other_namespaces_are_not_shown() {
    with_and_without_privilege("other_namespaces_are_not_shown", |under| {
        let place = Place::under(under);
        let fs = place.open();
        let (file, path) = (create(&fs, "file", 0), place.export().join("file"));
        let Some(xattrs) = fs.xattrs() else { return };
        let set = |name| rustix::fs::setxattr(&path, name, b"value", rustix::fs::XattrFlags::empty());
        set("user.shown").expect("set");
        // Takes the superuser; where it is refused there is nothing to hide.
        let _ = set("trusted.hidden");
        let mut names = Vec::new();
        let end = xattrs.list_xattrs(&me(), &file, 0, &mut |name, _| {
            names.push(name.as_bytes().to_vec());
            std::ops::ControlFlow::Continue(())
        });
        assert_eq!((end, names), (Ok(true), vec![b"shown".to_vec()]));
        let (name, change) = (XattrName::parse(b"hidden").expect("a name"), &mut Change::default());
        let set = xattrs.set_xattr(&me(), SetXattr::new(&file, name, b"mine", SetXattrMode::Create), change);
        assert_eq!(set, Ok(()));
    });
}
