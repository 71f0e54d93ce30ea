//! What a worker does: one request after the other, each within its time.

use std::io;
use std::os::fd::AsFd;
use std::time::Duration;

use howdah_gss::InitialToken;

use crate::error::GssFailure;
use crate::library::{Credential, Library, SecurityContext, limit_time};
use crate::message::{Reply, Request, TOKEN_MAX};
use crate::socket::{next_message, send_message};

/// The service that tickets are accepted for, on any host that the keytab names (RFC 2203, RFC 8881 2.2.1.1).
const SERVICE: &str = "nfs";
/// Time for a token: reading the keytab, and a replay cache that others lock.
pub(crate) const ACCEPT_TIME: Duration = Duration::from_secs(10);
/// Time for a ticket: several KDCs may be asked, each several times.
pub(crate) const INITIATE_TIME: Duration = Duration::from_secs(30);

/// `GSS_S_BAD_MECH` (RFC 2744 3.9.1).
const BAD_MECHANISM: u32 = 1 << 16;
/// `GSS_S_FAILURE`.
const FAILURE: u32 = 13 << 16;
/// `GSS_S_NO_CONTEXT`.
const NO_CONTEXT: u32 = 8 << 16;

/// The state between requests.
struct Worker<'l> {
    library: &'l Library,
    /// The keys that are accepted with. Acquired with the first token, and again after one that failed.
    credential: Option<Credential<'l>>,
    /// The context that was begun and is not finished.
    begun: Option<SecurityContext<'l>>,
}

/// Answers requests until the other end of the socket is closed.
pub(crate) fn work(socket: &impl AsFd, library: Result<&Library, &String>) -> io::Result<()> {
    let mut worker = library.map(|library| Worker { library, credential: None, begun: None });
    while let Some(message) = next_message(socket)? {
        // What cannot be read has no number, and no answer: the one who asks gives up in time.
        let Some((number, request)) = Request::decode(&message) else { continue };
        let reply = match &mut worker {
            Ok(worker) => {
                limit_time(Some(time_of(&request)));
                let reply = worker.answer(&request);
                limit_time(None);
                reply
            }
            Err(why) => Reply::NoLibrary((*why).clone()),
        };
        send_message(socket, &reply.encode(number))?;
    }
    Ok(())
}

/// How long a request may take. A worker that takes longer is ended by a signal, and another one started.
pub(crate) fn time_of(request: &Request<'_>) -> Duration {
    match request {
        Request::Initiate { .. } => INITIATE_TIME,
        _ => ACCEPT_TIME,
    }
}

impl<'l> Worker<'l> {
    fn answer(&mut self, request: &Request<'_>) -> Reply {
        match request {
            Request::Hello => Reply::Ready,
            Request::Accept { token } => self.accept(token).unwrap_or_else(Reply::Failed),
            Request::Initiate { target } => self.initiate(target).unwrap_or_else(Reply::Failed),
            Request::Finish { token } => self.finish(token).unwrap_or_else(Reply::Failed),
        }
    }

    fn accept(&mut self, token: &[u8]) -> Result<Reply, GssFailure> {
        // The one who asks has looked already. The library would otherwise choose among all its mechanisms.
        if InitialToken::of(token) != InitialToken::Kerberos {
            let text = "the token is not of Kerberos 5".to_owned();
            return Err(GssFailure { major: BAD_MECHANISM, minor: 0, text });
        }
        // The library reads the keytab at each token, but refuses to begin while there is none.
        let credential = match self.credential.take() {
            Some(credential) => credential,
            None => self.library.acceptor(SERVICE)?,
        };
        let (context, reply) = self.library.accept(&credential, token)?;
        self.credential = Some(credential);
        established(context, reply)
    }

    fn initiate(&mut self, target: &str) -> Result<Reply, GssFailure> {
        self.begun = None;
        let (context, token) = self.library.initiate(target)?;
        let started = started(token)?;
        self.begun = Some(context);
        Ok(started)
    }

    fn finish(&mut self, token: &[u8]) -> Result<Reply, GssFailure> {
        let text = || "no context was begun".to_owned();
        let begun =
            self.begun.take().ok_or_else(|| GssFailure { major: NO_CONTEXT, minor: 0, text: text() })?;
        let (context, token) = begun.finish(token)?;
        established(context, token)
    }
}

fn started(token: Vec<u8>) -> Result<Reply, GssFailure> {
    if token.len() > TOKEN_MAX {
        let text = format!(
            "the request with the ticket has {} bytes, and may have {TOKEN_MAX}: its user may be in too many groups",
            token.len()
        );
        return Err(GssFailure { major: FAILURE, minor: 0, text });
    }
    Ok(Reply::Started { token })
}

fn established(context: SecurityContext<'_>, token: Vec<u8>) -> Result<Reply, GssFailure> {
    let (peer, own) = context.names()?;
    Ok(match context.export()? {
        Ok(lucid) => Reply::Established { token, peer, own, lucid: Box::new(lucid) },
        Err(error) => Reply::Unfit(error),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ticket_that_is_too_long_says_so() {
        assert!(
            matches!(started(vec![7; TOKEN_MAX]), Ok(Reply::Started { token }) if token.len() == TOKEN_MAX)
        );
        let refused = started(vec![7; TOKEN_MAX + 1]).expect_err("no message holds it");
        assert!(refused.text.contains("65537 bytes") && refused.text.contains("groups"), "{refused}");
    }
}
