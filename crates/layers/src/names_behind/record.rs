//! What a journal keeps of a change until the server has it.

use bytes::Bytes;
use howdah_vfs::{Attributes, Caller, FsError, Handle, NewAttributes, Timestamp};

use super::change::AnsweredOn;
use super::order::NodeNumber;
use super::record_bytes::{RecordReader, RecordWriter};
use super::tree::{MadeNode, Pinned};

/// A node in a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecordedNode {
    /// One that was made here; the server's handle, if the server had it already.
    Own(NodeNumber, Option<Handle>),
    /// One of the server.
    Server(Handle),
}

/// A name in a record.
pub type RecordedName = (RecordedNode, Vec<u8>);

/// A record. Those of a node that is being made belong to the change that makes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChangeRecord {
    /// A node is made.
    Make {
        node: NodeNumber,
        place: RecordedName,
        what: MadeNode,
        caller: Caller,
        attributes: Attributes,
        seen: AnsweredOn,
    },
    /// It holds these data.
    Data { offset: u64, data: Bytes },
    /// It ends here: data behind it that was recorded before is gone.
    Cut { size: u64 },
    /// It is as programs see it, and this is to be set when its data is there.
    State { attributes: Attributes, unset: NewAttributes },
    /// The server has made it. Recorded before the first data is sent, which overwrites the time that shows whose it is.
    Made { handle: Handle },
    /// It is safe on the server. The record stays as long as other changes need the node.
    Safe { handle: Handle, pinned: Pinned },
    /// Attributes of a node are set.
    Set { node: RecordedNode, caller: Caller, new: NewAttributes, time: Timestamp },
    /// A name is taken away.
    Remove { place: RecordedName, node: RecordedNode, is_directory: bool, caller: Caller, seen: AnsweredOn },
    /// A node gets another name.
    Rename {
        from: RecordedName,
        to: RecordedName,
        node: RecordedNode,
        replaced: Option<RecordedNode>,
        caller: Caller,
        seen: AnsweredOn,
    },
    /// The server refused the change, and nothing else keeps it.
    Refused { why: FsError },
    /// A node gets one more name.
    Link { node: RecordedNode, place: RecordedName, caller: Caller, seen: AnsweredOn },
}

impl ChangeRecord {
    /// Its kind and its content.
    pub fn encode(&self) -> (u8, Vec<u8>) {
        let mut to = RecordWriter::default();
        let kind = match self {
            Self::Make { node: id, place, what, caller, attributes, seen } => {
                to.long(*id);
                name(&mut to, place);
                match what {
                    MadeNode::File => to.byte(0),
                    MadeNode::Directory => to.byte(1),
                    MadeNode::Link(target) => {
                        to.byte(2);
                        to.bytes(target);
                    }
                }
                to.caller(caller);
                to.attributes(attributes);
                write_answered_on(&mut to, seen);
                1
            }
            Self::Data { offset, data } => {
                to.long(*offset);
                to.bytes(data);
                2
            }
            Self::Cut { size } => {
                to.long(*size);
                3
            }
            Self::State { attributes, unset } => {
                to.attributes(attributes);
                to.new_attributes(unset);
                4
            }
            Self::Made { handle } => {
                to.handle(handle);
                5
            }
            Self::Safe { handle, pinned } => {
                to.handle(handle);
                to.long(pinned.file.0);
                to.long(pinned.file.1);
                for time in [pinned.changed.0, pinned.changed.1, pinned.modified.0, pinned.modified.1] {
                    to.time(time);
                }
                6
            }
            Self::Set { node: of, caller, new, time } => {
                node(&mut to, of);
                to.caller(caller);
                to.new_attributes(new);
                to.time(*time);
                7
            }
            Self::Remove { place, node: of, is_directory, caller, seen } => {
                name(&mut to, place);
                node(&mut to, of);
                to.byte((*is_directory).into());
                to.caller(caller);
                write_answered_on(&mut to, seen);
                8
            }
            Self::Rename { from, to: entered, node: of, replaced, caller, seen } => {
                name(&mut to, from);
                name(&mut to, entered);
                node(&mut to, of);
                to.option(replaced.as_ref(), node);
                to.caller(caller);
                write_answered_on(&mut to, seen);
                9
            }
            Self::Link { node: of, place, caller, seen } => {
                node(&mut to, of);
                name(&mut to, place);
                to.caller(caller);
                write_answered_on(&mut to, seen);
                10
            }
            Self::Refused { why } => {
                to.bytes(why.errno_name().as_bytes());
                11
            }
        };
        (kind, to.0)
    }

    /// The nodes in it that were made here.
    pub fn own_nodes(&self) -> impl Iterator<Item = NodeNumber> + use<> {
        let nodes = match self {
            Self::Make { node, place, .. } => {
                [Some(RecordedNode::Own(*node, None)), Some(place.0), None, None]
            }
            Self::Set { node, .. } => [Some(*node), None, None, None],
            Self::Remove { place, node, .. } | Self::Link { place, node, .. } => {
                [Some(place.0), Some(*node), None, None]
            }
            Self::Rename { from, to, node, replaced, .. } => {
                [Some(from.0), Some(to.0), Some(*node), *replaced]
            }
            _ => [None; 4],
        };
        nodes.into_iter().flatten().filter_map(|node| match node {
            RecordedNode::Own(id, _) => Some(id),
            RecordedNode::Server(_) => None,
        })
    }

    /// The latest time in it that programs saw.
    pub fn time(&self) -> Timestamp {
        match self {
            Self::Make { attributes, seen, .. } => attributes.changed.max(seen.time),
            Self::State { attributes, .. } => attributes.changed.max(attributes.modified),
            Self::Set { time, .. } => *time,
            Self::Remove { seen, .. } | Self::Rename { seen, .. } | Self::Link { seen, .. } => seen.time,
            _ => Timestamp::default(),
        }
    }

    /// Reads a record; nothing if it is none that this version writes.
    pub fn decode(kind: u8, bytes: &[u8]) -> Option<Self> {
        let from = &mut RecordReader(bytes);
        let record = match kind {
            1 => Self::Make {
                node: from.long()?,
                place: read_name(from)?,
                what: match from.byte()? {
                    0 => MadeNode::File,
                    1 => MadeNode::Directory,
                    2 => MadeNode::Link(from.bytes()?.into()),
                    _ => return None,
                },
                caller: from.caller()?,
                attributes: from.attributes()?,
                seen: read_answered_on(from)?,
            },
            2 => Self::Data { offset: from.long()?, data: Bytes::copy_from_slice(from.bytes()?) },
            3 => Self::Cut { size: from.long()? },
            4 => Self::State { attributes: from.attributes()?, unset: from.new_attributes()? },
            5 => Self::Made { handle: from.handle()? },
            6 => Self::Safe {
                handle: from.handle()?,
                pinned: Pinned {
                    file: (from.long()?, from.long()?),
                    changed: (from.time()?, from.time()?),
                    modified: (from.time()?, from.time()?),
                },
            },
            7 => Self::Set {
                node: read_node(from)?,
                caller: from.caller()?,
                new: from.new_attributes()?,
                time: from.time()?,
            },
            8 => Self::Remove {
                place: read_name(from)?,
                node: read_node(from)?,
                is_directory: from.byte()? != 0,
                caller: from.caller()?,
                seen: read_answered_on(from)?,
            },
            9 => Self::Rename {
                from: read_name(from)?,
                to: read_name(from)?,
                node: read_node(from)?,
                replaced: from.option(read_node)?,
                caller: from.caller()?,
                seen: read_answered_on(from)?,
            },
            10 => Self::Link {
                node: read_node(from)?,
                place: read_name(from)?,
                caller: from.caller()?,
                seen: read_answered_on(from)?,
            },
            11 => {
                let name = from.bytes()?;
                let why = FsError::ALL.iter().find(|why| why.errno_name().as_bytes() == name)?;
                Self::Refused { why: *why }
            }
            _ => return None,
        };
        from.0.is_empty().then_some(record)
    }
}

fn node(to: &mut RecordWriter, node: &RecordedNode) {
    match node {
        RecordedNode::Own(id, real) => {
            to.byte(0);
            to.long(*id);
            to.option(real.as_ref(), RecordWriter::handle);
        }
        RecordedNode::Server(handle) => {
            to.byte(1);
            to.handle(handle);
        }
    }
}

fn read_node(from: &mut RecordReader<'_>) -> Option<RecordedNode> {
    match from.byte()? {
        0 => Some(RecordedNode::Own(from.long()?, from.option(RecordReader::handle)?)),
        1 => from.handle().map(RecordedNode::Server),
        _ => None,
    }
}

fn name(to: &mut RecordWriter, (directory, name): &RecordedName) {
    node(to, directory);
    to.bytes(name);
}

fn read_name(from: &mut RecordReader<'_>) -> Option<RecordedName> {
    Some((read_node(from)?, from.bytes()?.to_vec()))
}

fn write_answered_on(to: &mut RecordWriter, seen: &AnsweredOn) {
    to.time(seen.time);
    for links in [seen.parent_links, seen.links, seen.replaced_links] {
        to.short(links);
    }
}

fn read_answered_on(from: &mut RecordReader<'_>) -> Option<AnsweredOn> {
    Some(AnsweredOn {
        time: from.time()?,
        parent_links: from.short()?,
        links: from.short()?,
        replaced_links: from.short()?,
    })
}

#[cfg(test)]
mod tests {
    use howdah_vfs::{DeviceNumber, FileKind, GroupList, SetTime};

    use super::*;

    fn records() -> Vec<ChangeRecord> {
        let handle = |byte| Handle::new(&[byte; 40]).expect("short");
        let time = |seconds| Timestamp { seconds, nanoseconds: 7 };
        let seen = AnsweredOn { time: time(-5), parent_links: 1, links: 2, replaced_links: 3 };
        let caller = Caller { user: 1, group: 2, groups: GroupList::new(0..40) };
        let attributes = Attributes {
            change: 1,
            kind: FileKind::Fifo,
            mode: 2,
            links: 3,
            user: 4,
            group: 5,
            size: 1 << 40,
            used: 6,
            device: DeviceNumber { major: 7, minor: 8 },
            file_system: 9,
            file: 10,
            accessed: time(11),
            modified: time(12),
            changed: time(13),
            created: Some(time(14)),
        };
        let new = NewAttributes {
            modified: SetTime::To(time(3)),
            accessed: SetTime::Now,
            ..NewAttributes::with_size(4)
        };
        let (own, theirs) = (RecordedNode::Own(5, Some(handle(1))), RecordedNode::Server(handle(2)));
        let place = (own, b"name".to_vec());
        let make = |what| ChangeRecord::Make {
            node: 9,
            place: place.clone(),
            what,
            caller: caller.clone(),
            attributes,
            seen,
        };
        let pinned = Pinned { file: (1, 2), changed: (time(1), time(2)), modified: (time(3), time(4)) };
        vec![
            make(MadeNode::File),
            make(MadeNode::Directory),
            make(MadeNode::Link(b"target"[..].into())),
            ChangeRecord::Data { offset: 3, data: Bytes::from_static(b"data") },
            ChangeRecord::Cut { size: 8 },
            ChangeRecord::Refused { why: FsError::QuotaExceeded },
            ChangeRecord::State { attributes, unset: new },
            ChangeRecord::Made { handle: handle(3) },
            ChangeRecord::Safe { handle: handle(4), pinned },
            ChangeRecord::Set { node: theirs, caller: caller.clone(), new, time: time(1) },
            ChangeRecord::Remove {
                place: place.clone(),
                node: own,
                is_directory: true,
                caller: caller.clone(),
                seen,
            },
            ChangeRecord::Rename {
                from: place.clone(),
                to: place.clone(),
                node: RecordedNode::Own(1, None),
                replaced: Some(theirs),
                caller: caller.clone(),
                seen,
            },
            ChangeRecord::Link { node: own, place, caller, seen },
        ]
    }

    #[test]
    fn what_is_written_is_read() {
        for record in records() {
            let (kind, bytes) = record.encode();
            assert_eq!(ChangeRecord::decode(kind, &bytes), Some(record));
        }
    }

    #[test]
    fn what_is_cut_or_longer_or_of_another_kind_is_not() {
        for record in records() {
            let (kind, bytes) = record.encode();
            for length in 0..bytes.len() {
                assert_eq!(ChangeRecord::decode(kind, &bytes[..length]), None, "{record:?}");
            }
            assert_eq!(ChangeRecord::decode(kind, &[&bytes[..], &[0]].concat()), None);
            assert_eq!(ChangeRecord::decode(99, &bytes), None);
        }
    }
}
