//! ONC RPC version 2 (RFC 5531): calls, replies, credentials, RPCSEC_GSS, and record marking on streams.

mod auth;
mod call;
mod flavor;
mod gss;
mod gss_credential;
mod gss_verifier;
mod record;
mod reply;
mod starttls;

pub use auth::{AuthStatus, AuthSys, Credentials, TlsProbe};
pub use call::{Call, CallHeader, RPC_VERSION};
pub use flavor::AuthFlavor;
pub use gss::{
    GssInit, GssInitResult, INTEGRITY_HEAD, REPLY_MIC_AT, SealedBody, SignedBody, SignedCall, SignedReply,
};
pub use gss_credential::{GSS_VERSION, GssCredential, GssProcedure, GssService};
pub use gss_verifier::GssVerifier;
pub use record::{LAST_FRAGMENT, RecordMark};
pub use reply::{Accepted, Denied, ReplyHeader};
pub use starttls::TlsAnswer;
