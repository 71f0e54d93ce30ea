//! The Linux kernel's client with Kerberos (RPCSEC_GSS): the caller is proved, not claimed.

use std::time::Duration;

use super::kernel_client::{BASE, guest};
use crate::scenario::Scenario;

const MIB: u64 = 1 << 20;
/// Twelve files of 1 GiB go there and back, in a guest that encrypts by one CPU. With one flavor, they are half as many.
const LIMIT: Duration = Duration::from_secs(10_800);

const KRB5: Scenario = Scenario {
    name: "krb5",
    about: "3, 4.1 and 4.2 with krb5, krb5i and krb5p: two users and root, a stranger, `sec=sys` refused, `nconnect=8`, a server killed",
    peer: guest("krb5.sh", ""),
    sizes: &[("SIZE", 1024 * MIB, 8 * MIB), ("ALL", 1, 0), ("FLAVOR", 0, 0)],
    limit: LIMIT,
    privileged: true,
    ..BASE
};

pub const SCENARIOS: &[Scenario] = &[
    KRB5,
    Scenario { name: "krb5-newer", about: "the same with a later kernel", newer_guest: true, ..KRB5 },
];
