//! How lock owners are named to the server, and found again when it calls.

/// The name of a lock owner.
pub(super) fn lock_owner(number: u64) -> String {
    format!("lock:{number:016x}")
}

/// The number of a lock owner of such a name.
pub(super) fn lock_owner_number(name: &[u8]) -> Option<u64> {
    let number = std::str::from_utf8(name).ok()?.strip_prefix("lock:")?;
    u64::from_str_radix(number, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_owner_is_found_by_its_name_and_no_other_is() {
        for number in [0, 7, u64::MAX] {
            assert_eq!(lock_owner_number(lock_owner(number).as_bytes()), Some(number));
        }
        for name in [&b""[..], b"lock:", b"7", b"lock:x", b"lock:10000000000000000", b"\xff"] {
            assert_eq!(lock_owner_number(name), None);
        }
    }
}
