//! What fanotify(7) tells, read event by event. Pure.

/// Bytes of an event before what is told of its nodes (`struct fanotify_event_metadata`).
const HEAD: usize = 24;
/// Bytes of `struct fanotify_event_info_header`, and of the number of the file system behind it.
const INFO_HEAD: usize = 4;
const FILE_SYSTEM: usize = 8;

/// One event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ChangeEvent<'e> {
    /// Events were lost before it.
    pub(super) is_overflow: bool,
    /// The process that made the change; 0 if the kernel does not say.
    process: i32,
    nodes: &'e [u8],
}

/// What the kernel knows a node by: the kind of its handle and the handle.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct NodeIdentity(Box<[u8]>);

impl NodeIdentity {
    /// That of a node whose handle the kernel gave.
    pub(super) fn of(kind: i32, handle: &[u8]) -> Self {
        Self([&kind.to_ne_bytes(), handle].concat().into())
    }
}

/// The events in what was read.
pub(super) fn events(mut bytes: &[u8]) -> impl Iterator<Item = ChangeEvent<'_>> {
    std::iter::from_fn(move || {
        let length = u32::from_ne_bytes(*bytes.first_chunk()?) as usize;
        if length < HEAD {
            return None;
        }
        let (event, rest) = bytes.split_at_checked(length)?;
        bytes = rest;
        let mask = u64::from_ne_bytes(*event[8..].first_chunk()?);
        let process = i32::from_ne_bytes(*event[20..].first_chunk()?);
        let start = usize::from(u16::from_ne_bytes(*event[6..].first_chunk()?));
        let nodes = event.get(start..).unwrap_or_default();
        Some(ChangeEvent { is_overflow: mask & libc::FAN_Q_OVERFLOW != 0, process, nodes })
    })
}

impl<'e> ChangeEvent<'e> {
    /// Whether this process made the change.
    pub(super) fn is_by(&self, process: i32) -> bool {
        self.process == process
    }

    /// The nodes that changed: the directory, the node itself, or both.
    pub(super) fn nodes(self) -> impl Iterator<Item = NodeIdentity> + use<'e> {
        let mut bytes = self.nodes;
        std::iter::from_fn(move || {
            let length = usize::from(u16::from_ne_bytes(*bytes.get(2..)?.first_chunk()?));
            let (info, rest) = bytes.split_at_checked(length)?;
            bytes = rest;
            let handle = info.get(INFO_HEAD + FILE_SYSTEM..)?;
            let length = u32::from_ne_bytes(*handle.first_chunk()?) as usize;
            let kind = i32::from_ne_bytes(*handle.get(4..)?.first_chunk()?);
            Some(NodeIdentity::of(kind, handle.get(8..)?.get(..length)?))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A record of a node as the kernel lays it out.
    fn info(kind: i32, handle: &[u8]) -> Vec<u8> {
        let length = (INFO_HEAD + FILE_SYSTEM + 8 + handle.len()) as u16;
        let mut bytes = vec![3, 0];
        bytes.extend(length.to_ne_bytes());
        bytes.extend([7; FILE_SYSTEM]);
        bytes.extend((handle.len() as u32).to_ne_bytes());
        bytes.extend(kind.to_ne_bytes());
        bytes.extend(handle);
        bytes
    }

    fn event(mask: u64, process: i32, nodes: &[u8]) -> Vec<u8> {
        let mut bytes = ((HEAD + nodes.len()) as u32).to_ne_bytes().to_vec();
        bytes.extend([3, 0]);
        bytes.extend((HEAD as u16).to_ne_bytes());
        bytes.extend(mask.to_ne_bytes());
        bytes.extend((-1i32).to_ne_bytes());
        bytes.extend(process.to_ne_bytes());
        bytes.extend(nodes);
        bytes
    }

    #[test]
    fn events_and_their_nodes_are_read_one_after_the_other() {
        let nodes = [info(1, &[1; 8]), info(0x81, &[2; 12])].concat();
        let bytes = [event(2, 5, &nodes), event(libc::FAN_Q_OVERFLOW, 0, &[])].concat();
        let read: Vec<_> = events(&bytes).collect();
        assert_eq!(read.len(), 2);
        assert_eq!((read[0].is_overflow, read[0].process), (false, 5));
        let expected = [NodeIdentity::of(1, &[1; 8]), NodeIdentity::of(0x81, &[2; 12])];
        assert_eq!(read[0].nodes().collect::<Vec<_>>(), expected);
        assert!(read[1].is_overflow && read[1].nodes().next().is_none());
    }

    #[test]
    fn what_is_cut_short_ends_the_list() {
        let whole = event(2, 5, &info(1, &[1; 8]));
        for length in 0..whole.len() {
            assert_eq!(events(&whole[..length]).count(), 0);
        }
        let mut lying = event(2, 5, &info(1, &[1; 8]));
        let at = HEAD + INFO_HEAD + FILE_SYSTEM;
        lying[at..at + 4].copy_from_slice(&200u32.to_ne_bytes());
        assert_eq!(events(&lying).next().map(|event| event.nodes().count()), Some(0));
    }
}
