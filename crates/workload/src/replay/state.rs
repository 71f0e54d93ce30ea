//! Which names are there while a record is read, as far as it says.

use std::collections::HashMap;

use howdah_capture::Kind;

use super::world::{NodeId, World};

/// A name in a directory.
type Place = (NodeId, String);

/// What is known of names now; nothing is known of those that are not here.
#[derive(Debug, Default)]
pub(super) struct Names {
    now: HashMap<Place, Option<NodeId>>,
}

impl Names {
    /// The node of that name, if it is known.
    pub(super) fn now(&self, place: &Place) -> Option<NodeId> {
        self.now.get(place).copied().flatten()
    }

    /// A name is there, and was from the start unless the record made it: as this node, if that was recorded, and of this kind.
    /// Its node.
    pub(super) fn is_there(
        &mut self,
        world: &mut World,
        place: Place,
        node: Option<NodeId>,
        kind: Option<Kind>,
    ) -> NodeId {
        let id = match (self.now.get(&place).copied(), node) {
            (Some(Some(known)), None) => known,
            // What a RENAME moved before its handle was recorded has it now.
            (Some(Some(known)), Some(node)) if known != node && world.nodes[known].kind.is_none() => {
                give(world, known, node);
                node
            }
            // Somebody changed it who is not in the record.
            (Some(_), node) => node.unwrap_or_else(|| world.add()),
            (None, node) => {
                let node = node.unwrap_or_else(|| world.add());
                world.needs(node);
                if world.nodes[node].exists {
                    world.names.push((place.0, place.1.clone(), node));
                }
                node
            }
        };
        if let Some(kind) = kind {
            world.is(id, kind);
        }
        self.now.insert(place, Some(id));
        id
    }

    /// A name is not there.
    pub(super) fn is_not_there(&mut self, place: Place) {
        self.now.insert(place, None);
    }

    /// A name goes.
    pub(super) fn went(&mut self, place: Place) {
        self.now.insert(place, None);
    }

    /// A name comes.
    pub(super) fn came(&mut self, place: Place, node: NodeId) {
        self.now.insert(place, Some(node));
    }
}

/// The names of a node that had no handle so far are those of the one that has.
fn give(world: &mut World, from: NodeId, to: NodeId) {
    world.needs(to);
    for (_, _, node) in &mut world.names {
        if *node == from {
            *node = to;
        }
    }
    world.nodes[from].exists = false;
}
