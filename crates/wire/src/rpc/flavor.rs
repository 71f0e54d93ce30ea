//! The numbers of authentication flavors (RFC 5531 8.2, `auth_flavor`).

/// What kind of credentials or verifier (`auth_flavor`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct AuthFlavor(pub u32);

impl AuthFlavor {
    /// No identity.
    pub const NONE: Self = Self(0);
    /// User and group ids, taken on trust.
    pub const SYS: Self = Self(1);
    /// A short-hand for AUTH_SYS, which we never give out.
    pub const SHORT: Self = Self(2);
    /// RPCSEC_GSS.
    pub const GSS: Self = Self(6);
    /// TLS probe (RFC 9289).
    pub const TLS: Self = Self(7);
    /// In lists of flavors: RPCSEC_GSS with Kerberos 5, headers signed (RFC 2623 2.7).
    pub const KRB5: Self = Self(390_003);
    /// The same, arguments and results signed.
    pub const KRB5I: Self = Self(390_004);
    /// The same, arguments and results encrypted.
    pub const KRB5P: Self = Self(390_005);
}
