//! Who a call says it is from, and who it acts as after an export's squashing.

use std::sync::Arc;

use howdah_vfs::{Caller, GroupList};
use howdah_wire::rpc::{AuthStatus, Credentials};

use super::{Anonymous, ClientRule, KerberosPrincipal, KnownUser, SecurityFlavor, Squash, UserAccount};

/// The superuser's user id, and the group id of its group.
const ROOT: u32 = 0;
/// The id that means "none" to a kernel. As a user id it would make setting the identity of a thread do nothing, and leave the
/// identity of the caller before.
const NO_ID: u32 = u32::MAX;

/// Who a call says it is from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Identity {
    /// It does not say (AUTH_NONE).
    Unknown,
    /// This user (AUTH_SYS).
    User(Caller),
    /// This principal (RPCSEC_GSS), which proved it.
    Principal(PrincipalIdentity),
}

/// A principal that calls.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PrincipalIdentity {
    /// Its name, with its realm.
    pub name: Arc<str>,
    /// How its call is protected.
    pub flavor: SecurityFlavor,
    /// Which user it is, looked up for this call. Nobody: a machine, a stranger, or root where no line of the table says so.
    pub user: KnownUser,
}

impl Identity {
    /// The identity in a call's credentials, and of the principal that its context is of; flavors we do not take are refused as
    /// too weak. A principal is looked up by `look_up`.
    pub(super) fn of(
        credentials: &Credentials<'_>,
        principal: Option<&KerberosPrincipal>,
        look_up: impl FnOnce(&KerberosPrincipal) -> KnownUser,
    ) -> Result<Self, AuthStatus> {
        match credentials {
            Credentials::None => Ok(Self::Unknown),
            Credentials::Sys(sys) => Ok(Self::User(Caller {
                user: sys.user,
                group: sys.group,
                groups: GroupList::new(sys.groups().iter().copied()),
            })),
            Credentials::Gss(credential) => {
                let principal = principal.ok_or(AuthStatus::BadCredentials)?;
                Ok(Self::Principal(PrincipalIdentity {
                    name: Arc::clone(principal.name()),
                    flavor: SecurityFlavor::of_service(credential.service),
                    user: look_up(principal),
                }))
            }
            Credentials::Tls(_) | Credentials::Other(_) => Err(AuthStatus::TooWeak),
            Credentials::Malformed(_) => Err(AuthStatus::BadCredentials),
        }
    }

    /// How the call proves who sent it.
    pub fn flavor(&self) -> SecurityFlavor {
        match self {
            Self::Unknown | Self::User(_) => SecurityFlavor::Sys,
            Self::Principal(principal) => principal.flavor,
        }
    }

    /// The user that it says, or proves, that it is; before squashing.
    pub(super) fn claimed(&self) -> Option<Caller> {
        match self {
            Self::User(caller) => Some(caller.clone()),
            Self::Principal(PrincipalIdentity {
                user: KnownUser::Account(UserAccount { user, group, groups }),
                ..
            }) => Some(Caller { user: *user, group: *group, groups: groups.clone() }),
            Self::Unknown | Self::Principal(_) => None,
        }
    }

    /// Whether it cannot be found out now who it is: the user database does not answer.
    pub(super) fn is_unavailable(&self) -> bool {
        matches!(self, Self::Principal(PrincipalIdentity { user: KnownUser::Unavailable, .. }))
    }

    /// Who it acts as under a rule. `holder`: the user that the client's certificate names, where the rule asks for that.
    pub fn under(&self, rule: &ClientRule, holder: Option<UserAccount>) -> Caller {
        let Anonymous { user, group } = rule.anonymous;
        if rule.squash == Squash::Certificate {
            let holder = holder.filter(|holder| ![ROOT, NO_ID].contains(&holder.user));
            return holder.map_or(Caller::new(user, group), |UserAccount { user, group, groups }| Caller {
                user,
                group,
                groups,
            });
        }
        let (own, own_group, groups) = match self {
            Self::User(Caller { user, group, groups })
            | Self::Principal(PrincipalIdentity {
                user: KnownUser::Account(UserAccount { user, group, groups }),
                ..
            }) if rule.squash != Squash::All => (*user, *group, groups),
            _ => return Caller::new(user, group),
        };
        let squashed = |id: u32| id == NO_ID || (id == ROOT && rule.squash == Squash::Root);
        let group_of = |id: u32| if squashed(id) { group } else { id };
        Caller {
            user: if squashed(own) { user } else { own },
            group: group_of(own_group),
            groups: GroupList::new(groups.as_slice().iter().map(|&id| group_of(id))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn user(user: u32, group: u32, groups: &[u32]) -> Identity {
        Identity::User(caller(user, group, groups))
    }

    fn caller(user: u32, group: u32, groups: &[u32]) -> Caller {
        Caller { user, group, groups: GroupList::new(groups.iter().copied()) }
    }

    fn principal(user: Option<u32>) -> Identity {
        let account = |user| UserAccount { user, group: 20, groups: GroupList::new([20, 0]) };
        let user = user.map_or(KnownUser::Nobody, |user| KnownUser::Account(account(user)));
        Identity::Principal(PrincipalIdentity { name: "alice@R".into(), flavor: SecurityFlavor::Krb5, user })
    }

    #[test]
    fn squashing() {
        let nobody = caller(99, 98, &[]);
        for (squash, identity, expected) in [
            (Squash::None, user(0, 0, &[0, 5]), caller(0, 0, &[0, 5])),
            (Squash::None, user(7, 8, &[9]), caller(7, 8, &[9])),
            (Squash::None, Identity::Unknown, nobody.clone()),
            (Squash::None, user(NO_ID, NO_ID, &[NO_ID]), caller(99, 98, &[98])),
            (Squash::Root, user(0, 0, &[0, 5]), caller(99, 98, &[98, 5])),
            (Squash::Root, user(0, 4, &[]), caller(99, 4, &[])),
            (Squash::Root, user(7, 0, &[]), caller(7, 98, &[])),
            (Squash::Root, user(7, 8, &[9]), caller(7, 8, &[9])),
            (Squash::Root, Identity::Unknown, nobody.clone()),
            (Squash::All, user(7, 8, &[9]), nobody.clone()),
            (Squash::All, user(0, 0, &[]), nobody.clone()),
            (Squash::All, Identity::Unknown, nobody.clone()),
            (Squash::None, principal(Some(0)), caller(0, 20, &[20, 0])),
            (Squash::Root, principal(Some(0)), caller(99, 20, &[20, 98])),
            (Squash::Root, principal(Some(7)), caller(7, 20, &[20, 98])),
            (Squash::None, principal(Some(NO_ID)), caller(99, 20, &[20, 0])),
            (Squash::None, principal(None), nobody.clone()),
            (Squash::All, principal(Some(7)), nobody),
        ] {
            let anonymous = Anonymous { user: 99, group: 98 };
            let rule = ClientRule { squash, anonymous, ..ClientRule::default() };
            assert_eq!(identity.under(&rule, None), expected, "{identity:?} under {squash:?}");
        }
    }

    #[test]
    fn a_certificate_says_who_calls_whatever_the_call_says() {
        let anonymous = Anonymous { user: 99, group: 98 };
        let rule = ClientRule { squash: Squash::Certificate, anonymous, ..ClientRule::default() };
        let account = |user| UserAccount { user, group: 20, groups: GroupList::new([20, 30]) };
        for identity in [Identity::Unknown, user(0, 0, &[]), user(7, 8, &[9]), principal(Some(7))] {
            assert_eq!(identity.under(&rule, Some(account(10))), caller(10, 20, &[20, 30]));
            for nobody in [None, Some(account(ROOT)), Some(account(NO_ID))] {
                assert_eq!(identity.under(&rule, nobody), caller(99, 98, &[]));
            }
        }
    }
}
