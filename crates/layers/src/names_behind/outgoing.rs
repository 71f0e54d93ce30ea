//! What a journal is to keep of the log: records of changes, and which of them are not needed any more.

use std::collections::HashMap;

use super::change::RefusedLater;
use super::order::{ChangeNumber, NodeNumber};
use super::record::ChangeRecord;

/// What was not handed to the journal yet.
#[derive(Debug, Default)]
pub struct OutgoingRecords {
    pub records: Vec<(ChangeNumber, ChangeRecord)>,
    /// Changes that the server has: their records are needless.
    pub finished: Vec<ChangeNumber>,
    /// Changes that the server refused: needless as well, once they are kept elsewhere.
    pub refused: Vec<(ChangeNumber, RefusedLater)>,
    /// The journal takes no more records; it still hears which changes are finished.
    pub is_closed: bool,
    /// Nodes that are safe, and the changes that made them: other changes know a node by the records of those.
    pub(super) kept: HashMap<NodeNumber, ChangeNumber>,
}
