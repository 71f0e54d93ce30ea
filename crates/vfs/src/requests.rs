//! What calls of a file system with many arguments ask for, as values: a layer passes them on whole.

use bytes::Bytes;

use crate::{Data, Detail, Guard, Handle, Name, NewAttributes, SpecialKind, Stability};

macro_rules! requests {
    ($($(#[$about:meta])* $request:ident { $($(#[$meaning:meta])* $field:ident: $type:ty,)* })*) => {
        $(
            $(#[$about])*
            pub struct $request<'a> {
                $($(#[$meaning])* pub $field: $type,)*
            }

            impl<'a> $request<'a> {
                /// The request with its fields in this order.
                pub fn new($($field: $type),*) -> Self {
                    Self { $($field),* }
                }
            }
        )*
    };
}

/// Data to write (WRITE).
pub struct WriteFile<'a> {
    /// To which file.
    pub node: &'a Handle,
    /// From where on, in bytes.
    pub offset: u64,
    /// The data.
    pub data: Data<'a>,
    /// How durable it must be when the call returns.
    pub stability: Stability,
}

impl<'a> WriteFile<'a> {
    /// The request with its fields in this order. The data may live longer than it.
    pub fn new<'d: 'a>(node: &'a Handle, offset: u64, data: Data<'d>, stability: Stability) -> Self {
        Self { node, offset, data: data.shortened(), stability }
    }
}

requests! {
    /// Attributes to set (SETATTR).
    #[derive(Debug, Clone, Copy)]
    SetAttributes {
        /// Of which node.
        node: &'a Handle,
        /// What is set.
        new: &'a NewAttributes,
        /// What must hold of the node first.
        guard: Option<Guard>,
    }

    /// Data to read (READ).
    #[derive(Debug, Clone, Copy)]
    ReadFile {
        /// Of which file.
        node: &'a Handle,
        /// From where on, in bytes.
        offset: u64,
        /// The most bytes.
        count: usize,
    }

    /// A regular file to make (CREATE).
    #[derive(Debug, Clone, Copy)]
    CreateFile {
        /// Where.
        directory: &'a Handle,
        /// Its name there.
        name: Name<'a>,
        /// What happens if the name exists, and what a new file is like.
        how: &'a Create,
    }

    /// A regular file to make whole: under a name that nobody looks at, and then under its own.
    #[derive(Debug, Clone, Copy)]
    PutFile {
        /// Where.
        directory: &'a Handle,
        /// Its name until it is complete. Nothing may have that yet.
        partial: Name<'a>,
        /// Its name then.
        name: Name<'a>,
        /// All of its data.
        data: &'a Bytes,
        /// What it is like when it is complete; until then only its owner may open it.
        new: &'a NewAttributes,
        /// How durable its data must be when the call returns.
        stability: Stability,
    }

    /// A directory to make (MKDIR).
    #[derive(Debug, Clone, Copy)]
    MakeDirectory {
        /// Where.
        directory: &'a Handle,
        /// Its name there.
        name: Name<'a>,
        /// What it is like.
        new: &'a NewAttributes,
    }

    /// A symbolic link to make (SYMLINK).
    #[derive(Debug, Clone, Copy)]
    MakeLink {
        /// Where.
        directory: &'a Handle,
        /// Its name there.
        name: Name<'a>,
        /// Where it points: 1 to 4095 bytes without NUL.
        target: &'a [u8],
        /// What it is like.
        new: &'a NewAttributes,
    }

    /// A device, socket or pipe to make (MKNOD).
    #[derive(Debug, Clone, Copy)]
    MakeSpecial {
        /// Where.
        directory: &'a Handle,
        /// Its name there.
        name: Name<'a>,
        /// What it is.
        kind: SpecialKind,
        /// What it is like.
        new: &'a NewAttributes,
    }

    /// One more name for a node (LINK).
    #[derive(Debug, Clone, Copy)]
    AddLink {
        /// The node, which is no directory.
        node: &'a Handle,
        /// Where the name is.
        directory: &'a Handle,
        /// The name.
        name: Name<'a>,
    }

    /// Entries to list (READDIR, READDIRPLUS).
    #[derive(Debug, Clone, Copy)]
    ListDirectory {
        /// Of which directory.
        directory: &'a Handle,
        /// After which entry; 0: from the start.
        cookie: u64,
        /// What is listed of each.
        detail: Detail,
    }

    /// Data to make durable (COMMIT).
    #[derive(Debug, Clone, Copy)]
    CommitFile {
        /// Of which file.
        node: &'a Handle,
        /// From where on, in bytes.
        offset: u64,
        /// How many bytes; 0: up to the end.
        count: u64,
    }

    /// A range of a file whose storage changes (ALLOCATE, DEALLOCATE).
    #[derive(Debug, Clone, Copy)]
    FileExtent {
        /// Which file.
        node: &'a Handle,
        /// Where it begins, in bytes.
        offset: u64,
        /// Its length in bytes.
        length: u64,
    }

    /// A range of one file that another one, or the same, is to hold, too (COPY, CLONE).
    #[derive(Debug, Clone, Copy)]
    CopyRange {
        /// The file that is read, and where, in bytes.
        from: (&'a Handle, u64),
        /// The file that is written, and where, in bytes.
        to: (&'a Handle, u64),
        /// How many bytes; 0: up to the end of the first.
        count: u64,
    }
}

/// How CREATE treats a name that exists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Create {
    /// Takes the file that is there (a size among the attributes truncates it), or makes one with these attributes.
    Unchecked(NewAttributes),
    /// Refuses with [`FsError::Exists`](crate::FsError::Exists).
    Guarded(NewAttributes),
    /// Refuses unless the file was made by the same request: the verifier is kept with the file, so that a
    /// repeated request finds what its first try made.
    Exclusive([u8; 8]),
    /// The same with attributes: a file that cannot have them is not made.
    ExclusiveWith([u8; 8], NewAttributes),
}
