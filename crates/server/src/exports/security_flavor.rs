//! Security flavors: how a call proves its sender. A rule lists the flavors that it takes, in the order of preference.

use std::fmt;
use std::str::FromStr;

use howdah_wire::rpc::{AuthFlavor, Credentials, GssService};

/// How a call proves who sent it. What mounts name by `sec=`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SecurityFlavor {
    /// It does not: the client says which user calls (AUTH_SYS), or says nothing (AUTH_NONE).
    Sys,
    /// Kerberos; only headers are signed.
    Krb5,
    /// Kerberos; arguments and results are signed.
    Krb5i,
    /// Kerberos; arguments and results are encrypted.
    Krb5p,
}

impl SecurityFlavor {
    /// All of them, the weakest first.
    pub const ALL: [Self; 4] = [Self::Sys, Self::Krb5, Self::Krb5i, Self::Krb5p];

    /// The name in settings and in options of mounts.
    pub fn name(self) -> &'static str {
        match self {
            Self::Sys => "sys",
            Self::Krb5 => "krb5",
            Self::Krb5i => "krb5i",
            Self::Krb5p => "krb5p",
        }
    }

    /// The number that stands for it in the list of MNT (RFC 2623 2.7, RFC 5531 8.2).
    pub fn number(self) -> AuthFlavor {
        match self {
            Self::Sys => AuthFlavor::SYS,
            Self::Krb5 => AuthFlavor(390_003),
            Self::Krb5i => AuthFlavor(390_004),
            Self::Krb5p => AuthFlavor(390_005),
        }
    }

    /// The service of RPCSEC_GSS that it is; `None`: it is not of Kerberos.
    pub fn service(self) -> Option<GssService> {
        match self {
            Self::Sys => None,
            Self::Krb5 => Some(GssService::None),
            Self::Krb5i => Some(GssService::Integrity),
            Self::Krb5p => Some(GssService::Privacy),
        }
    }

    /// Whether the caller has proved to be a principal.
    pub fn is_kerberos(self) -> bool {
        self != Self::Sys
    }

    /// That of a call with these credentials. Those of flavors that nobody takes count as the weakest.
    pub fn of(credentials: &Credentials<'_>) -> Self {
        match credentials {
            Credentials::Gss(credential) => Self::of_service(credential.service),
            _ => Self::Sys,
        }
    }

    /// That of a call of RPCSEC_GSS.
    pub fn of_service(service: GssService) -> Self {
        match service {
            GssService::None => Self::Krb5,
            GssService::Integrity => Self::Krb5i,
            GssService::Privacy => Self::Krb5p,
        }
    }
}

impl FromStr for SecurityFlavor {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|flavor| flavor.name() == text);
        found.ok_or_else(|| "expected sys, krb5, krb5i or krb5p".to_owned())
    }
}

impl fmt::Display for SecurityFlavor {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

/// Flavors that a rule takes, in the order of the configuration, each once. There is at least one.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct SecurityFlavors {
    list: [SecurityFlavor; SecurityFlavor::ALL.len()],
    count: u8,
}

impl SecurityFlavors {
    /// AUTH_SYS alone.
    pub const SYS: Self = Self { list: [SecurityFlavor::Sys; SecurityFlavor::ALL.len()], count: 1 };

    /// These; what comes twice counts where it comes first. `None`: there are none.
    pub fn new(flavors: impl IntoIterator<Item = SecurityFlavor>) -> Option<Self> {
        let mut made = Self { count: 0, ..Self::SYS };
        for flavor in flavors {
            made.add(flavor);
        }
        (made.count > 0).then_some(made)
    }

    /// Appends one, unless it is there.
    pub fn add(&mut self, flavor: SecurityFlavor) {
        if !self.contains(flavor) {
            self.list[usize::from(self.count)] = flavor;
            self.count += 1;
        }
    }

    /// Them, in order.
    pub fn as_slice(&self) -> &[SecurityFlavor] {
        &self.list[..usize::from(self.count)]
    }

    /// Whether this is one of them.
    pub fn contains(&self, flavor: SecurityFlavor) -> bool {
        self.as_slice().contains(&flavor)
    }

    /// Whether any of them is of Kerberos.
    pub fn has_kerberos(&self) -> bool {
        self.as_slice().iter().any(|flavor| flavor.is_kerberos())
    }
}

impl Default for SecurityFlavors {
    /// AUTH_SYS alone.
    fn default() -> Self {
        Self::SYS
    }
}

impl fmt::Debug for SecurityFlavors {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_slice().fmt(formatter)
    }
}

impl fmt::Display for SecurityFlavors {
    /// As `exports(5)` has it: `sys:krb5`.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.as_slice().iter().map(|flavor| flavor.name()).collect();
        formatter.write_str(&names.join(":"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flavors_are_read_as_they_are_written() {
        for flavor in SecurityFlavor::ALL {
            assert_eq!(flavor.to_string().parse(), Ok(flavor));
            assert_eq!(flavor.service().map_or(SecurityFlavor::Sys, SecurityFlavor::of_service), flavor);
        }
        for wrong in ["", "none", "KRB5", "krb5x", "sys "] {
            assert!(wrong.parse::<SecurityFlavor>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_list_keeps_its_order_and_has_each_flavor_once() {
        use SecurityFlavor::{Krb5, Krb5i, Krb5p, Sys};
        let list = SecurityFlavors::new([Krb5p, Sys, Krb5p, Krb5, Sys, Krb5i]).expect("some");
        assert_eq!(list.as_slice(), [Krb5p, Sys, Krb5, Krb5i]);
        assert_eq!(list.to_string(), "krb5p:sys:krb5:krb5i");
        assert_eq!(SecurityFlavors::new([]), None);
        assert_eq!(SecurityFlavors::default().as_slice(), [Sys]);
        assert!(!SecurityFlavors::SYS.has_kerberos() && list.has_kerberos());
        // What was never added is not there.
        assert!(!SecurityFlavors::new([Krb5]).expect("one").contains(Sys));
    }
}
