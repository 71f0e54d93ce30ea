//! Names and ids of the exports that were read, so that none stands twice.

use std::collections::{BTreeMap, BTreeSet};

use super::ExportName;

/// What may stand only once in a file, with the name of the export where it stood first.
#[derive(Default)]
pub struct KnownExports {
    names: BTreeSet<ExportName>,
    ids: BTreeMap<u32, ExportName>,
}

impl KnownExports {
    /// Whether this name is new.
    pub fn name(&mut self, name: &ExportName) -> bool {
        self.names.insert(name.clone())
    }

    /// Takes an id for an export; says whose it already is.
    pub fn id(&mut self, id: u32, name: &ExportName) -> Option<ExportName> {
        match self.ids.get(&id) {
            Some(first) => Some(first.clone()),
            None => {
                self.ids.insert(id, name.clone());
                None
            }
        }
    }
}
