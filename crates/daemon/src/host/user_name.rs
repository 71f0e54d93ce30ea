//! Names of users.

use nix::unistd::{Uid, User};

/// The name of a user, or his number if he has none.
pub fn user_name(id: u32) -> String {
    match User::from_uid(Uid::from_raw(id)) {
        Ok(Some(user)) => user.name,
        _ => id.to_string(),
    }
}
