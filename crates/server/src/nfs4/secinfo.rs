//! SECINFO and SECINFO_NO_NAME: which flavors a node takes. They are answered whatever the flavor of the call, and the current node
//! is used up (RFC 8881 2.6.3.1.1.6, 18.29.3).

use howdah_wire::nfs4::Opaque;
use howdah_wire::nfs4::secinfo::{Arguments, Flavor, Mechanism, Success};
use howdah_wire::nfs4::secinfo_no_name::{self, Which};
use howdah_wire::rpc::GssService;
use howdah_wire::xdr::{Array, Decode, Decoder};

use super::compound::{Compound, Outcome};
use super::lookup;
use super::node::CurrentNode;
use crate::Reply;
use crate::exports::SecurityFlavor;

/// The mechanism of Kerberos, 1.2.840.113554.1.2.2: the contents of its DER form without tag and length, as GSS libraries hold it.
/// Linux clients choose by it (interop scenario `krb5`).
const KERBEROS: Opaque<'static> = Opaque(b"\x2a\x86\x48\x86\xf7\x12\x01\x02\x02");

/// Answers SECINFO.
pub fn run(compound: &mut Compound<'_>, arguments: &mut Decoder<'_>, reply: &mut Reply) -> Outcome {
    let Arguments { name } = Arguments::decode(arguments)?;
    let node = lookup::child(compound, compound.node_of_any_flavor()?, name.0)?;
    answer(compound, &node, reply);
    Ok(())
}

/// Answers SECINFO_NO_NAME.
pub fn no_name(compound: &mut Compound<'_>, arguments: &mut Decoder<'_>, reply: &mut Reply) -> Outcome {
    let secinfo_no_name::Arguments { which } = secinfo_no_name::Arguments::decode(arguments)?;
    let node = compound.node_of_any_flavor()?;
    let node = match which {
        Which::Parent => lookup::parent(compound, node)?,
        Which::Current => node.clone(),
    };
    answer(compound, &node, reply);
    Ok(())
}

fn answer(compound: &mut Compound<'_>, node: &CurrentNode<'_>, reply: &mut Reply) {
    let flavors = compound.flavors(node);
    let flavors: Vec<Flavor<'_>> = flavors.as_slice().iter().map(|&flavor| to_wire(flavor)).collect();
    compound.current = None;
    compound.stateid = None;
    reply.write(&Success { flavors: Array::of(&flavors) });
}

fn to_wire(flavor: SecurityFlavor) -> Flavor<'static> {
    let service = match flavor.service() {
        None => return Flavor::Plain(flavor.number()),
        Some(GssService::None) => 1,
        Some(GssService::Integrity) => 2,
        Some(GssService::Privacy) => 3,
    };
    Flavor::Gss(Mechanism { identifier: KERBEROS, quality: 0, service })
}
