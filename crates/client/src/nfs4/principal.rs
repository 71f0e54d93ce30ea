//! Users and groups as NFSv4 names them: numbers in decimal, or names with a domain (RFC 8881 5.9).

use howdah_wire::nfs4::attributes::Principal;

/// The number for a name that this host does not know.
pub(super) const NOBODY: u32 = 65_534;

/// A user or group by its number in decimal.
pub(super) struct Decimal(String);

impl Decimal {
    /// Of a number.
    pub(super) fn of(number: u32) -> Self {
        Self(number.to_string())
    }

    /// As it goes into a message.
    pub(super) fn as_wire(&self) -> Principal<'_> {
        Principal(self.0.as_bytes())
    }
}

/// The number that a name stands for: digits, with a domain or without, and the superuser's names.
pub(super) fn id(name: Principal<'_>) -> u32 {
    let text = std::str::from_utf8(name.0).unwrap_or_default();
    let user = text.split('@').next().unwrap_or_default();
    match user {
        "root" | "wheel" => 0,
        _ => user.parse().unwrap_or(NOBODY),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_numbers() {
        for (name, number) in [
            ("0", 0),
            ("1000", 1000),
            ("1000@example.org", 1000),
            ("root@localdomain", 0),
            ("nobody", NOBODY),
            ("", NOBODY),
            ("4294967296", NOBODY),
        ] {
            assert_eq!(id(Principal(name.as_bytes())), number, "{name}");
        }
    }
}
