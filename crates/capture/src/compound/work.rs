//! Operations that do something with a node: what each says, and the procedure of NFSv3 that does the same.

use howdah_wire::nfs4::open::{Claim, How as Create};
use howdah_wire::nfs4::{
    Stability, access, commit, create, getattr, link, lookup, lookupp, open, read, readdir, readlink, remove,
    rename, setattr, write,
};
use howdah_wire::xdr::{Decode, Decoder};

use super::attributes::{made as kind_made, set};
use super::telling::{CompoundStory, Current};
use crate::format::{Call, How, Kind, Stability as Told};

/// Records what an operation says. None: what follows it cannot be read.
pub fn tell<'c>(
    telling: &mut CompoundStory<'c>,
    number: u32,
    arguments: &mut Decoder<'c>,
    result: Option<&mut Decoder<'_>>,
) -> Option<()> {
    match number {
        lookup::OPERATION => {
            name(telling, lookup::Arguments::decode(arguments).ok()?.name.0);
            result?;
            telling.current = Current::Found(None);
        }
        lookupp::OPERATION => {
            telling.call.name = Some("..".to_owned());
            result?;
            telling.current = Current::Found(None);
        }
        open::OPERATION => opened(telling, &open::Arguments::decode(arguments).ok()?, result)?,
        create::OPERATION => made(telling, &create::Arguments::decode(arguments).ok()?, result)?,
        read::OPERATION => {
            let wanted = read::Arguments::decode(arguments).ok()?;
            let call = &mut telling.call;
            (call.offset, call.count) = (Some(wanted.offset), Some(wanted.count.into()));
            let head = read::Head::decode(result?).ok()?;
            (call.done, call.at_end) = (Some(head.length.into()), head.end);
            // Its data follows, or is elsewhere.
            return None;
        }
        write::OPERATION => {
            let head = write::Head::decode(arguments).ok()?;
            written(&mut telling.call, &head);
            telling.call.done = Some(write::Success::decode(result?).ok()?.count.into());
            pass_data(telling, arguments, head.length as usize)?;
        }
        commit::OPERATION => {
            let range = commit::Arguments::decode(arguments).ok()?;
            (telling.call.offset, telling.call.count) = (Some(range.offset), Some(range.count.into()));
            commit::Success::decode(result?).ok()?;
        }
        setattr::OPERATION => {
            set(&setattr::Arguments::decode(arguments).ok()?.attributes, &mut telling.call);
            setattr::Success::decode(result?).ok()?;
        }
        remove::OPERATION => {
            name(telling, remove::Arguments::decode(arguments).ok()?.name.0);
            remove::Success::decode(result?).ok()?;
        }
        rename::OPERATION => {
            let names = rename::Arguments::decode(arguments).ok()?;
            moves(telling, names.to.0);
            name(telling, names.from.0);
            rename::Success::decode(result?).ok()?;
        }
        link::OPERATION => {
            moves(telling, link::Arguments::decode(arguments).ok()?.name.0);
            link::Success::decode(result?).ok()?;
        }
        readdir::OPERATION => {
            telling.call.goes_on = readdir::Arguments::decode(arguments).ok()?.cookie != 0;
            return None;
        }
        readlink::OPERATION => drop(readlink::Success::decode(result?).ok()?),
        _ => return None,
    }
    Some(())
}

fn name(telling: &mut CompoundStory<'_>, name: &[u8]) {
    telling.call.name = Some(telling.pseudonyms.name(name));
}

/// The saved node gets a name in the current directory.
fn moves(telling: &mut CompoundStory<'_>, to_name: &[u8]) {
    telling.call.node = telling.saved.told();
    telling.call.to = telling.current.told();
    telling.call.to_name = Some(telling.pseudonyms.name(to_name));
    (telling.call.kind, telling.call.size) = (None, None);
}

fn opened(
    telling: &mut CompoundStory<'_>,
    wanted: &open::Arguments<'_>,
    result: Option<&mut Decoder<'_>>,
) -> Option<()> {
    if let Claim::Name(component) | Claim::Delegated(_, component) | Claim::DelegatedBefore(component) =
        &wanted.claim
    {
        name(telling, component.0);
    }
    telling.call.how = wanted.create.as_ref().map(|how| match how {
        Create::Unchecked(_) => How::Unchecked,
        Create::Guarded(_) => How::Guarded,
        Create::Exclusive(_) | Create::ExclusiveWith(..) => How::Exclusive,
    });
    if let Some(Create::Unchecked(new) | Create::Guarded(new) | Create::ExclusiveWith(_, new)) =
        &wanted.create
    {
        set(new, &mut telling.call);
    }
    open::Success::decode(result?).ok()?;
    if telling.call.name.is_some() {
        telling.current = Current::Found(None);
    }
    Some(())
}

fn made(
    telling: &mut CompoundStory<'_>,
    wanted: &create::Arguments<'_>,
    result: Option<&mut Decoder<'_>>,
) -> Option<()> {
    name(telling, wanted.name.0);
    set(&wanted.attributes, &mut telling.call);
    telling.call.found_kind = Some(kind_made(&wanted.node));
    if let create::NewNode::SymbolicLink(target) = &wanted.node {
        telling.call.target = Some(target.0.len() as u32);
    }
    create::Success::decode(result?).ok()?;
    telling.current = Current::Found(None);
    Some(())
}

/// Goes on behind the data of a WRITE, if what stands there was kept.
fn pass_data<'c>(telling: &mut CompoundStory<'c>, arguments: &mut Decoder<'c>, length: usize) -> Option<()> {
    let (kept, here) = (telling.kept, telling.from + arguments.position());
    let behind = here.checked_add(length.checked_next_multiple_of(4)?)?;
    let end = kept.length.checked_sub(kept.end.len())?;
    let in_end = behind.checked_sub(end).and_then(|at| kept.end.get(at..));
    let rest = in_end.filter(|_| !kept.end.is_empty()).or_else(|| kept.arguments.get(behind..))?;
    (telling.from, *arguments) = (behind, Decoder::new(rest));
    Some(())
}

fn written(call: &mut Call, head: &write::Head) {
    (call.offset, call.count) = (Some(head.offset), Some(head.length.into()));
    call.stable = Some(match head.stability {
        Stability::Unstable => Told::Unstable,
        Stability::DataSync => Told::Data,
        Stability::FileSync => Told::File,
    });
}

/// Whether a procedure of NFSv3 does the same as this operation.
pub fn has_procedure(operation: u32) -> bool {
    procedure(operation, &Call::default()).is_some()
}

/// The procedure of NFSv3 that does what this operation did. None: there is none.
pub fn procedure(operation: u32, call: &Call) -> Option<&'static str> {
    Some(match operation {
        access::OPERATION => "ACCESS",
        commit::OPERATION => "COMMIT",
        create::OPERATION => match call.found_kind {
            Some(Kind::Link) => "SYMLINK",
            Some(Kind::Special) => "MKNOD",
            _ => "MKDIR",
        },
        getattr::OPERATION => "GETATTR",
        link::OPERATION => "LINK",
        lookup::OPERATION | lookupp::OPERATION => "LOOKUP",
        open::OPERATION if call.how.is_some() => "CREATE",
        open::OPERATION if call.name.is_some() => "LOOKUP",
        open::OPERATION => "GETATTR",
        read::OPERATION => "READ",
        readdir::OPERATION => "READDIRPLUS",
        readlink::OPERATION => "READLINK",
        remove::OPERATION => "REMOVE",
        rename::OPERATION => "RENAME",
        setattr::OPERATION => "SETATTR",
        write::OPERATION => "WRITE",
        _ => return None,
    })
}
