//! READDIR and READDIRPLUS, page by page.

use std::collections::HashMap;
use std::ops::ControlFlow;

use howdah_vfs::{Attributes, Caller, Detail, Entry, Handle, Listing, Node, Result};
use nfs3_types::nfs3::{
    NFS_PROGRAM, Nfs3Option, READDIR3args, READDIR3res, READDIRPLUS3args, READDIRPLUS3res, cookieverf3,
    entry3, entryplus3,
};
use parking_lot::Mutex;

use super::OtherClient;
use super::client::success;
use super::convert::post_attributes;

/// Bytes of an answer: small, so that even a small directory has several pages.
const PAGE: u32 = 2048;

/// The verifier that each directory's last answer came with, to be shown when the listing goes on.
#[derive(Default)]
pub(super) struct Verifiers(Mutex<HashMap<Handle, [u8; 8]>>);

/// An answer, of either procedure.
struct Page {
    directory: Option<Attributes>,
    verifier: [u8; 8],
    entries: Vec<Listed>,
    end: bool,
}

struct Listed {
    name: Vec<u8>,
    file: u64,
    cookie: u64,
    node: Option<Node>,
}

impl OtherClient {
    pub(super) fn list(
        &self,
        caller: &Caller,
        directory: &Handle,
        mut cookie: u64,
        detail: Detail,
        sink: &mut dyn FnMut(Entry<'_>) -> ControlFlow<()>,
    ) -> Result<Listing> {
        loop {
            let known = self.verifiers.0.lock().get(directory).copied();
            let verifier = if cookie == 0 { [0; 8] } else { known.unwrap_or_default() };
            let page = match detail {
                Detail::Names => self.names(caller, directory, cookie, verifier)?,
                Detail::Nodes => self.nodes(caller, directory, cookie, verifier)?,
            };
            self.verifiers.0.lock().insert(*directory, page.verifier);
            for listed in &page.entries {
                let Listed { name, file, cookie: own, node } = listed;
                let entry = Entry { name, file: *file, cookie: *own, node: node.as_ref() };
                if sink(entry).is_break() {
                    return Ok(Listing { end: false, directory: page.directory });
                }
                cookie = *own;
            }
            if page.end {
                return Ok(Listing { end: true, directory: page.directory });
            }
            assert!(!page.entries.is_empty(), "neither an entry nor the end");
        }
    }

    fn names(&self, caller: &Caller, directory: &Handle, cookie: u64, verifier: [u8; 8]) -> Result<Page> {
        let dir = self.handles.give(directory);
        let arguments = READDIR3args { dir, cookie, cookieverf: cookieverf3(verifier), count: PAGE };
        let result: READDIR3res<'_> = self.call(caller, NFS_PROGRAM::NFSPROC3_READDIR, &arguments);
        let reply = success(result, |_| {})?;
        let listed = |entry: entry3<'_>| Listed {
            name: entry.name.0.to_vec(),
            file: entry.fileid,
            cookie: entry.cookie,
            node: None,
        };
        Ok(Page {
            directory: post_attributes(&reply.dir_attributes),
            verifier: reply.cookieverf.0,
            entries: reply.reply.entries.into_inner().into_iter().map(listed).collect(),
            end: reply.reply.eof,
        })
    }

    fn nodes(&self, caller: &Caller, directory: &Handle, cookie: u64, verifier: [u8; 8]) -> Result<Page> {
        let arguments = READDIRPLUS3args {
            dir: self.handles.give(directory),
            cookie,
            cookieverf: cookieverf3(verifier),
            dircount: PAGE / 2,
            maxcount: PAGE,
        };
        let result: READDIRPLUS3res<'_> = self.call(caller, NFS_PROGRAM::NFSPROC3_READDIRPLUS, &arguments);
        let reply = success(result, |_| {})?;
        let entries = reply.reply.entries.into_inner();
        Ok(Page {
            directory: post_attributes(&reply.dir_attributes),
            verifier: reply.cookieverf.0,
            entries: entries.into_iter().map(|entry| self.listed(entry)).collect(),
            end: reply.reply.eof,
        })
    }

    fn listed(&self, entry: entryplus3<'_>) -> Listed {
        let node = match (&entry.name_handle, post_attributes(&entry.name_attributes)) {
            (Nfs3Option::Some(handle), Some(attributes)) => {
                Some(Node { handle: self.handles.take(handle), attributes })
            }
            _ => None,
        };
        Listed { name: entry.name.0.to_vec(), file: entry.fileid, cookie: entry.cookie, node }
    }
}
