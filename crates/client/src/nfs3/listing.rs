//! Listing a directory, page by page: what READDIR and READDIRPLUS have in common.

use std::ops::ControlFlow;
use std::sync::atomic::Ordering;

use howdah_vfs::listing::Circle;
use howdah_vfs::{Attributes, Caller, Detail, Entry, FsError, Handle, Listing, Node, Result};
use howdah_wire::nfs3::{self, FileHandle};

use super::client::Nfs3;
use super::convert;
use super::sizes::LISTING_MIN;

/// Where a listing goes on.
#[derive(Clone, Copy)]
pub(super) struct Position<'p> {
    pub(super) caller: &'p Caller,
    pub(super) directory: &'p Handle,
    pub(super) cookie: u64,
    pub(super) verifier: [u8; 8],
}

/// An entry as a page has it.
pub(super) struct Listed<'l> {
    pub(super) name: &'l [u8],
    pub(super) file: u64,
    pub(super) cookie: u64,
    /// The node's handle, and perhaps its attributes.
    pub(super) told: Option<(FileHandle<'l>, Option<nfs3::Attributes>)>,
}

/// Takes the entries of a page.
pub(super) type Sink<'s> = dyn FnMut(&Listed<'_>) -> ControlFlow<()> + 's;

/// What there is to a page beside its entries.
pub(super) struct Page {
    directory: Option<Attributes>,
    verifier: [u8; 8],
    end: bool,
    /// The cookie of the last entry that was taken.
    last: Option<u64>,
    /// Whether the sink broke off.
    broken: bool,
}

impl Page {
    pub(super) fn new(directory: Option<Attributes>, verifier: [u8; 8], end: bool) -> Self {
        Self { directory, verifier, end, last: None, broken: false }
    }

    /// Gives an entry to the sink.
    pub(super) fn give(&mut self, listed: &Listed<'_>, sink: &mut Sink<'_>) -> ControlFlow<()> {
        let flow = sink(listed);
        self.broken = flow.is_break();
        if !self.broken {
            self.last = Some(listed.cookie);
        }
        flow
    }
}

/// What is tried when a server does not take a cookie any more.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Remedy {
    /// Nothing was tried yet.
    None,
    /// Without the verifier, which may be an old one while the cookie is still good.
    NoVerifier,
    /// From the start, passing over all entries up to the one of that cookie.
    FromStart { past: u64 },
}

impl Nfs3 {
    pub(super) fn list(
        &self,
        caller: &Caller,
        directory: &Handle,
        cookie: u64,
        detail: Detail,
        sink: &mut dyn FnMut(Entry<'_>) -> ControlFlow<()>,
    ) -> Result<Listing> {
        let verifier = if cookie == 0 { [0; 8] } else { self.verifiers.of(directory) };
        let mut position = Position { caller, directory, cookie, verifier };
        let mut remedy = Remedy::None;
        let (mut circle, mut restarts) = (Circle::default(), Circle::default());
        loop {
            let page = self.page(&position, detail, &mut |listed| match &mut remedy {
                Remedy::FromStart { past } => {
                    if listed.cookie == *past {
                        remedy = Remedy::None;
                    }
                    ControlFlow::Continue(())
                }
                _ => self.give(&position, detail, listed, sink),
            });
            let page = match page {
                Err(FsError::BadCookie) if position.cookie != 0 => {
                    remedy = next_remedy(remedy, &mut position)?;
                    if let Remedy::FromStart { past } = remedy {
                        if restarts.closes_at(past) {
                            return Err(FsError::BadCookie);
                        }
                        // The same pages come once more.
                        circle = Circle::default();
                    }
                    continue;
                }
                page => page?,
            };
            self.verifiers.remember(directory, page.verifier);
            if page.broken {
                return Ok(Listing { end: false, directory: page.directory });
            }
            match (page.last, page.end, remedy) {
                // All of it was passed over: the entry of that cookie is gone.
                (_, true, Remedy::FromStart { .. }) => return Err(FsError::BadCookie),
                (_, true, _) => return Ok(Listing { end: true, directory: page.directory }),
                (Some(last), false, _) if circle.closes_at(last) => {
                    tracing::warn!("the server's directory listing loops");
                    return Err(FsError::ServerFault);
                }
                (Some(last), false, _) => {
                    (position.cookie, position.verifier) = (last, page.verifier);
                    if remedy == Remedy::NoVerifier {
                        remedy = Remedy::None;
                    }
                }
                (None, false, _) => {
                    tracing::warn!("the server lists neither an entry nor the end of the directory");
                    return Err(FsError::ServerFault);
                }
            }
        }
    }

    /// The most bytes of a page: as far as the way to the server carries them, but enough for any entry.
    pub(super) fn page_size(&self) -> u32 {
        let size = self.within_transfer(self.sizes.listing);
        u32::try_from(size).map_or(LISTING_MIN, |size| size.max(LISTING_MIN))
    }

    fn page(&self, position: &Position<'_>, detail: Detail, sink: &mut Sink<'_>) -> Result<Page> {
        if detail == Detail::Nodes && !self.lists_names_only.load(Ordering::Relaxed) {
            match self.page_of_nodes(position, sink) {
                // Some servers have no READDIRPLUS, and some are told to have none.
                Err(FsError::NotSupported) => self.lists_names_only.store(true, Ordering::Relaxed),
                page => return page,
            }
        }
        self.page_of_names(position, sink)
    }

    /// Gives an entry to whoever lists.
    fn give(
        &self,
        position: &Position<'_>,
        detail: Detail,
        listed: &Listed<'_>,
        sink: &mut dyn FnMut(Entry<'_>) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let Position { caller, directory, .. } = *position;
        let Listed { name, mut file, cookie, .. } = *listed;
        let mut node = None;
        if name == b".." && *directory == self.root {
            // What lies above the root is nobody's business.
            let parent = self.look_up_parent(caller, directory).ok().map(|found| found.node);
            file = parent.map_or(file, |parent| parent.attributes.file);
            node = parent.filter(|_| detail == Detail::Nodes);
        } else if detail == Detail::Nodes {
            node = self.node_of(caller, directory, listed);
        }
        sink(Entry { name, file, cookie, node: node.as_ref() })
    }

    /// The node of an entry, asked for as far as the listing does not tell it; `None` if it is gone meanwhile.
    fn node_of(&self, caller: &Caller, directory: &Handle, listed: &Listed<'_>) -> Option<Node> {
        let Some((handle, attributes)) = listed.told else {
            return self.look_up(caller, directory, listed.name).ok().map(|found| found.node);
        };
        let handle = convert::handle(handle).ok()?;
        Some(Node { handle, attributes: self.told(caller, &handle, attributes.as_ref()).ok()? })
    }
}

fn next_remedy(tried: Remedy, position: &mut Position<'_>) -> Result<Remedy> {
    let verifier = std::mem::take(&mut position.verifier);
    match tried {
        Remedy::None if verifier != [0; 8] => Ok(Remedy::NoVerifier),
        Remedy::None | Remedy::NoVerifier => {
            Ok(Remedy::FromStart { past: std::mem::take(&mut position.cookie) })
        }
        // The directory changes faster than it can be listed.
        Remedy::FromStart { .. } => Err(FsError::BadCookie),
    }
}
