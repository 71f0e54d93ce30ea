//! What a protocol above adds to the calls of a channel. NFSv3 adds nothing.

use std::sync::Arc;

use howdah_rpc::client::envelope::CallSession;

use super::connecting::ConnectStep;

/// Answers a call of the server, given from its xid on, by a whole reply; none: it is not answered. Runs on the thread that receives,
/// and must not wait.
pub type AnswerCall = Arc<dyn Fn(&[u8]) -> Option<Vec<u8>> + Send + Sync>;

/// What is done around calls, beside sending them.
#[derive(Default)]
pub struct ChannelProtocol {
    /// The tickets that calls hold while they are under way.
    pub session: Option<Box<dyn CallSession>>,
    /// Learns that the session has something to do for its owner, who then looks at it by [`Channel::with_session`](super::Channel).
    /// Runs on any thread of the channel, and must not wait.
    pub attend_session: Option<Arc<dyn Fn() + Send + Sync>>,
    /// What is done on each connection before calls go over it, in order; after TLS, where that is wanted.
    pub steps: Vec<Arc<dyn ConnectStep>>,
    /// Answers calls of the server. Without it, a connection on which one comes is of no use.
    pub answer_call: Option<AnswerCall>,
    /// Learns that a connection is gone over which the server was invited to call
    /// ([`Request::invites_calls`](super::Request::invites_calls)). Runs on a thread of the channel, and must not wait.
    pub on_calls_cut: Option<Arc<dyn Fn() + Send + Sync>>,
}

impl ChannelProtocol {
    /// Whether it adds nothing.
    pub(super) fn is_empty(&self) -> bool {
        self.session.is_none() && self.steps.is_empty() && self.answer_call.is_none()
    }
}
