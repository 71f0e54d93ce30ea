//! One call of the server: CB_NULL, or a CB_COMPOUND (RFC 8881 20) that begins with CB_SEQUENCE. Waits for nothing, and makes no call.

use howdah_session::{CallbackAdmission, CallbackSlots};
use howdah_wire::nfs4::callback::compound::Head;
use howdah_wire::nfs4::callback::{
    COMPOUND, ILLEGAL, NULL, VERSION, notify_lock, operation, recall, recall_any, recall_slot, sequence,
};
use howdah_wire::nfs4::compound::{ReplyPlace, ResultHead};
use howdah_wire::nfs4::create_session::ChannelSizes;
use howdah_wire::nfs4::{Opaque, Status};
use howdah_wire::rpc::{Accepted, AuthStatus, Call, CallHeader, Credentials, Denied, ReplyHeader};
use howdah_wire::xdr::{Decode, DecodeError, Decoder, Encode, Encoder};

/// What callbacks do.
pub(super) trait CallbackActions {
    /// A delegation is wanted back.
    fn recall(&self, recall: &recall::Arguments<'_>) -> Status;

    /// So many delegations of some kinds may be kept.
    fn recall_any(&self, recall: &recall_any::Arguments);

    /// A lock may be free that this owner was denied.
    fn notify_lock(&self, owner: Opaque<'_>);

    /// Slots above this one are not to be used.
    fn recall_slot(&self, target_highest: u32);
}

/// The reply to a call, given from its xid on. None: what came is no call.
pub(super) fn answer(
    message: &[u8],
    (program, sizes): (u32, &ChannelSizes),
    slots: &mut CallbackSlots,
    actions: &dyn CallbackActions,
) -> Option<Vec<u8>> {
    let (header, arguments) = match Call::parse(message) {
        Call::Call(header, arguments) => (header, arguments),
        Call::OtherVersion { xid } => return Some(head(xid, Err(Denied::RpcMismatch))),
        Call::Malformed { xid, .. } => return Some(head(xid?, Ok(Accepted::GarbageArguments))),
        Call::Reply => return None,
    };
    let outcome = judge(&header, program);
    if outcome != Ok(Accepted::Success) || header.procedure == NULL {
        return Some(head(header.xid, outcome));
    }
    let callback = Callback { sizes, length: message.len(), actions };
    Some(match callback.run(slots, arguments) {
        Ok(results) => [head(header.xid, Ok(Accepted::Success)), results].concat(),
        Err(_) => head(header.xid, Ok(Accepted::GarbageArguments)),
    })
}

fn head(xid: u32, outcome: Result<Accepted, Denied>) -> Vec<u8> {
    Encoder::to_vec(&ReplyHeader { xid, outcome })
}

/// Whether a call is one of the procedures here.
fn judge(header: &CallHeader<'_>, program: u32) -> Result<Accepted, Denied> {
    if !matches!(header.credentials, Credentials::None | Credentials::Sys(_)) {
        return Err(Denied::Authentication(AuthStatus::TooWeak));
    }
    Ok(match (header.program == program, header.version, header.procedure) {
        (false, ..) => Accepted::ProgramUnavailable,
        (_, VERSION, NULL | COMPOUND) => Accepted::Success,
        (_, VERSION, _) => Accepted::ProcedureUnavailable,
        _ => Accepted::ProgramMismatch { low: VERSION, high: VERSION },
    })
}

/// A compound of the server.
struct Callback<'a> {
    /// What the client takes.
    sizes: &'a ChannelSizes,
    /// Of the call, in bytes.
    length: usize,
    actions: &'a dyn CallbackActions,
}

impl Callback<'_> {
    /// The results of the compound.
    ///
    /// # Errors
    /// What stands before the operations makes no sense.
    fn run(&self, slots: &mut CallbackSlots, mut arguments: Decoder<'_>) -> Result<Vec<u8>, DecodeError> {
        let compound = Head::decode(&mut arguments)?;
        let mut results = Vec::new();
        let mut encoder = Encoder::new(&mut results);
        let place = ReplyPlace::begin(&mut encoder, compound.tag);
        let minor_version = compound.minor_version;
        if !matches!(minor_version, 1 | 2) || compound.operations == 0 {
            let is_known = matches!(minor_version, 1 | 2);
            place.finish(&mut encoder, if is_known { Status::OK } else { Status::MINOR_VERS_MISMATCH }, 0);
            return Ok(results);
        }
        let first = arguments.u32("operation")?;
        if first != sequence::OPERATION {
            let is_known = operation::exists(first, minor_version);
            let status = if is_known { Status::OP_NOT_IN_SESSION } else { Status::OP_ILLEGAL };
            ResultHead { operation: if is_known { first } else { ILLEGAL }, status }.encode(&mut encoder);
            place.finish(&mut encoder, status, 1);
            return Ok(results);
        }
        let admitted = match sequence::Arguments::decode(&mut arguments) {
            Err(_) => Err(Status::BADXDR),
            Ok(call) => match self.admit(slots, &call, compound.operations) {
                CallbackAdmission::Repeat(results) => return Ok(results),
                CallbackAdmission::Refuse(status) => Err(status),
                CallbackAdmission::Run => Ok(call),
            },
        };
        let call = match admitted {
            Ok(call) => call,
            Err(status) => {
                ResultHead { operation: sequence::OPERATION, status }.encode(&mut encoder);
                place.finish(&mut encoder, status, 1);
                return Ok(results);
            }
        };
        ResultHead { operation: sequence::OPERATION, status: Status::OK }.encode(&mut encoder);
        let sequence::Arguments { session, sequence, slot, .. } = call;
        let highest_slot = slots.highest();
        sequence::Success { session, sequence, slot, highest_slot, target_highest_slot: highest_slot }
            .encode(&mut encoder);
        let (mut status, mut done) = (Status::OK, 1);
        while status == Status::OK && done < compound.operations {
            let number = arguments.u32("operation").unwrap_or(ILLEGAL);
            let operation = if operation::exists(number, minor_version) { number } else { ILLEGAL };
            status = self.run_one(operation, &mut arguments);
            ResultHead { operation, status }.encode(&mut encoder);
            done += 1;
        }
        place.finish(&mut encoder, status, done);
        slots.on_ran(&call, &results);
        Ok(results)
    }

    fn admit(
        &self,
        slots: &CallbackSlots,
        call: &sequence::Arguments<'_>,
        operations: u32,
    ) -> CallbackAdmission {
        match slots.admit(call) {
            CallbackAdmission::Run if self.length > self.sizes.request as usize => {
                CallbackAdmission::Refuse(Status::REQ_TOO_BIG)
            }
            CallbackAdmission::Run if operations > self.sizes.operations => {
                CallbackAdmission::Refuse(Status::TOO_MANY_OPS)
            }
            admission => admission,
        }
    }

    /// Carries out an operation behind CB_SEQUENCE. What is refused ends the compound, so that its arguments need not be read.
    fn run_one(&self, operation: u32, arguments: &mut Decoder<'_>) -> Status {
        let outcome = match operation {
            recall::OPERATION => {
                recall::Arguments::decode(arguments).map(|recall| self.actions.recall(&recall))
            }
            recall_any::OPERATION => recall_any::Arguments::decode(arguments).map(|recall| {
                self.actions.recall_any(&recall);
                Status::OK
            }),
            notify_lock::OPERATION => notify_lock::Arguments::decode(arguments).map(|notice| {
                self.actions.notify_lock(notice.owner.owner);
                Status::OK
            }),
            recall_slot::OPERATION => recall_slot::Arguments::decode(arguments).map(|recall| {
                self.actions.recall_slot(recall.target_highest_slot);
                Status::OK
            }),
            sequence::OPERATION => return Status::SEQUENCE_POS,
            // This client has no file open for writing alone, and no layouts.
            operation::GETATTR => return Status::BADHANDLE,
            operation::LAYOUTRECALL => return Status::NOMATCHING_LAYOUT,
            ILLEGAL => return Status::OP_ILLEGAL,
            _ => return Status::NOTSUPP,
        };
        outcome.unwrap_or(Status::BADXDR)
    }
}

#[cfg(test)]
mod tests;
