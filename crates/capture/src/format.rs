//! The lines of a capture's file: one [`Header`], a [`Call`] each, one [`End`]. `docs/protocols/capture.md` describes each
//! field.

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The version of the format: grows with what older readers would misunderstand.
pub const VERSION: u32 = 1;

/// The first line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Header {
    /// The version of the format.
    pub howdah_capture: u32,
    /// The howdah that captured.
    pub howdah: String,
    /// When it began: RFC 3339, UTC.
    pub started: String,
    /// How names are written.
    pub names: Names,
    /// It ended after so long at the latest.
    pub seconds_most: f64,
    /// It ended after so many calls at the latest.
    pub calls_most: u64,
    /// It ended when the file had so many bytes.
    pub bytes_most: u64,
}

/// The last line. Without it, the process that wrote the file was killed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct End {
    /// Why it ended.
    pub end: Why,
    /// How long it took.
    pub seconds: f64,
    /// Calls in the file.
    pub calls: u64,
    /// Calls that came while too many waited to be read out.
    pub dropped: u64,
    /// Calls that are no calls of NFS, or repetitions that were answered from memory, or make no sense.
    pub left_out: u64,
}

/// How names are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Names {
    /// As a keyed hash, whose key is forgotten with the capture: equal names have equal hashes.
    #[default]
    Hashed,
    /// As they are.
    Clear,
}

/// Why a capture ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Why {
    /// Its time was over.
    Time,
    /// It had its calls.
    Calls,
    /// Its file was full.
    Bytes,
    /// Somebody ended it.
    Asked,
    /// Nobody asked for its calls any more.
    Abandoned,
    /// The server ended.
    Server,
}

/// What a node is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// A symbolic link.
    Link,
    /// A device, socket or pipe.
    Special,
}

/// How durable a WRITE was to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Stability {
    /// UNSTABLE.
    Unstable,
    /// DATA_SYNC.
    Data,
    /// FILE_SYNC.
    File,
}

/// How CREATE treats a name that exists.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum How {
    /// Takes what is there.
    Unchecked,
    /// Refuses.
    Guarded,
    /// Refuses unless the same request made it.
    Exclusive,
}

/// A call and its answer. What a procedure does not have is left out.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(rename = "CapturedCall")]
pub struct Call {
    /// Seconds from the capture's start until the call was complete here.
    pub at: f64,
    /// Seconds from then until its reply stood ready to be sent.
    pub took: f64,
    /// The number of the client's address, in the order of appearance from 1; 0 for clients beyond those that are numbered.
    pub client: u32,
    /// The number of its address and port.
    pub connection: u32,
    /// Whether it came in a datagram.
    #[serde(skip_serializing_if = "is_not")]
    pub udp: bool,
    /// The procedure's name in RFC 1813. Of NFSv4: the one that does the same, or the operation's name if there is none.
    pub procedure: Cow<'static, str>,
    /// NFSv4: the operation that the compound was made for, by its name in RFC 8881.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub operation: Option<Cow<'static, str>>,
    /// Bytes of the call, without record mark.
    pub received: u32,
    /// Bytes of the reply, without record mark.
    pub sent: u32,
    /// Why it was refused: the status of RFC 1813 without `NFS3ERR_`, or of RFC 8881 without `NFS4ERR_`. Left out: it was not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<Cow<'static, str>>,
    /// The hash of the handle it is for: a file, or the directory that `name` is in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node: Option<String>,
    /// What `node` is, where the answer says it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<Kind>,
    /// Bytes of `node` before the call, where the answer says it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<u64>,
    /// A name in `node`, hashed unless asked for; `.` and `..` are themselves.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The directory that a RENAME or LINK leads to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
    /// The name there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to_name: Option<String>,
    /// The node that was found or made.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub found: Option<String>,
    /// What it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub found_kind: Option<Kind>,
    /// Its bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub found_size: Option<u64>,
    /// READ, WRITE, COMMIT: from which byte.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub offset: Option<u64>,
    /// How many bytes were asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub count: Option<u64>,
    /// How many were read or written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub done: Option<u64>,
    /// WRITE: how durable.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stable: Option<Stability>,
    /// CREATE: how.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub how: Option<How>,
    /// The permission bits that were set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mode: Option<u32>,
    /// The size that was set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub set_size: Option<u64>,
    /// Whether an owner or group was set.
    #[serde(skip_serializing_if = "is_not")]
    pub set_owner: bool,
    /// Whether times were set.
    #[serde(skip_serializing_if = "is_not")]
    pub set_times: bool,
    /// SYMLINK: the length of its target.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<u32>,
    /// ACCESS: the rights asked for, as bits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub access: Option<u32>,
    /// READDIR, READDIRPLUS: whether it goes on where another one ended.
    #[serde(skip_serializing_if = "is_not")]
    pub goes_on: bool,
    /// How many entries were listed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub entries: Option<u64>,
    /// Whether they were the last ones, or what was read reaches the end of the file.
    #[serde(skip_serializing_if = "is_not")]
    pub at_end: bool,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "as serde asks")]
fn is_not(value: &bool) -> bool {
    !*value
}
