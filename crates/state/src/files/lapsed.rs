//! Clients whose lease has passed, in the way of others.

use crate::ids::ClientId;

/// Whether a client's lease has passed, so that its state ends when somebody else wants it.
pub type Lapsed<'l> = &'l dyn Fn(ClientId) -> bool;

/// Who of those in the way has to go first, if each may; else the first who may not.
pub fn in_the_way<T>(
    those: impl Iterator<Item = T>,
    client: impl Fn(&T) -> Option<ClientId>,
    lapsed: Lapsed<'_>,
) -> Result<Vec<ClientId>, T> {
    let mut first = Vec::new();
    for one in those {
        match client(&one).filter(|client| lapsed(*client)) {
            Some(client) if first.contains(&client) => {}
            Some(client) => first.push(client),
            None => return Err(one),
        }
    }
    Ok(first)
}
