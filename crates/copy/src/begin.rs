//! The beginning of an item: what is known of both sides before anything of it is copied.

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, LazyLock, OnceLock};

use howdah_vfs::{FileKind, Handle, Limits, Node};

use super::at_once::{at_once, later};
use super::context::Context;
use super::error::{Cause, Trouble};
use super::latency::Latency;
use super::listing::Listings;
use super::look::look_for;
use super::tally::count;
use super::task::Task;
use super::tasks::{DirectoryJob, Entry, ItemFacts, LinkPart};
use super::{CopyTarget, Item, Side, mark_in};

/// Begins items.
pub(super) struct Beginning {
    context: Arc<Context>,
    latency: Arc<Latency>,
    listings: Arc<Listings>,
}

impl Beginning {
    /// Times both sides with `latency`.
    pub(super) fn new(context: Arc<Context>, latency: Arc<Latency>, listings: Arc<Listings>) -> Self {
        Self { context, latency, listings }
    }

    /// The first task of an item.
    pub(super) fn first_task(&self, item: Item) -> Option<Task> {
        let Item { source, node, target, path, directory_path, id } = item;
        let paths = (path, directory_path);
        let file_system = node.attributes.file_system;
        match target {
            CopyTarget::Entry { directory, name } => {
                let attributes = || self.latency.attributes(&self.context.destination, &directory);
                let facts = || self.facts(source, paths.clone(), (id, file_system), &node, &directory);
                let is_file = node.attributes.kind == FileKind::Regular;
                let look = || {
                    is_file.then(|| {
                        Box::new(look_for(&self.context, &directory, &name, id, node.attributes.size))
                    })
                };
                let ((attributes, item), looked) = at_once(|| at_once(attributes, facts), look);
                let target = match attributes {
                    Ok(attributes) => Node { handle: directory, attributes },
                    Err(refused) => {
                        let cause = Cause::Refused(refused);
                        let trouble = Trouble::destination("find", cause);
                        self.context.report(&trouble.of(paths.1));
                        return None;
                    }
                };
                let parent = Arc::new(DirectoryJob::top(Arc::new(item), target));
                let part = LinkPart::Unknown;
                Some(Task::Entry(Entry { parent, name, node: Some(node), part, tries: 0, looked }))
            }
            CopyTarget::Directory(target) => {
                if self.latency.known().is_zero() {
                    let _ = self.latency.attributes(&self.context.destination, &target.handle);
                }
                let item = Arc::new(self.facts(source, paths, (id, file_system), &node, &target.handle));
                let top = Arc::new(DirectoryJob::top(Arc::clone(&item), target));
                let mark = mark_in(&self.context.destination, &target, id);
                mark.iter().for_each(|mark| item.is_marked_by(mark));
                count(&self.context.tally.found_nodes);
                let job = DirectoryJob::below(&top, Vec::new(), node, target, false, mark.is_some());
                self.listings.open(1);
                Some(Task::List(Arc::new(job)))
            }
        }
    }

    /// What is known of an item. A side that does not report its limits does not limit.
    fn facts(
        &self,
        source: Arc<Side>,
        (path, directory_path): (Vec<u8>, Vec<u8>),
        (id, file_system): (u64, u64),
        node: &Node,
        target: &Handle,
    ) -> ItemFacts {
        let ask = |side: &Side, node: &Handle| side.file_system.limits(&side.caller, node).ok();
        let of_source = later({
            let (source, node) = (Arc::clone(&source), node.handle);
            move || ask(&source, &node)
        });
        let (to, ()) = at_once(
            || ask(&self.context.destination, target),
            || self.latency.time_source(&source, node, self.context.options.tuning.expected),
        );
        let step = |of: &Option<Limits>| of.map_or(0, |limits| u64::from(limits.time_step_nanoseconds));
        let one_writer = to.is_some_and(|limits| !limits.parallel_writes);
        ItemFacts {
            step: LazyLock::new(Box::new(move || step(&of_source).max(step(&to)))),
            one_writer: self.context.options.tuning.one_writer.unwrap_or(one_writer),
            passes_files: to.is_some_and(|limits| limits.passes_files),
            source,
            path,
            directory_path,
            id,
            file_system,
            marked_at: OnceLock::new(),
            has_left_files: AtomicBool::new(false),
        }
    }
}
