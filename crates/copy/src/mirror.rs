//! Removal at the destination: what sources do not have, when all is copied, and what is in the way of a copy.

use std::sync::{Arc, OnceLock};

use howdah_vfs::Node;

use super::Existing;
use super::context::Context;
use super::crew::Crew;
use super::deletion::{Deletion, Extras, Tree};
use super::error::{Cause, Step, Trouble};
use super::latency::Latency;
use super::removal::{Budget, Change, Removal, SourceRoot};
use super::tasks::Entry;
use super::width::{START, Width};

/// Reported when nothing is removed.
const NOT_DELETED: &str = "nothing was deleted, as not all of the source could be read";

/// Removes names at the destination.
pub(super) struct Mirror {
    context: Arc<Context>,
    latency: Arc<Latency>,
    /// The roots of all sources.
    source_roots: OnceLock<Vec<SourceRoot>>,
    /// How many names may be removed still.
    left: Budget,
    /// All who remove, and give modes back.
    crew: OnceLock<Crew>,
}

impl Mirror {
    /// Of a copy that has not begun.
    pub(super) fn new(context: Arc<Context>, latency: Arc<Latency>) -> Self {
        Self {
            latency,
            source_roots: OnceLock::new(),
            left: Budget::new(context.options.max_delete),
            crew: OnceLock::new(),
            context,
        }
    }

    /// These are mirrored: their roots are never removed.
    pub(super) fn begin(&self, trees: &[Tree]) {
        let _ = self.source_roots.set(trees.iter().map(Tree::root).collect());
    }

    /// All who remove at the same time: as many as there are workers for small files, if that is allowed.
    pub(super) fn crew(&self) -> &Crew {
        self.crew.get_or_init(|| {
            let width = Width::new(self.context.options.jobs, START, self.context.options.tuning.most_jobs);
            Crew::new(
                width
                    .for_small_files(self.latency.known(), self.context.options.tuning.most_small_jobs)
                    .max(width.now()),
            )
        })
    }

    /// The roots of sources that are mirrored.
    fn source_roots(&self) -> &[SourceRoot] {
        self.source_roots.get().map_or(&[], |roots| &roots[..])
    }

    /// Removes what sources do not have. Of a source that could not be read it is not known what it has.
    pub(super) fn delete(&self, trees: Vec<Tree>) {
        if trees.is_empty() {
            return;
        }
        let roots = (self.source_roots(), &self.left, self.crew());
        let deletion =
            Deletion::new(&self.context.destination, &self.context.options, &self.context.stop, roots);
        let on_change = |change: Change<'_>| self.context.on_change(&change);
        let mut extras = Extras::default();
        let has_failed = || self.context.has_source_failed();
        let readable = trees.iter().take_while(|_| !has_failed());
        readable.for_each(|tree| deletion.find(tree, &mut extras, &on_change));
        let may_empty = self.context.options.delete_all || self.context.options.max_delete.is_some();
        match extras.emptied().filter(|_| !may_empty) {
            _ if has_failed() => self.context.note(NOT_DELETED),
            Some(path) => {
                self.context.report(&Trouble::destination("delete what is in", Cause::EmptySource).of(path));
            }
            None => deletion.remove(extras, &on_change),
        }
    }

    /// Whether what has the name may be removed with all in it: in a mirror the source does not have it. What was named on the command
    /// line is not in a mirror.
    pub(super) fn may_make_way(&self, entry: &Entry) -> bool {
        self.context.options.delete
            && self.context.options.existing != Existing::Keep
            && entry.parent.node.is_some()
    }

    /// Removes what is there. A link goes itself, not what it leads to.
    pub(super) fn make_way(&self, entry: &Entry, there: &Node) -> Step<()> {
        let path = entry.path_in_source();
        let own = entry.parent.target_path_of(&entry.name);
        let shown = |below: &[u8]| [&own[..], &below[path.len()..]].concat();
        let removal = Removal {
            side: &self.context.destination,
            options: &self.context.options,
            stop: &self.context.stop,
            crew: self.crew(),
            sources: self.source_roots(),
            file_system: entry.parent.target.attributes.file_system,
            left: &self.left,
            // No copy resumes in a directory that the source has no more.
            takes_unfinished: true,
            shown: &shown,
            on_change: &|change| self.context.on_change(&change),
        };
        match removal.remove((&entry.parent.target, &entry.name), there, &path, 0) {
            true => Ok(()),
            false if self.context.stop.is_set() => Err(Trouble::destination("replace", Cause::Stopped)),
            false => Err(Trouble::destination("replace", Cause::InTheWay(there.attributes.kind))),
        }
    }
}
