//! Compounds as clients send them, and the line that each becomes.

use howdah_capture::{
    Call, CompoundBytes, How, Kind, Names, Pseudonyms, Stability, entries_listed, read_compound,
};
use howdah_wire::nfs4::attributes::{Attributes, Values};
use howdah_wire::nfs4::compound::{Head, ReplyHead, ResultHead};
use howdah_wire::nfs4::open::{ACCESS_BOTH, Claim, Delegation, How as Create};
use howdah_wire::nfs4::{
    Bitmap, ChangeInfo, ClientId, FileHandle, FileType, LinkTarget, Name, Opaque, Owner, StateId, Status,
    access, close, create, get_dir_delegation, getattr, getfh, lookup, lookupp, nverify, open, putfh, read,
    readdir, remove, rename, restorefh, savefh, sequence, setattr, verify, write,
};
use howdah_wire::nfs4::{SessionId, Stability as Durable, Verifier};
use howdah_wire::xdr::{Encode, Encoder};

const STATE: StateId = StateId::ANONYMOUS;

/// A compound and its reply, as they grow.
#[derive(Default)]
struct Compound {
    operations: u32,
    not_reached: u32,
    arguments: Vec<u8>,
    results: Vec<u8>,
    status: Option<Status>,
}

impl Compound {
    /// In a session, for this node.
    fn of(node: &[u8]) -> Self {
        let session = SessionId([1; 16]);
        let asked = sequence::Arguments { session, sequence: 1, slot: 0, highest_slot: 0, keep: false };
        let answered = sequence::Success {
            session,
            sequence: 1,
            slot: 0,
            highest_slot: 0,
            target_highest_slot: 0,
            flags: 0,
        };
        Self::default().with(sequence::OPERATION, &asked, &answered).put(node)
    }

    fn put(self, node: &[u8]) -> Self {
        self.with(putfh::OPERATION, &putfh::Arguments { node: FileHandle(node) }, &())
    }

    fn with(mut self, operation: u32, arguments: &impl Encode, result: &impl Encode) -> Self {
        self.asks(operation, arguments);
        self.results.extend(Encoder::to_vec(&ResultHead { operation, status: Status::OK }));
        self.results.extend(Encoder::to_vec(result));
        self
    }

    fn refused(mut self, operation: u32, arguments: &impl Encode, status: Status) -> Self {
        self.asks(operation, arguments);
        self.results.extend(Encoder::to_vec(&ResultHead { operation, status }));
        self.status = Some(status);
        self
    }

    /// Operations behind the one that was refused.
    fn ahead(&mut self, operations: &[(u32, &dyn Encode)]) {
        for (operation, arguments) in operations {
            self.not_reached += 1;
            self.arguments.extend(operation.to_be_bytes());
            let mut bytes = Vec::new();
            arguments.encode(&mut Encoder::new(&mut bytes));
            self.arguments.extend(bytes);
        }
    }

    fn asks(&mut self, operation: u32, arguments: &impl Encode) {
        self.operations += 1;
        self.arguments.extend(operation.to_be_bytes());
        self.arguments.extend(Encoder::to_vec(arguments));
    }

    fn handle(self, node: &[u8]) -> Self {
        self.with(getfh::OPERATION, &(), &getfh::Success { node: FileHandle(node) })
    }

    fn attributes(self, kind: FileType, size: u64) -> Self {
        let mut all = Attributes::default();
        (all.identity.kind, all.content.size) = (Some(kind), Some(size));
        let wanted = getattr::Arguments { wanted: all.present() };
        let buffer = &mut Vec::new();
        self.with(getattr::OPERATION, &wanted, &Values::of(&all, buffer))
    }

    fn bytes(&self) -> (Vec<u8>, Vec<u8>) {
        let head = Head { tag: b"", minor_version: 2, operations: self.operations + self.not_reached };
        let status = self.status.unwrap_or(Status::OK);
        let reply = ReplyHead { status, tag: b"", results: self.operations };
        let with = |head: Vec<u8>, rest: &[u8]| [&head[..], rest].concat();
        (with(Encoder::to_vec(&head), &self.arguments), with(Encoder::to_vec(&reply), &self.results))
    }

    fn parsed(&self) -> Call {
        let (arguments, result) = self.bytes();
        parsed(&arguments, &result)
    }
}

fn parsed(arguments: &[u8], result: &[u8]) -> Call {
    let kept = CompoundBytes { arguments, end: &[], length: arguments.len(), result };
    let mut lines = lines(&kept);
    assert_eq!(lines.len(), 1, "{lines:?}");
    lines.remove(0)
}

fn lines(kept: &CompoundBytes<'_>) -> Vec<Call> {
    read_compound(&Pseudonyms::new(Names::Clear), kept, Call::default()).expect("a compound")
}

fn opens(name: &'static [u8], create: Option<Create<'static>>) -> open::Arguments<'static> {
    let owner = Owner { client: ClientId(0), owner: Opaque(b"owner") };
    open::Arguments {
        sequence: 0,
        access: ACCESS_BOTH,
        deny: 0,
        owner,
        create,
        claim: Claim::Name(Name(name)),
    }
}

fn opened() -> open::Success<'static> {
    let (directory, attributes_set) = (ChangeInfo::default(), Bitmap::default());
    open::Success { state: STATE, directory, flags: 0, attributes_set, delegation: Delegation::None }
}

/// What a call says of its nodes, without their kinds and sizes.
fn nodes(call: &Call) -> [Option<String>; 5] {
    let of = |bytes: &Option<String>| bytes.clone();
    [&call.node, &call.name, &call.to, &call.to_name, &call.found].map(of)
}

fn is(call: &Call, procedure: &str, operation: &str) {
    assert_eq!((&*call.procedure, call.operation.as_deref()), (procedure, Some(operation)));
}

#[test]
fn an_open_finds_a_file_or_makes_it() {
    let compound = |create| {
        Compound::of(b"directory")
            .with(open::OPERATION, &opens(b"file", create), &opened())
            .handle(b"handle")
            .with(
                access::OPERATION,
                &access::Arguments { wanted: 3 },
                &access::Success { supported: 3, granted: 3 },
            )
            .attributes(FileType::Regular, 7)
            .parsed()
    };
    let found = compound(None);
    is(&found, "LOOKUP", "OPEN");
    assert_eq!((found.found_kind, found.found_size), (Some(Kind::File), Some(7)));
    assert_eq!((found.access, found.size, found.name.as_deref()), (None, None, Some("file")));
    let made = compound(Some(Create::Guarded(Values::default())));
    is(&made, "CREATE", "OPEN");
    assert_eq!((made.how, made.found.is_some()), (Some(How::Guarded), true));
    let mut current = opens(b"", None);
    current.claim = Claim::Current;
    let current = Compound::of(b"handle").with(open::OPERATION, &current, &opened()).parsed();
    is(&current, "GETATTR", "OPEN");
    assert!(current.node.is_some() && current.name.is_none());
}

#[test]
fn reads_and_writes_are_told_without_data() {
    let wanted = read::Arguments { state: STATE, offset: 10, count: 100 };
    let read = Compound::of(b"file")
        .with(read::OPERATION, &wanted, &read::Success { end: true, data: b"some data" })
        .attributes(FileType::Regular, 19);
    // What is kept may end within the data.
    let (arguments, result) = read.bytes();
    for parsed in [read.parsed(), parsed(&arguments, &result[..result.len() - 40])] {
        is(&parsed, "READ", "READ");
        assert_eq!(
            (parsed.offset, parsed.count, parsed.done, parsed.at_end),
            (Some(10), Some(100), Some(9), true)
        );
    }
    let wanted =
        write::Arguments { state: STATE, offset: 5, stability: Durable::FileSync, data: b"some more data" };
    let done = write::Success { count: 14, committed: Durable::FileSync, verifier: Verifier([0; 8]) };
    let written = Compound::of(b"file").with(write::OPERATION, &wanted, &done);
    let (arguments, result) = written.bytes();
    for parsed in [written.parsed(), parsed(&arguments[..arguments.len() - 10], &result)] {
        is(&parsed, "WRITE", "WRITE");
        assert_eq!(
            (parsed.offset, parsed.count, parsed.done, parsed.stable),
            (Some(5), Some(14), Some(14), Some(Stability::File))
        );
    }
}

#[test]
fn names_are_moved_removed_and_looked_up() {
    let save = |compound: Compound| compound.with(savefh::OPERATION, &(), &()).put(b"other");
    let names = rename::Arguments { from: Name(b"old"), to: Name(b"new") };
    let moved = rename::Success { source: ChangeInfo::default(), target: ChangeInfo::default() };
    let renamed = save(Compound::of(b"directory")).with(rename::OPERATION, &names, &moved).parsed();
    is(&renamed, "RENAME", "RENAME");
    let [node, name, to, to_name, found] = nodes(&renamed);
    assert!(node.is_some() && to.is_some() && node != to && found.is_none());
    assert_eq!((name.as_deref(), to_name.as_deref()), (Some("old"), Some("new")));
    let gone = remove::Arguments { name: Name(b"name") };
    let gone = Compound::of(b"directory").refused(remove::OPERATION, &gone, Status::NOTEMPTY).parsed();
    is(&gone, "REMOVE", "REMOVE");
    assert_eq!((gone.error.as_deref(), gone.name.as_deref()), (Some("NOTEMPTY"), Some("name")));
    // Of two names on a way the first is reported.
    let lookup = |name| lookup::Arguments { name: Name(name) };
    let way = Compound::of(b"directory")
        .with(lookup::OPERATION, &lookup(b"first"), &())
        .with(lookup::OPERATION, &lookup(b"second"), &())
        .handle(b"handle")
        .parsed();
    is(&way, "LOOKUP", "LOOKUP");
    assert_eq!((way.name.as_deref(), way.found), (Some("first"), None));
}

#[test]
fn a_node_is_told_as_what_it_was_made() {
    let make = |node| {
        let wanted = create::Arguments { node, name: Name(b"name"), attributes: Values::default() };
        let made = create::Success { directory: ChangeInfo::default(), attributes_set: Bitmap::default() };
        Compound::of(b"directory").with(create::OPERATION, &wanted, &made).handle(b"handle").parsed()
    };
    let link = make(create::NewNode::SymbolicLink(LinkTarget(b"where to")));
    is(&link, "SYMLINK", "CREATE");
    assert_eq!((link.target, link.found.is_some()), (Some(8), true));
    is(&make(create::NewNode::Directory), "MKDIR", "CREATE");
    is(&make(create::NewNode::Fifo), "MKNOD", "CREATE");
}

#[test]
fn attributes_alone_are_told_and_what_no_other_version_has_by_its_name() {
    let asked = Compound::of(b"file").attributes(FileType::Regular, 3).parsed();
    is(&asked, "GETATTR", "GETATTR");
    assert_eq!((asked.kind, asked.size, asked.node.is_some()), (Some(Kind::File), Some(3), true));
    let alone = Compound::of(b"file").refused(4, &(), Status::BAD_STATEID).parsed();
    is(&alone, "CLOSE", "CLOSE");
    assert_eq!(alone.error.as_deref(), Some("BAD_STATEID"));
}

/// VERIFY or NVERIFY of the kind that the node found has.
fn kind_checked(compound: Compound, operation: u32, status: Status) -> Compound {
    let mut directory = Attributes::default();
    directory.identity.kind = Some(FileType::Directory);
    let buffer = &mut Vec::new();
    let check = verify::Arguments { attributes: Values::of(&directory, buffer) };
    match status {
        Status::OK => compound.with(operation, &check, &()),
        status => compound.refused(operation, &check, status),
    }
}

#[test]
fn a_removal_that_checks_what_it_removes_is_one() {
    let (name, gone) = (lookup::Arguments { name: Name(b"name") }, remove::Arguments { name: Name(b"name") });
    let done = remove::Success { directory: ChangeInfo::default() };
    let found = || Compound::of(b"directory").with(lookup::OPERATION, &name, &());
    for (check, procedure, refused, error) in [
        (nverify::OPERATION, "REMOVE", Status::SAME, "ISDIR"),
        (verify::OPERATION, "RMDIR", Status::NOT_SAME, "NOTDIR"),
    ] {
        let removed = kind_checked(found(), check, Status::OK).put(b"directory");
        let removed =
            removed.with(remove::OPERATION, &gone, &done).attributes(FileType::Directory, 9).parsed();
        is(&removed, procedure, "REMOVE");
        assert_eq!((removed.name.as_deref(), removed.error), (Some("name"), None));
        assert_eq!((removed.found_kind, removed.kind), (None, Some(Kind::Directory)));
        let mut stopped = kind_checked(found(), check, refused);
        stopped.ahead(&[(putfh::OPERATION, &putfh::Arguments { node: FileHandle(b"directory") })]);
        stopped.ahead(&[(remove::OPERATION, &gone)]);
        let stopped = stopped.parsed();
        is(&stopped, procedure, "REMOVE");
        assert_eq!((stopped.name.as_deref(), stopped.error.as_deref()), (Some("name"), Some(error)));
        assert!(stopped.node.is_some() && removed.node.is_some());
    }
    let mut missing = Compound::of(b"directory").refused(lookup::OPERATION, &name, Status::NOENT);
    missing.ahead(&[(putfh::OPERATION, &putfh::Arguments { node: FileHandle(b"directory") })]);
    missing.ahead(&[(remove::OPERATION, &gone)]);
    let missing = missing.parsed();
    is(&missing, "REMOVE", "REMOVE");
    assert_eq!(missing.error.as_deref(), Some("NOENT"));
}

#[test]
fn a_listing_is_one_whatever_is_asked_before_it() {
    let wanted = readdir::Arguments {
        cookie: 0,
        verifier: Verifier([0; 8]),
        name_count: 100,
        count: 1000,
        wanted: Bitmap::default(),
    };
    let unavailable = get_dir_delegation::Success::Unavailable { signal: false };
    let compound = Compound::of(b"directory")
        .with(get_dir_delegation::OPERATION, &get_dir_delegation::Arguments::WITH_CHILDREN, &unavailable)
        .attributes(FileType::Directory, 40);
    let looked = compound.parsed();
    is(&looked, "GETATTR", "GETATTR");
    assert_eq!((looked.kind, looked.size), (Some(Kind::Directory), Some(40)));
    let above = |compound: Compound| {
        let compound = compound.with(lookupp::OPERATION, &(), &()).handle(b"above");
        compound.attributes(FileType::Directory, 50).put(b"directory")
    };
    let delegated = Compound::of(b"directory")
        .with(get_dir_delegation::OPERATION, &get_dir_delegation::Arguments::WITH_CHILDREN, &unavailable)
        .attributes(FileType::Directory, 40);
    let mut listing = above(delegated).with(readdir::OPERATION, &wanted, &());
    let budget = readdir::Budget { whole: 1000, names: 1000 };
    let mut entries = Vec::new();
    readdir::EntryWriter::new(&mut entries, Verifier([0; 8]), budget).finish(true);
    listing.results.extend(entries);
    assert_eq!(entries_listed(&listing.bytes().1), Some((0, true)));
    let listed = listing.parsed();
    is(&listed, "READDIRPLUS", "READDIR");
    assert_eq!((listed.node.is_some(), listed.size), (looked.node.is_some(), Some(40)));
    assert_eq!((listed.name, listed.found, listed.found_kind), (None, None, None));
}

/// As our own client makes small files: each operation of the compound has its line, also behind data that is not kept.
#[test]
fn what_one_compound_does_has_a_line_each() {
    let data = [7; 3001];
    let make = opens(b"partial", Some(Create::Guarded(Values::default())));
    let wanted = write::Arguments { state: STATE, offset: 0, stability: Durable::FileSync, data: &data };
    let done = write::Success { count: 3001, committed: Durable::FileSync, verifier: Verifier([0; 8]) };
    let mut new = Attributes::default();
    new.permissions.mode = Some(0o640);
    let buffer = &mut Vec::new();
    let set = setattr::Arguments { state: STATE, attributes: Values::of(&new, buffer) };
    let names = rename::Arguments { from: Name(b"partial"), to: Name(b"name") };
    let moved = rename::Success { source: ChangeInfo::default(), target: ChangeInfo::default() };
    let end = close::Arguments { sequence: 0, state: STATE };
    let compound = Compound::of(b"directory")
        .with(savefh::OPERATION, &(), &())
        .with(open::OPERATION, &make, &opened())
        .handle(b"file")
        .with(write::OPERATION, &wanted, &done)
        .with(setattr::OPERATION, &set, &setattr::Success::default())
        .with(close::OPERATION, &end, &close::Success { state: STATE })
        .with(restorefh::OPERATION, &(), &())
        .with(rename::OPERATION, &names, &moved);
    let (arguments, result) = compound.bytes();
    let kept = |start: usize, end: usize| CompoundBytes {
        arguments: &arguments[..start],
        end: &arguments[arguments.len() - end..],
        length: arguments.len(),
        result: &result,
    };
    for kept in [kept(arguments.len(), 0), kept(1024, 768)] {
        let lines = lines(&kept);
        let [made, written, set, renamed] = &lines[..] else { panic!("{lines:?}") };
        is(made, "CREATE", "OPEN");
        is(written, "WRITE", "WRITE");
        assert_eq!((written.done, written.stable), (Some(3001), Some(Stability::File)));
        is(set, "SETATTR", "SETATTR");
        assert_eq!(set.mode, Some(0o640));
        is(renamed, "RENAME", "RENAME");
        assert_eq!((renamed.name.as_deref(), renamed.to_name.as_deref()), (Some("partial"), Some("name")));
        assert_eq!((&renamed.node, &renamed.to), (&made.node, &made.node));
        assert!(made.found.is_some() && written.node == made.found && set.node == made.found);
    }
    let cut = lines(&kept(1024, 0));
    assert_eq!(cut.len(), 2, "the rest is not there: {cut:?}");
    // What was done stays done, though the compound was stopped.
    let mut stopped = Compound::of(b"directory").with(open::OPERATION, &make, &opened()).handle(b"file");
    stopped = stopped.refused(close::OPERATION, &end, Status::BAD_STATEID);
    let made = stopped.parsed();
    is(&made, "CREATE", "OPEN");
    assert_eq!(made.error, None);
}

#[test]
fn entries_are_counted() {
    let wanted = readdir::Arguments {
        cookie: 9,
        verifier: Verifier([0; 8]),
        name_count: 100,
        count: 1000,
        wanted: Bitmap::default(),
    };
    let mut entries = Vec::new();
    let budget = readdir::Budget { whole: 1000, names: 1000 };
    let mut writer = readdir::EntryWriter::new(&mut entries, Verifier([0; 8]), budget);
    for cookie in [3, 4] {
        let _ = writer.add(cookie, Name(b"name"), |encoder| Values::default().encode(encoder));
    }
    writer.finish(true);
    let mut compound = Compound::of(b"directory").with(readdir::OPERATION, &wanted, &());
    compound.results.extend(entries);
    let (_, result) = compound.bytes();
    assert_eq!(entries_listed(&result), Some((2, true)));
    let parsed = compound.parsed();
    is(&parsed, "READDIRPLUS", "READDIR");
    assert!(parsed.goes_on);
}

#[test]
fn what_is_cut_off_anywhere_makes_no_trouble() {
    let compound = Compound::of(b"directory")
        .with(open::OPERATION, &opens(b"file", None), &opened())
        .handle(b"handle")
        .attributes(FileType::Regular, 7);
    let (arguments, result) = compound.bytes();
    for length in 0..result.len() {
        let kept = CompoundBytes {
            arguments: &arguments,
            end: &[],
            length: arguments.len(),
            result: &result[..length],
        };
        let read = read_compound(&Pseudonyms::new(Names::Hashed), &kept, Call::default());
        assert_eq!(read.is_ok(), length >= 12, "the head of a reply has 12 bytes");
        let _ = entries_listed(&result[..length]);
    }
}
