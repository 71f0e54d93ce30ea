//! SECINFO and SECINFO_NO_NAME: which credentials do for a node. The current node is used up (RFC 8881 18.29.3).

use howdah_wire::nfs4::secinfo::{Arguments, Flavor, Success};
use howdah_wire::nfs4::secinfo_no_name::{self, Which};
use howdah_wire::rpc::AuthFlavor;
use howdah_wire::xdr::{Array, Decode, Decoder};

use super::compound::{Compound, Outcome};
use super::lookup;
use crate::Reply;

const FLAVORS: [Flavor<'static>; 1] = [Flavor::Plain(AuthFlavor::SYS)];

/// Answers SECINFO.
pub fn run(compound: &mut Compound<'_>, arguments: &mut Decoder<'_>, reply: &mut Reply) -> Outcome {
    let Arguments { name } = Arguments::decode(arguments)?;
    lookup::child(compound, compound.node()?, name.0)?;
    answer(compound, reply);
    Ok(())
}

/// Answers SECINFO_NO_NAME.
pub fn no_name(compound: &mut Compound<'_>, arguments: &mut Decoder<'_>, reply: &mut Reply) -> Outcome {
    let secinfo_no_name::Arguments { which } = secinfo_no_name::Arguments::decode(arguments)?;
    let node = compound.node()?;
    if which == Which::Parent {
        lookup::parent(compound, node)?;
    }
    answer(compound, reply);
    Ok(())
}

fn answer(compound: &mut Compound<'_>, reply: &mut Reply) {
    compound.current = None;
    compound.stateid = None;
    reply.write(&Success { flavors: Array::of(&FLAVORS) });
}
