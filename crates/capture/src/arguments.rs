//! What a capture reports of a call's arguments: nothing of data.

use howdah_wire::nfs3::{
    DirectoryName, FileHandle, NewAttributes, SetTime, access, commit, create, fsinfo, fsstat, getattr, link,
    lookup, mkdir, mknod, null, pathconf, read, readdir, readdirplus, readlink, remove, rename, rmdir,
    setattr, symlink, write,
};
use howdah_wire::xdr::{Decode, DecodeError, Decoder};

use super::format::{Call, How, Stability};
use super::pseudonyms::Pseudonyms;

/// Reads what arguments say.
pub struct CallReader<'p> {
    /// How names and handles are shown.
    pub pseudonyms: &'p Pseudonyms,
}

impl CallReader<'_> {
    /// Reads them.
    pub fn read(&self, procedure: u32, bytes: &[u8], call: &mut Call) -> Result<(), DecodeError> {
        let decoder = &mut Decoder::new(bytes);
        match procedure {
            null::PROCEDURE => {}
            getattr::PROCEDURE
            | readlink::PROCEDURE
            | fsstat::PROCEDURE
            | fsinfo::PROCEDURE
            | pathconf::PROCEDURE => self.node(FileHandle::decode(decoder)?, call),
            lookup::PROCEDURE | remove::PROCEDURE | rmdir::PROCEDURE => self.object(decoder, call)?,
            setattr::PROCEDURE => {
                self.node(FileHandle::decode(decoder)?, call);
                set(&NewAttributes::decode(decoder)?, call);
            }
            access::PROCEDURE => {
                self.node(FileHandle::decode(decoder)?, call);
                call.access = Some(decoder.u32("rights")?);
            }
            read::PROCEDURE | commit::PROCEDURE => self.range(decoder, call)?,
            write::PROCEDURE => self.write(&write::Head::decode(decoder)?, call),
            create::PROCEDURE => {
                self.object(decoder, call)?;
                how(&create::How::decode(decoder)?, call);
            }
            mkdir::PROCEDURE => {
                self.object(decoder, call)?;
                set(&NewAttributes::decode(decoder)?, call);
            }
            symlink::PROCEDURE => {
                self.object(decoder, call)?;
                set(&NewAttributes::decode(decoder)?, call);
                call.target = Some(decoder.u32("length of the target")?);
            }
            mknod::PROCEDURE => self.object(decoder, call)?,
            rename::PROCEDURE => {
                self.object(decoder, call)?;
                self.target(decoder, call)?;
            }
            link::PROCEDURE => {
                self.node(FileHandle::decode(decoder)?, call);
                self.target(decoder, call)?;
            }
            readdir::PROCEDURE | readdirplus::PROCEDURE => {
                self.node(FileHandle::decode(decoder)?, call);
                call.goes_on = decoder.u64("cookie")? != 0;
            }
            _ => {}
        }
        Ok(())
    }

    fn node(&self, handle: FileHandle<'_>, call: &mut Call) {
        call.node = Some(self.pseudonyms.node(handle.0));
    }

    fn object(&self, decoder: &mut Decoder<'_>, call: &mut Call) -> Result<(), DecodeError> {
        let object = DirectoryName::decode(decoder)?;
        self.node(object.directory, call);
        call.name = Some(self.pseudonyms.name(object.name));
        Ok(())
    }

    fn target(&self, decoder: &mut Decoder<'_>, call: &mut Call) -> Result<(), DecodeError> {
        let object = DirectoryName::decode(decoder)?;
        call.to = Some(self.pseudonyms.node(object.directory.0));
        call.to_name = Some(self.pseudonyms.name(object.name));
        Ok(())
    }

    fn range(&self, decoder: &mut Decoder<'_>, call: &mut Call) -> Result<(), DecodeError> {
        self.node(FileHandle::decode(decoder)?, call);
        call.offset = Some(decoder.u64("offset")?);
        call.count = Some(decoder.u32("count")?.into());
        Ok(())
    }

    fn write(&self, head: &write::Head<'_>, call: &mut Call) {
        self.node(head.node, call);
        call.offset = Some(head.offset);
        call.count = Some(head.count.into());
        call.stable = Some(match head.stability {
            write::Stability::Unstable => Stability::Unstable,
            write::Stability::DataSync => Stability::Data,
            write::Stability::FileSync => Stability::File,
        });
    }
}

fn how(how: &create::How, call: &mut Call) {
    call.how = Some(match how {
        create::How::Unchecked(_) => How::Unchecked,
        create::How::Guarded(_) => How::Guarded,
        create::How::Exclusive(_) => How::Exclusive,
    });
    if let create::How::Unchecked(new) | create::How::Guarded(new) = how {
        set(new, call);
    }
}

fn set(new: &NewAttributes, call: &mut Call) {
    call.mode = new.mode;
    call.set_size = new.size;
    call.set_owner = new.user.is_some() || new.group.is_some();
    call.set_times = new.accessed != SetTime::Keep || new.modified != SetTime::Keep;
}
