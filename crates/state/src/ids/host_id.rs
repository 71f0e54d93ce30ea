//! A host that takes locks by NLM.

/// The number of a host that takes locks by NLM, for this run of the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct HostId(pub u32);
