//! What a call changed: the attributes of a node before and after (weak cache consistency, RFC 1813 2.6 `wcc_data`).

use crate::{Attributes, Timestamp};

/// What a client compares its cache with: the node before the call (`wcc_attr`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Before {
    /// Its change attribute.
    pub change: u64,
    /// Size in bytes.
    pub size: u64,
    /// Last change of the data.
    pub modified: Timestamp,
    /// Last change of the attributes or the data.
    pub changed: Timestamp,
}

impl From<&Attributes> for Before {
    fn from(attributes: &Attributes) -> Self {
        let Attributes { change, size, modified, changed, .. } = *attributes;
        Self { change, size, modified, changed }
    }
}

/// What SETATTR asks of its node first: that nobody changed it since it was looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Guard {
    /// The change attribute that it had, if the caller knows that: it decides then.
    pub change: Option<u64>,
    /// When it had changed last.
    pub changed: Timestamp,
}

impl Guard {
    /// Whether the node still is as it was.
    pub fn holds(&self, now: &Attributes) -> bool {
        self.change.map_or(self.changed == now.changed, |change| change == now.change)
    }
}

impl From<&Attributes> for Guard {
    fn from(seen: &Attributes) -> Self {
        Self { change: Some(seen.change), changed: seen.changed }
    }
}

/// All that NFSv3 has (RFC 1813 3.3.2, `sattrguard3`).
impl From<Timestamp> for Guard {
    fn from(changed: Timestamp) -> Self {
        Self { change: None, changed }
    }
}

/// The node that a call changes, before and after. A file system fills in what it knows, and does so on refusal too: a client
/// gets the state of its cache whether or not the call succeeded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Change {
    /// Before the call.
    pub before: Option<Before>,
    /// After the call.
    pub after: Option<Attributes>,
}

impl Change {
    /// Nothing changed: one look at the node, if it could be had, gives both.
    pub fn none(attributes: Option<Attributes>) -> Self {
        Self { before: attributes.as_ref().map(Before::from), after: attributes }
    }
}
