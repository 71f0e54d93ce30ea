//! The user in a certificate: an otherName of the kind that FreeBSD's `rpc.tlsservd` reads.

use std::sync::Arc;

use rcgen::{OtherNameValue, SanType};
use x509_parser::asn1_rs::{Any, FromDer, TaggedExplicit, Utf8String, oid};
use x509_parser::extensions::GeneralName;

/// What marks such a name (1.3.6.1.4.1.2238.1.1.1).
const USER: [u64; 10] = [1, 3, 6, 1, 4, 1, 2238, 1, 1, 1];
/// The longest that is taken, in bytes.
const USER_MAX: usize = 256;

/// The user that a name of a certificate stands for, as in `user@domain`; `None`: it stands for something else.
pub(crate) fn user_name(name: &GeneralName<'_>) -> Option<Arc<str>> {
    let GeneralName::OtherName(kind, value) = name else { return None };
    if *kind != oid!(1.3.6.1.4.1.2238.1.1.1) {
        return None;
    }
    let (_, value) = TaggedExplicit::<Any<'_>, x509_parser::asn1_rs::Error, 0>::from_der(value).ok()?;
    let text = Utf8String::try_from(value.into_inner()).ok()?.string();
    let is_name = (1..=USER_MAX).contains(&text.len()) && !text.contains(char::is_control);
    is_name.then(|| text.into())
}

/// The same name for a certificate that is made.
pub(crate) fn of_user(user: &str) -> SanType {
    SanType::OtherName((USER.to_vec(), OtherNameValue::Utf8String(user.to_owned())))
}
