//! The contexts of a channel: one for each user.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Weak};
use std::thread;
use std::time::{Duration, Instant};

use parking_lot::{Mutex, MutexGuard};

use super::context::{ClientContext, ContextAge};
use super::establish::establish;
use super::plan::ContextPlan;
use super::protected_call::ProtectedCall;
use crate::channel::{CallError, CallProtection, Channel, KerberosError};

/// A user gets at most one new context in this time, since an attacker on the path can forge denials.
const PAUSE: Duration = Duration::from_secs(1);
/// So long after a renewal failed, the next one is tried.
const RENEWAL_PAUSE: Duration = Duration::from_secs(60);
/// So many users are remembered; beyond them, one without a context is forgotten, or else any.
const USERS_MAX: usize = 4096;

/// Contexts of users with one server. All lanes of a channel share them.
pub struct UserContexts {
    channel: Weak<Channel>,
    plan: ContextPlan,
    users: Mutex<HashMap<u32, Arc<User>>>,
}

/// One user.
#[derive(Debug, Default)]
struct User(Mutex<UserState>);

#[derive(Debug, Default)]
struct UserState {
    context: Option<Arc<ClientContext>>,
    /// When a context was last made, or was to be, and why it was not.
    tried: Option<Instant>,
    failure: Option<KerberosError>,
    is_renewing: bool,
    renewal_failed: Option<Instant>,
}

impl UserState {
    /// Whether a renewal may start now. A short ticket is due soon after its context was made.
    fn may_renew(&self) -> bool {
        let rests = |since: Option<Instant>, pause| since.is_some_and(|since| since.elapsed() < pause);
        !self.is_renewing && !rests(self.tried, PAUSE) && !rests(self.renewal_failed, RENEWAL_PAUSE)
    }
}

impl UserContexts {
    /// None yet.
    pub fn new(channel: &Arc<Channel>, plan: ContextPlan) -> Self {
        Self { channel: Arc::downgrade(channel), plan, users: Mutex::default() }
    }

    /// Makes a context of this user unless there is one. May wait for a KDC and for the server.
    ///
    /// # Errors
    /// There is no ticket, or the server does not accept it.
    pub fn prepare(self: &Arc<Self>, user: u32) -> Result<(), KerberosError> {
        self.context(user).map(drop)
    }

    /// What protects a call of this user. Waits while there is no context.
    pub(crate) fn protection(self: &Arc<Self>, user: u32) -> Result<Arc<dyn CallProtection>, CallError> {
        let context = self.context(user).map_err(|error| CallError::Kerberos(Arc::new(error)))?;
        Ok(Arc::new(ProtectedCall::new(context, self.plan.service)))
    }

    fn context(self: &Arc<Self>, user: u32) -> Result<Arc<ClientContext>, KerberosError> {
        let id = self.plan.user.unwrap_or(user);
        let user = self.user(id);
        // Who finds no context makes one; others of this user wait here.
        let mut state = user.0.lock();
        if let Some(context) = state.context.clone() {
            match context.age() {
                ContextAge::Fresh => return Ok(context),
                ContextAge::RenewalDue => {
                    self.renew(id, &user, &mut state);
                    return Ok(context);
                }
                ContextAge::Over => {}
            }
        }
        self.make(id, &mut state)
    }

    /// Makes a context, unless that was tried a moment ago.
    fn make(
        &self,
        id: u32,
        state: &mut MutexGuard<'_, UserState>,
    ) -> Result<Arc<ClientContext>, KerberosError> {
        let since = state.tried.map_or(PAUSE, |tried| tried.elapsed());
        if since < PAUSE {
            if let Some(failure) = &state.failure {
                return Err(failure.clone());
            }
            thread::sleep(PAUSE - since);
        }
        let made = match (self.establish(id), state.context.take()) {
            // In the second in which a ticket ends, the cache still gives it to the client, and it ends while it is used. The next request
            // has another one.
            (Err(KerberosError::Refused { .. } | KerberosError::NotGenuine), Some(_)) => {
                thread::sleep(PAUSE);
                self.establish(id)
            }
            (made, _) => made,
        };
        self.note(id, made, state)
    }

    /// Has another context made meanwhile.
    fn renew(self: &Arc<Self>, id: u32, user: &Arc<User>, state: &mut MutexGuard<'_, UserState>) {
        if !state.may_renew() {
            return;
        }
        let (its, user) = (Arc::clone(self), Arc::clone(user));
        let renew = move || {
            let made = its.establish(id);
            let mut state = user.0.lock();
            state.is_renewing = false;
            state.renewal_failed = made.is_err().then(Instant::now);
            let _ = its.note(id, made, &mut state);
        };
        match thread::Builder::new().name("kerberos".to_owned()).spawn(renew) {
            Ok(_) => state.is_renewing = true,
            Err(error) => tracing::warn!(%error, "starting a thread that renews a Kerberos context"),
        }
    }

    fn establish(&self, id: u32) -> Result<Arc<ClientContext>, KerberosError> {
        let (context, window) = establish(&self.channel, &self.plan, id)?;
        if let Some(channel) = self.channel.upgrade() {
            // Calls overtake each other on their way; those further behind than the window are dropped.
            channel.limit_calls((window - window / 4) as usize);
        }
        Ok(Arc::new(context))
    }

    /// Keeps what was made. A person learns once why nothing was.
    fn note(
        &self,
        id: u32,
        made: Result<Arc<ClientContext>, KerberosError>,
        state: &mut MutexGuard<'_, UserState>,
    ) -> Result<Arc<ClientContext>, KerberosError> {
        state.tried = Some(Instant::now());
        match &made {
            Ok(context) => {
                if state.failure.take().is_some() {
                    tracing::info!(user = id, "there is a Kerberos context again");
                }
                state.context = Some(Arc::clone(context));
            }
            Err(error) => {
                if state.failure.as_ref() != Some(error) {
                    tracing::warn!(user = id, server = self.plan.target, "no Kerberos context: {error}");
                }
                state.failure = Some(error.clone());
            }
        }
        made
    }

    fn user(&self, id: u32) -> Arc<User> {
        let mut users = self.users.lock();
        if users.len() >= USERS_MAX && !users.contains_key(&id) {
            let has_none = |user: &User| user.0.try_lock().is_some_and(|state| state.context.is_none());
            let idle = users.iter().find(|(_, user)| has_none(user)).or(users.iter().next());
            let idle = idle.map(|(&idle, _)| idle);
            idle.map(|idle| users.remove(&idle));
        }
        Arc::clone(users.entry(id).or_default())
    }
}

impl fmt::Debug for UserContexts {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("UserContexts").field("plan", &self.plan).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_renewal_waits_a_second_after_the_last_context_and_a_minute_after_a_failure() {
        let ago = |pause: Duration| Instant::now().checked_sub(pause);
        let long_ago = ago(Duration::from_secs(2));
        let made_long_ago = || UserState { tried: long_ago, ..UserState::default() };
        assert!(made_long_ago().may_renew());
        assert!(!UserState { tried: Some(Instant::now()), ..UserState::default() }.may_renew());
        assert!(!UserState { is_renewing: true, ..made_long_ago() }.may_renew());
        assert!(!UserState { renewal_failed: long_ago, ..made_long_ago() }.may_renew());
        assert!(UserState { renewal_failed: ago(RENEWAL_PAUSE), ..made_long_ago() }.may_renew());
    }
}
