//! Random pieces from which the messages of the tests are put together.

use howdah_wire::nfs3::*;
use proptest::prelude::*;

/// What a message may be made of.
#[derive(Debug, Clone)]
pub struct Sample {
    pub handles: [Vec<u8>; 2],
    pub names: [Vec<u8>; 2],
    pub target: Vec<u8>,
    pub data: Vec<u8>,
    pub attributes: Attributes,
    pub optional: [Option<Attributes>; 2],
    pub changes: [WeakCacheConsistency; 2],
    pub new: NewAttributes,
    pub guard: Option<Time>,
    pub status: Status,
    pub stability: write::Stability,
    pub words: [u32; 8],
    pub longs: [u64; 6],
    pub bytes: [u8; 8],
    pub flags: [bool; 4],
}

impl Sample {
    pub fn node(&self) -> FileHandle<'_> {
        FileHandle(&self.handles[0])
    }

    pub fn objects(&self) -> [DirectoryName<'_>; 2] {
        [0, 1].map(|i| DirectoryName { directory: FileHandle(&self.handles[i]), name: &self.names[i] })
    }

    pub fn fsstat(&self) -> fsstat::Success {
        let [total_bytes, free_bytes, available_bytes, total_files, free_files, available_files] = self.longs;
        fsstat::Success {
            attributes: self.optional[0],
            total_bytes,
            free_bytes,
            available_bytes,
            total_files,
            free_files,
            available_files,
            constant_seconds: self.words[0],
        }
    }

    pub fn fsinfo(&self) -> fsinfo::Success {
        let [read_max, read_preferred, read_multiple, write_max, write_preferred, write_multiple, ..] =
            self.words;
        fsinfo::Success {
            attributes: self.optional[1],
            read_max,
            read_preferred,
            read_multiple,
            write_max,
            write_preferred,
            write_multiple,
            directory_preferred: self.words[6],
            largest_file: self.longs[0],
            time_step: Time { seconds: 0, nanoseconds: 1 },
            properties: self.words[7],
        }
    }

    pub fn pathconf(&self) -> pathconf::Success {
        let [refuses_long_names, chown_restricted, case_insensitive, case_preserving] = self.flags;
        pathconf::Success {
            attributes: self.optional[0],
            most_links: self.words[0],
            longest_name: self.words[1],
            refuses_long_names,
            chown_restricted,
            case_insensitive,
            case_preserving,
        }
    }
}

/// A sample whose numbers are all different.
pub fn counted() -> Sample {
    Sample {
        handles: Default::default(),
        names: Default::default(),
        target: Vec::new(),
        data: Vec::new(),
        attributes: Attributes {
            kind: FileType::Regular,
            mode: 0,
            links: 0,
            user: 0,
            group: 0,
            size: 0,
            used: 0,
            device: Device::default(),
            file_system: 0,
            file: 0,
            accessed: Time::default(),
            modified: Time::default(),
            changed: Time::default(),
        },
        optional: [None; 2],
        changes: [WeakCacheConsistency::default(); 2],
        new: NewAttributes::default(),
        guard: None,
        status: Status::Io,
        stability: write::Stability::Unstable,
        words: [1, 2, 3, 4, 5, 6, 7, 8],
        longs: [11, 12, 13, 14, 15, 16],
        bytes: [0; 8],
        flags: [false; 4],
    }
}

pub fn any_sample() -> impl Strategy<Value = Sample> {
    let opaque = |most| prop::collection::vec(any::<u8>(), 0..=most);
    let strings =
        ([opaque(HANDLE_MAX), opaque(HANDLE_MAX)], [opaque(40_usize), opaque(300)], opaque(100), opaque(100));
    let nodes = (
        any_attributes(),
        [prop::option::of(any_attributes()), prop::option::of(any_attributes())],
        [any_change(), any_change()],
        any_new(),
        prop::option::of(any_time()),
    );
    let numbers = (
        prop::sample::select(Status::ALL),
        prop::sample::select(&[
            write::Stability::Unstable,
            write::Stability::DataSync,
            write::Stability::FileSync,
        ]),
        any::<[u32; 8]>(),
        any::<[u64; 6]>(),
        any::<[u8; 8]>(),
        any::<[bool; 4]>(),
    );
    (strings, nodes, numbers).prop_map(|(strings, nodes, numbers)| {
        let (handles, names, target, data) = strings;
        let (attributes, optional, changes, new, guard) = nodes;
        let (status, stability, words, longs, bytes, flags) = numbers;
        Sample {
            handles,
            names,
            target,
            data,
            attributes,
            optional,
            changes,
            new,
            guard,
            status,
            stability,
            words,
            longs,
            bytes,
            flags,
        }
    })
}

pub fn any_time() -> impl Strategy<Value = Time> {
    any::<(u32, u32)>().prop_map(|(seconds, nanoseconds)| Time { seconds, nanoseconds })
}

pub fn any_attributes() -> impl Strategy<Value = Attributes> {
    let kinds = [
        FileType::Regular,
        FileType::Directory,
        FileType::BlockDevice,
        FileType::CharacterDevice,
        FileType::SymbolicLink,
        FileType::Socket,
        FileType::Fifo,
    ];
    let numbers = any::<([u32; 6], [u64; 4])>();
    (prop::sample::select(kinds.to_vec()), numbers, [any_time(), any_time(), any_time()]).prop_map(
        |(kind, ([mode, links, user, group, major, minor], [size, used, file_system, file]), times)| {
            let ([accessed, modified, changed], device) = (times, Device { major, minor });
            Attributes {
                kind,
                mode,
                links,
                user,
                group,
                size,
                used,
                device,
                file_system,
                file,
                accessed,
                modified,
                changed,
            }
        },
    )
}

fn any_change() -> impl Strategy<Value = WeakCacheConsistency> {
    let before = (any::<u64>(), any_time(), any_time())
        .prop_map(|(size, modified, changed)| BeforeAttributes { size, modified, changed });
    (prop::option::of(before), prop::option::of(any_attributes()))
        .prop_map(|(before, after)| WeakCacheConsistency { before, after })
}

fn any_new() -> impl Strategy<Value = NewAttributes> {
    let time = || {
        prop_oneof![Just(SetTime::Keep), Just(SetTime::ServerTime), any_time().prop_map(SetTime::ClientTime)]
    };
    (any::<[Option<u32>; 3]>(), any::<Option<u64>>(), time(), time()).prop_map(
        |([mode, user, group], size, accessed, modified)| NewAttributes {
            mode,
            user,
            group,
            size,
            accessed,
            modified,
        },
    )
}

/// File number, name, cookie.
pub fn any_entries() -> impl Strategy<Value = Vec<(u64, Vec<u8>, u64)>> {
    let name = prop::collection::vec(any::<u8>(), 0..30);
    prop::collection::vec((any::<u64>(), name, any::<u64>()), 0..12)
}
