//! How many connections there may be to one server.

/// The most lanes: beyond it nothing was ever gained, and servers bound the connections of one client.
pub const LANES_MAX: usize = 16;

/// How many connections there are to a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Lanes {
    /// One, and more while what limits is of each of them and more of them help.
    #[default]
    Auto,
    /// So many, 1 to [`LANES_MAX`].
    Fixed(usize),
}
