//! Who calls about a client: how the state distinguishes callers. A certificate counts as much as a user's number: a caller in
//! the clear is never the holder of one.

use std::borrow::Cow;
use std::net::IpAddr;

use howdah_net::Peer;
use howdah_state::{ClientCaller, Principal};

use crate::exports::{Identity, PrincipalIdentity};
use crate::room::one_client;

/// What stands before the name of a client that showed a certificate; 32 bytes of its holder follow.
const CERTIFIED: &[u8] = b"\0certified ";
/// What stands before a name in the clear that begins as if it were one of those.
const PLAIN: &[u8] = b"\0plain ";

/// What stands before the name of a principal of Kerberos.
const GSS: &[u8] = b"gss:";

/// Who calls about a client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StateCaller {
    principal: Principal,
    network: IpAddr,
    /// The holder that its certificate names.
    holder: Option<[u8; 32]>,
}

impl StateCaller {
    /// Who sent a call.
    pub fn new(identity: &Identity, peer: &Peer) -> Self {
        let holder = peer.certificate.as_ref().map(|certificate| certificate.holder());
        let mut principal = match identity {
            Identity::Unknown => vec![0; 5],
            Identity::User(caller) => [&[1][..], &caller.user.to_be_bytes()].concat(),
            // By name: a client that lost its context comes back with another one.
            Identity::Principal(PrincipalIdentity { name, .. }) => [GSS, name.as_bytes(), &[0]].concat(),
        };
        principal.extend(holder.iter().flatten());
        let network = one_client(peer.ends.client.ip());
        Self { principal: Principal(principal.into()), network, holder }
    }

    /// As the state compares callers.
    pub fn as_client(&self) -> ClientCaller<'_> {
        ClientCaller { principal: &self.principal, network: self.network }
    }

    /// A client's name of itself, apart from the same name of callers with other certificates: nobody takes the name of the holder of a
    /// certificate, or keeps that one from using it.
    pub fn own_name<'a>(&self, name: &'a [u8]) -> Cow<'a, [u8]> {
        match self.holder {
            Some(holder) => Cow::Owned([CERTIFIED, &holder, name].concat()),
            None if name.first() == Some(&0) => Cow::Owned([PLAIN, name].concat()),
            None => Cow::Borrowed(name),
        }
    }
}

/// A client's name of itself, as it sent it, in what the state knows it by.
pub fn name_of_client(owner: &[u8]) -> &[u8] {
    let certified = owner.strip_prefix(CERTIFIED).and_then(|rest| rest.get(32..));
    certified.or_else(|| owner.strip_prefix(PLAIN)).unwrap_or(owner)
}

#[cfg(test)]
mod tests {
    use howdah_vfs::Caller;

    use super::*;
    use crate::Transport;
    use crate::calling::{certificate, peer, shows};
    use crate::exports::{KnownUser, SecurityFlavor};

    fn caller(certified: Option<&str>) -> StateCaller {
        let mut peer = peer("192.0.2.9:700", "192.0.2.1:2049", Transport::Tcp);
        if let Some(name) = certified {
            shows(&mut peer, Some(certificate(name, None)));
        }
        StateCaller::new(&Identity::User(Caller::ROOT), &peer)
    }

    #[test]
    fn no_two_callers_share_a_name() {
        let callers = [None, Some("a"), Some("b")].map(caller);
        // One sends as a name what another is known by.
        let forged = callers[1].own_name(b"host").into_owned();
        let names = [&b"host"[..], b"", b"\0", b"\0plain host", &forged];
        let mut known = Vec::new();
        for (caller, name) in callers.iter().flat_map(|caller| names.map(|name| (caller, name))) {
            let own = caller.own_name(name).into_owned();
            assert_eq!(name_of_client(&own), name);
            assert!(!known.contains(&own), "{own:?}");
            known.push(own);
        }
    }

    #[test]
    fn principals_are_told_apart_by_name_and_from_users() {
        let peer = peer("192.0.2.9:700", "192.0.2.1:2049", Transport::Tcp);
        let principal = |name: &str, flavor| {
            let user = KnownUser::Nobody;
            let identity = Identity::Principal(PrincipalIdentity { name: name.into(), flavor, user });
            StateCaller::new(&identity, &peer).principal
        };
        let machine = principal("host/a@R", SecurityFlavor::Krb5i);
        assert_eq!(machine, principal("host/a@R", SecurityFlavor::Krb5), "however its call is protected");
        assert!(machine.0.starts_with(b"gss:host/a@R"));
        let users = [Identity::Unknown, Identity::User(Caller::ROOT)];
        let users = users.map(|identity| StateCaller::new(&identity, &peer).principal);
        for other in [principal("host/b@R", SecurityFlavor::Krb5i)].iter().chain(&users) {
            assert_ne!(machine, *other);
        }
    }

    #[test]
    fn a_renewed_certificate_is_the_same_caller() {
        let mut renewed = certificate("a", None);
        (renewed.fingerprint.0[0], renewed.not_after) = (9, renewed.not_after + 1);
        assert_eq!(certificate("a", None).holder(), renewed.holder());
        let others = [certificate("b", None), certificate("a", Some("u@d"))];
        assert!(
            others.iter().all(|other| other.holder() != renewed.holder() && !other.has_holder_of(&renewed))
        );
    }
}
