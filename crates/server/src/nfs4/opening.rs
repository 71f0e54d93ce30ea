//! A compound at the door: what it begins with, and what its operations, all together, mean for scheduling. The operations are
//! passed here and decoded when they run.

use howdah_wire::nfs4::compound::{Head, OPERATIONS_MAX};
use howdah_wire::nfs4::{Stability, pass_arguments, putfh, sequence, write};
use howdah_wire::xdr::{Decode, DecodeError, Decoder, padding};

use super::table;
use crate::outline::{Bulk, CompoundOpening, Outline, ReplyPace};

/// The most bytes of operations behind a WRITE that is moved past memory: those of the usual clients have 20.
const BEHIND_MAX: usize = 512;

/// Reads it.
pub fn read<'m>(outline: &mut Outline<'m>, arguments: Decoder<'m>) {
    #[cfg(test)]
    tests::count(1, 0);
    outline.compound = Some(open(outline, arguments));
}

fn open<'m>(
    outline: &mut Outline<'m>,
    mut arguments: Decoder<'m>,
) -> Result<CompoundOpening<'m>, DecodeError> {
    let length = arguments.position() + arguments.rest().len();
    let head = Head::decode(&mut arguments)?;
    let mut walk = arguments.clone();
    let mut opening = CompoundOpening {
        head,
        sequence: None,
        operations: arguments,
        node: None,
        write: None,
        told_by: &[],
        end: None,
        length,
    };
    if head.operations > 0 && walk.u32("operation") == Ok(sequence::OPERATION) {
        opening.sequence = Some(sequence::Arguments::decode(&mut walk));
        opening.operations = walk.clone();
        opening.told_by = walk.rest();
        // What cannot be passed is refused when it runs, and nothing behind it runs.
        let passed = (1..head.operations.min(OPERATIONS_MAX))
            .try_for_each(|_| pass_operation(outline, &mut opening, &mut walk));
        opening.end = passed.ok().map(|()| walk.position());
        if opening.end.is_some() && opening.write.is_none() {
            opening.end_told_by(&walk);
        }
    }
    Ok(opening)
}

fn pass_operation<'m>(
    outline: &mut Outline<'m>,
    opening: &mut CompoundOpening<'m>,
    walk: &mut Decoder<'m>,
) -> Result<(), DecodeError> {
    #[cfg(test)]
    tests::count(0, 1);
    let number = walk.u32("operation")?;
    if let Some(operation) = table::find(number) {
        outline.pace = outline.pace.max(operation.pace);
        outline.is_dear |= operation.pace == ReplyPace::Dear;
    }
    match number {
        putfh::OPERATION if opening.node.is_none() => {
            let putfh::Arguments { node } = putfh::Arguments::decode(walk)?;
            (opening.node, outline.node) = (Some(node), Some(node.0));
        }
        write::OPERATION => {
            let head = write::Head::decode(walk)?;
            if opening.write.is_none() {
                opening.write = Some(head);
                opening.end_told_by(walk);
            }
            let length = head.length as usize;
            let durable = head.stability != Stability::Unstable;
            outline.brings(Bulk { at: walk.position(), length, durable, behind_max: BEHIND_MAX });
            walk.bytes(length + padding(length), "data")?;
        }
        _ => pass_arguments(number, walk)?,
    }
    Ok(())
}

/// Counts what this thread has read.
#[cfg(test)]
pub mod tests {
    use std::cell::Cell;

    thread_local! {
        static READ: Cell<(u32, u32)> = const { Cell::new((0, 0)) };
    }

    pub fn count(compounds: u32, operations: u32) {
        let before = counts();
        READ.set((before.0 + compounds, before.1 + operations));
    }

    /// Compounds, and operations of theirs.
    pub fn counts() -> (u32, u32) {
        READ.get()
    }
}
