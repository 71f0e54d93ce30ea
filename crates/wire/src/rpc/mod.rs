//! ONC RPC version 2 (RFC 5531): calls, replies, credentials, RPCSEC_GSS, and record marking on streams.

mod auth;
mod call;
mod gss;
mod record;
mod reply;
mod starttls;

pub use auth::{AuthFlavor, AuthStatus, AuthSys, Credentials, TlsProbe};
pub use call::{Call, CallHeader, RPC_VERSION};
pub use gss::{
    GSS_VERSION, GssCredential, GssInit, GssInitResult, GssProcedure, GssService, GssVerifier,
    INTEGRITY_HEAD, REPLY_MIC_AT, SealedBody, SignedBody, SignedCall, SignedReply,
};
pub use record::{LAST_FRAGMENT, RecordMark};
pub use reply::{Accepted, Denied, ReplyHeader};
pub use starttls::TlsAnswer;
