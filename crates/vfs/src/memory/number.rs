//! What a node is called inside.

/// Numbers a node, from 1 up; never used twice, so that an old handle cannot name a new node.
pub(super) type Number = u64;
