//! A node as the tables keep it.

use super::entries::Entries;
use super::number::Number;
use super::pages::Pages;
use super::xattr_map::Xattrs;
use crate::{FileKind, FsError, Result, SpecialKind, Timestamp};

/// Anything that has a handle.
pub(super) struct Node {
    /// Permission bits, the low 12 of `st_mode`.
    pub(super) mode: u32,
    pub(super) user: u32,
    pub(super) group: u32,
    pub(super) links: u32,
    pub(super) accessed: Timestamp,
    pub(super) modified: Timestamp,
    pub(super) changed: Timestamp,
    pub(super) created: Timestamp,
    pub(super) xattrs: Xattrs,
    pub(super) body: Body,
}

/// What kinds of nodes differ in.
pub(super) enum Body {
    Regular(Regular),
    Directory(Directory),
    Link(Box<[u8]>),
    Special(SpecialKind),
}

/// A regular file.
#[derive(Default)]
pub(super) struct Regular {
    pub(super) size: u64,
    pub(super) pages: Pages,
    /// What a crash would leave, while there are unstable writes since.
    pub(super) durable: Option<(u64, Pages)>,
    /// Of the exclusive CREATE that made it.
    pub(super) verifier: Option<[u8; 8]>,
}

/// A directory.
pub(super) struct Directory {
    pub(super) parent: Number,
    pub(super) entries: Entries,
}

impl Node {
    pub(super) fn kind(&self) -> FileKind {
        match &self.body {
            Body::Regular(_) => FileKind::Regular,
            Body::Directory(_) => FileKind::Directory,
            Body::Link(_) => FileKind::SymbolicLink,
            Body::Special(SpecialKind::BlockDevice(_)) => FileKind::BlockDevice,
            Body::Special(SpecialKind::CharacterDevice(_)) => FileKind::CharacterDevice,
            Body::Special(SpecialKind::Socket) => FileKind::Socket,
            Body::Special(SpecialKind::Fifo) => FileKind::Fifo,
        }
    }

    pub(super) fn is_directory(&self) -> bool {
        matches!(self.body, Body::Directory(_))
    }

    pub(super) fn directory(&self) -> Result<&Directory> {
        match &self.body {
            Body::Directory(directory) => Ok(directory),
            _ => Err(FsError::NotDirectory),
        }
    }

    pub(super) fn directory_mut(&mut self) -> Result<&mut Directory> {
        match &mut self.body {
            Body::Directory(directory) => Ok(directory),
            _ => Err(FsError::NotDirectory),
        }
    }

    pub(super) fn regular(&self) -> Result<&Regular> {
        match &self.body {
            Body::Regular(file) => Ok(file),
            Body::Directory(_) => Err(FsError::IsDirectory),
            _ => Err(FsError::Invalid),
        }
    }

    pub(super) fn regular_mut(&mut self) -> Result<&mut Regular> {
        match &mut self.body {
            Body::Regular(file) => Ok(file),
            Body::Directory(_) => Err(FsError::IsDirectory),
            _ => Err(FsError::Invalid),
        }
    }
}

impl Regular {
    /// Takes everything written so far as durable.
    pub(super) fn settle(&mut self) {
        self.durable = None;
    }

    /// Remembers what a crash would leave, before an unstable write.
    pub(super) fn unsettle(&mut self) {
        self.durable.get_or_insert_with(|| (self.size, self.pages.clone()));
    }
}
