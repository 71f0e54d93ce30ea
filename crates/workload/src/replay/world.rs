//! What must be there before a record is played: nodes, their names, how large they are and which of their bytes are read.

use howdah_capture::Kind;

/// The place of a node among all.
pub(super) type NodeId = usize;

/// A node in the record.
#[derive(Debug, Clone, Default)]
pub(super) struct Node {
    /// What it is, where the record says it.
    pub(super) kind: Option<Kind>,
    /// Whether it is there before the first call.
    pub(super) exists: bool,
    /// Whether the record makes it.
    pub(super) is_made: bool,
    /// Its size before the first call, if it is there then.
    pub(super) size: Option<u64>,
    /// Whether its size was changed so far.
    pub(super) is_changed: bool,
    /// Its size as far as it is known now.
    pub(super) now: u64,
    /// Ranges that are read of what was there before: those are to hold data.
    pub(super) read: Vec<(u64, u64)>,
    /// Of a directory, the entries of its longest listing.
    pub(super) entries: u64,
    /// Of the listing under way.
    pub(super) listing: u64,
}

/// Everything.
#[derive(Debug, Default)]
pub(super) struct World {
    /// All nodes.
    pub(super) nodes: Vec<Node>,
    /// Names that are there before the first call: directory, name, node.
    pub(super) names: Vec<(NodeId, String, NodeId)>,
}

impl World {
    /// One node more.
    pub(super) fn add(&mut self) -> NodeId {
        self.nodes.push(Node::default());
        self.nodes.len() - 1
    }

    /// A node that must be there when a call comes that is for it.
    pub(super) fn needs(&mut self, id: NodeId) {
        let node = &mut self.nodes[id];
        node.exists |= !node.is_made;
    }

    /// What a node is, unless that is known.
    pub(super) fn is(&mut self, id: NodeId, kind: Kind) {
        self.nodes[id].kind.get_or_insert(kind);
    }

    /// Its size was recorded before this call changed anything.
    pub(super) fn has_size(&mut self, id: NodeId, size: u64) {
        let node = &mut self.nodes[id];
        if !node.is_changed && !node.is_made && node.size.is_none() {
            node.size = Some(size);
        }
        node.now = size;
    }

    /// So much was read of it.
    pub(super) fn was_read(&mut self, id: NodeId, offset: u64, length: u64) {
        let node = &mut self.nodes[id];
        if node.is_made || length == 0 {
            return;
        }
        node.read.push((offset, length));
        node.now = node.now.max(offset + length);
        if !node.is_changed {
            node.size = Some(node.size.unwrap_or_default().max(offset + length));
        }
    }

    /// So many entries of a directory were recorded.
    pub(super) fn was_listed(&mut self, id: NodeId, entries: u64, goes_on: bool) {
        let node = &mut self.nodes[id];
        node.listing = if goes_on { node.listing + entries } else { entries };
        node.entries = node.entries.max(node.listing);
    }
}

impl Node {
    /// The ranges that are to hold data, in order and apart.
    pub(super) fn data(&self) -> Vec<(u64, u64)> {
        let size = self.size.unwrap_or_default();
        let within =
            self.read.iter().map(|&(offset, length)| (offset.min(size), (offset + length).min(size)));
        let mut ranges: Vec<(u64, u64)> = within.filter(|(start, end)| start < end).collect();
        ranges.sort_unstable();
        let mut apart: Vec<(u64, u64)> = Vec::new();
        for (start, end) in ranges {
            match apart.last_mut() {
                Some(last) if start <= last.1 => last.1 = last.1.max(end),
                _ => apart.push((start, end)),
            }
        }
        apart
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_is_where_it_is_read_and_no_further_than_the_file_reaches() {
        let node = Node {
            size: Some(100),
            read: vec![(50, 10), (0, 20), (10, 15), (60, 5), (90, 20), (200, 5)],
            ..Node::default()
        };
        assert_eq!(node.data(), [(0, 25), (50, 65), (90, 100)]);
    }
}
