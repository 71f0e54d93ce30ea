//! The copier: its state, its workers, and the loop that watches them.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock, OnceLock};
use std::thread::{self, Scope};
use std::time::{Duration, Instant};

use howdah_vfs::{Attributes, FileKind, FileSystem, FsError, Handle, Limits, Node};
use parking_lot::Mutex;

use super::at_once::{at_once, later};
use super::block_flight::BlockFlight;
use super::buffers::Buffers;
use super::crew::Crew;
use super::deletion::{Deletion, Extras, Tree};
use super::error::{Cause, CopyError, On, Trouble};
use super::links::LinkTable;
use super::ownership::Ownership;
use super::removal::{Budget, Change, SourceRoot};
use super::server_refusals::ServerRefusals;
use super::stack::Stack;
use super::stop_sign::StopSign;
use super::tally::{Tally, count};
use super::task::Task;
use super::tasks::{DirectoryJob, Entry, ItemFacts, LinkPart};
use super::unlocked::Unlocked;
use super::width::{INTERVAL, START, START_OF_ONE_WRITER, Width};
use super::{Bucket, CopyOptions, Event, Figures, Item, Observer, Side, Target, item, mark_in};

/// What is said when nothing is removed after all.
const NOT_DELETED: &str = "nothing was deleted, as not all of the source could be read";

/// How a copy ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Outcome {
    /// What was done.
    pub figures: Figures,
    /// Whether it was stopped before it was done.
    pub stopped: bool,
    /// The most workers that were used at once.
    pub jobs: usize,
    /// For how long somebody waited because the rate was bounded.
    pub held_back: Duration,
}

/// Copies items to one destination.
pub struct Copier {
    pub(super) destination: Side,
    /// The same as it is, without what guards an ordinary user: what the server copies goes here.
    pub(super) by_server: Side,
    pub(super) refused_by_server: ServerRefusals,
    pub(super) options: CopyOptions,
    pub(super) block: usize,
    pub(super) tally: Arc<Tally>,
    pub(super) observer: Arc<dyn Observer>,
    pub(super) stop: StopSign,
    pub(super) stack: Stack<Task>,
    pub(super) block_flight: BlockFlight,
    pub(super) buffers: Buffers,
    /// Somebody who had read a block had to wait for who writes.
    pub(super) outbox_was_full: AtomicBool,
    pub(super) links: Mutex<LinkTable<Entry>>,
    pub(super) bucket: Option<Mutex<Bucket>>,
    pub(super) ownership: Ownership,
    /// The destination let nobody give a file away.
    pub(super) keeps_owners: AtomicBool,
    /// How long a call of the farther side takes, in microseconds.
    latency: AtomicU64,
    /// A call of the source was among those.
    is_source_timed: AtomicBool,
    pub(super) start: Instant,
    /// Notes that were made already.
    noted: Mutex<Vec<&'static str>>,
    /// Listings that are not at their end.
    pub(super) listings: AtomicUsize,
    /// Something of a source could not be read.
    source_failed: AtomicBool,
    /// The roots of all sources.
    source_roots: OnceLock<Vec<SourceRoot>>,
    /// How many names may be removed still.
    pub(super) deletions_left: Budget,
    /// Where the user's own directories may be read-only.
    unlocked: Option<Arc<Unlocked>>,
    /// All who remove, and give modes back.
    crew: OnceLock<Crew>,
}

/// What a worker keeps from task to task.
pub(super) struct Worker {
    pub(super) number: usize,
    pub(super) buffer: Vec<u8>,
    /// For the other side, where both are read.
    pub(super) other: Vec<u8>,
}

impl Copier {
    /// A copier that has not begun.
    pub fn new(destination: Side, options: CopyOptions, observer: Arc<dyn Observer>) -> Self {
        let block = options.tuning.block;
        let block = options.rate.map_or(block, |rate| Bucket::smooth_block(rate, block));
        let by_server = destination.clone();
        let (destination, unlocked) = unlocked(destination, &options);
        Self {
            destination,
            by_server,
            refused_by_server: ServerRefusals::default(),
            block,
            tally: Arc::default(),
            observer,
            stop: StopSign::default(),
            stack: Stack::new(0),
            block_flight: BlockFlight::new(options.tuning.most_jobs, options.tuning.expected),
            buffers: Buffers::default(),
            ownership: Ownership::default(),
            keeps_owners: AtomicBool::new(false),
            latency: AtomicU64::new(0),
            is_source_timed: AtomicBool::new(false),
            outbox_was_full: AtomicBool::new(false),
            links: Mutex::new(LinkTable::new()),
            bucket: options.rate.map(|rate| Mutex::new(Bucket::new(rate))),
            start: Instant::now(),
            noted: Mutex::default(),
            listings: AtomicUsize::new(0),
            source_failed: AtomicBool::new(false),
            source_roots: OnceLock::new(),
            deletions_left: Budget::new(options.max_delete),
            unlocked,
            crew: OnceLock::new(),
            options,
        }
    }

    /// The figures, to be looked at while it runs.
    pub fn tally(&self) -> Arc<Tally> {
        Arc::clone(&self.tally)
    }

    /// What stops it.
    pub fn stop_sign(&self) -> StopSign {
        self.stop.clone()
    }

    /// Copies all items, and comes back when all is done or stopped. To be called once.
    pub fn run(&self, items: Vec<Item>) -> Outcome {
        let trees = if self.options.delete { Tree::of(&items) } else { Vec::new() };
        let _ = self.source_roots.set(trees.iter().map(Tree::root).collect());
        let rounds = item::rounds(items);
        let mut jobs = 0;
        // What is found in a round is not all while others are left.
        self.listings.fetch_add(rounds.len(), Ordering::Relaxed);
        for items in rounds {
            self.listings.fetch_sub(1, Ordering::Relaxed);
            if !self.stop.is_set() {
                jobs = jobs.max(self.run_round(items));
            }
        }
        self.delete(trees);
        if let Some(unlocked) = &self.unlocked
            && !unlocked.give_modes_back(&self.destination.caller, self.crew())
        {
            self.note("directories that were made writable for this copy could not get their modes back");
        }
        let held_back = self.bucket.as_ref().map_or(Duration::ZERO, |bucket| bucket.lock().held());
        Outcome { figures: self.tally.figures(), stopped: self.stop.is_set(), jobs, held_back }
    }

    /// Copies items at once, and comes back when that is done.
    fn run_round(&self, items: Vec<Item>) -> usize {
        let mut items = items.into_iter();
        // The first item measures the destination. Workers begin the others: each takes a round trip.
        let Some(first) = items.find_map(|item| self.begin(item)) else { return 0 };
        let others: Vec<Task> = items.map(|item| Task::Begin(Box::new(item))).collect();
        self.listings.fetch_add(others.len(), Ordering::Relaxed);
        let one_writer = first.has_one_writer();
        let processors = thread::available_parallelism().map_or(START, usize::from);
        let least = if one_writer { START_OF_ONE_WRITER.min(processors) } else { START };
        let mut width = Width::new(self.options.jobs, least, self.options.tuning.most_jobs);
        self.stack.begin([first].into_iter().chain(others));
        self.settle_listing_state();
        thread::scope(|scope| self.watch(scope, &mut width))
    }

    /// Starts workers and lets in more while that pays.
    fn watch<'s>(&'s self, scope: &'s Scope<'s, '_>, width: &mut Width) -> usize {
        let latency = Duration::from_micros(self.latency.load(Ordering::Relaxed));
        let many = width.for_small_files(latency, self.options.tuning.most_small_jobs);
        let mut started = 0;
        let mut before = (self.tally.figures(), Instant::now());
        loop {
            width.on_path(self.stack.wanted());
            let allowed = width.now().max(many);
            self.stack.allow(allowed, width.now());
            while self.stack.lacks_workers(started) {
                let number = started;
                let builder = thread::Builder::new().name(format!("copy-{number}"));
                if builder.spawn_scoped(scope, move || self.work(number)).is_err() {
                    // No more threads to be had: those there are do all.
                    assert!(started > 0, "the system refuses the first thread of a copy");
                    self.stack.has_all_workers();
                    break;
                }
                started += 1;
            }
            if self.stack.wait_for_end(INTERVAL) {
                return started;
            }
            let now = (self.tally.figures(), Instant::now());
            if now.1 - before.1 < INTERVAL {
                continue;
            }
            if self.block_flight.is_idle() {
                self.stack.want(0);
            }
            let of_no_use = self.outbox_was_full.swap(false, Ordering::Relaxed) || !self.stack.has_waiting();
            let bytes = now.0.copied_bytes.saturating_sub(before.0.copied_bytes);
            let files = (now.0.files + now.0.kept).saturating_sub(before.0.files + before.0.kept);
            width.on_interval(bytes, files, now.1 - before.1, of_no_use);
            before = now;
        }
    }

    fn work(&self, number: usize) {
        let mut worker = Worker { number, buffer: Vec::new(), other: Vec::new() };
        while let Some(task) = self.stack.take(number) {
            let _done = self.stack.until_done();
            match task {
                Task::Blocks(job) => self.work_on(&job, &mut worker),
                // What was not begun is left for the next run.
                _ if self.stop.is_set() => {}
                Task::Entry(entry) => self.copy_entry(entry, &mut worker),
                Task::Link(entry, copy) => self.link_entry(entry, copy, &mut worker),
                Task::List(directory) => self.list(&directory),
                Task::Begin(item) => {
                    self.begin(*item).into_iter().for_each(|task| self.stack.push(task));
                    self.listings.fetch_sub(1, Ordering::Relaxed);
                    self.settle_listing_state();
                }
            }
        }
    }

    /// The first task of an item.
    fn begin(&self, item: Item) -> Option<Task> {
        let Item { source, node, target, path, directory_path, id } = item;
        let paths = (path, directory_path);
        let file_system = node.attributes.file_system;
        match target {
            Target::Entry { directory, name } => {
                let attributes = || self.timed_attributes(&self.destination, &directory);
                let facts = || self.facts(source, paths.clone(), (id, file_system), &node, &directory);
                let is_file = node.attributes.kind == FileKind::Regular;
                let look =
                    || is_file.then(|| Box::new(self.look_for(&directory, &name, id, node.attributes.size)));
                let ((attributes, item), looked) = at_once(|| at_once(attributes, facts), look);
                let target = match attributes {
                    Ok(attributes) => Node { handle: directory, attributes },
                    Err(refused) => {
                        let cause = Cause::Refused(refused);
                        let trouble = Trouble::destination("find", cause);
                        self.report(&trouble.of(paths.1));
                        return None;
                    }
                };
                let parent = Arc::new(DirectoryJob::top(Arc::new(item), target));
                let part = LinkPart::Unknown;
                Some(Task::Entry(Entry { parent, name, node: Some(node), part, tries: 0, looked }))
            }
            Target::Directory(target) => {
                if self.latency.load(Ordering::Relaxed) == 0 {
                    let _ = self.timed_attributes(&self.destination, &target.handle);
                }
                let item = Arc::new(self.facts(source, paths, (id, file_system), &node, &target.handle));
                let top = Arc::new(DirectoryJob::top(Arc::clone(&item), target));
                let mark = mark_in(&self.destination, &target, id);
                mark.iter().for_each(|mark| item.is_marked_by(mark));
                count(&self.tally.found_nodes);
                let job = DirectoryJob::below(&top, Vec::new(), node, target, false, mark.is_some());
                self.listings.fetch_add(1, Ordering::Relaxed);
                Some(Task::List(Arc::new(job)))
            }
        }
    }

    /// The attributes of a node; how long that took is how long a call takes.
    fn timed_attributes(&self, side: &Side, node: &Handle) -> Result<Attributes, FsError> {
        let start = Instant::now();
        let attributes = side.attributes(node);
        self.note_latency(start.elapsed());
        attributes
    }

    fn note_latency(&self, took: Duration) {
        let took = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        self.latency.fetch_max(took.max(1), Ordering::Relaxed);
    }

    /// How long a call of the source takes, once for all items: a thousand of them far away would wait a thousand times. What is
    /// expected of the path says it without a call.
    fn time_source(&self, source: &Side, node: &Node) {
        if self.is_source_timed.swap(true, Ordering::Relaxed) {
            return;
        }
        match self.options.tuning.expected {
            Some(expected) => self.note_latency(expected.latency),
            None => _ = self.timed_attributes(source, &node.handle),
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
        let (to, ()) = at_once(|| ask(&self.destination, target), || self.time_source(&source, node));
        let step = |of: &Option<Limits>| of.map_or(0, |limits| u64::from(limits.time_step_nanoseconds));
        let one_writer = to.is_some_and(|limits| !limits.parallel_writes);
        ItemFacts {
            step: LazyLock::new(Box::new(move || step(&of_source).max(step(&to)))),
            one_writer: self.options.tuning.one_writer.unwrap_or(one_writer),
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

    /// Waits until so many bytes may be on their way; says whether to go on.
    pub(super) fn pace(&self, bytes: u64) -> bool {
        let Some(bucket) = &self.bucket else { return !self.stop.is_set() };
        let wait = bucket.lock().take(bytes, self.start.elapsed());
        self.stop.wait(wait)
    }

    pub(super) fn tell(&self, event: &Event<'_>) {
        self.observer.on_event(event);
    }

    /// Removes what sources do not have. Of a source that could not be read it is not known what it has.
    fn delete(&self, trees: Vec<Tree>) {
        if trees.is_empty() {
            return;
        }
        let roots = (self.source_roots(), &self.deletions_left, self.crew());
        let deletion = Deletion::new(&self.destination, &self.options, &self.stop, roots);
        let on_change = |change: Change<'_>| self.on_change(&change);
        let mut extras = Extras::default();
        let has_failed = || self.source_failed.load(Ordering::Relaxed);
        let readable = trees.iter().take_while(|_| !has_failed());
        readable.for_each(|tree| deletion.find(tree, &mut extras, &on_change));
        let may_empty = self.options.delete_all || self.options.max_delete.is_some();
        match extras.emptied().filter(|_| !may_empty) {
            _ if has_failed() => self.note(NOT_DELETED),
            Some(path) => {
                self.report(&Trouble::destination("delete what is in", Cause::EmptySource).of(path));
            }
            None => deletion.remove(extras, &on_change),
        }
    }

    /// The roots of sources that are mirrored.
    pub(super) fn source_roots(&self) -> &[SourceRoot] {
        self.source_roots.get().map_or(&[], |roots| &roots[..])
    }

    /// Something was removed, or could not be.
    pub(super) fn on_change(&self, change: &Change<'_>) {
        match change {
            Change::Removed(path) => {
                count(&self.tally.removed);
                self.tell(&Event::Removed { path });
            }
            Change::Failed(error) => self.report(error),
        }
    }

    /// Something was listed and is gone: the source has it no more.
    pub(super) fn on_vanished(&self, path: &[u8]) {
        count(&self.tally.vanished);
        self.tell(&Event::Vanished { path });
    }

    /// All who remove at the same time: as many as there are workers for small files, if that is allowed.
    pub(super) fn crew(&self) -> &Crew {
        self.crew.get_or_init(|| {
            let latency = Duration::from_micros(self.latency.load(Ordering::Relaxed));
            let width = Width::new(self.options.jobs, START, self.options.tuning.most_jobs);
            Crew::new(width.for_small_files(latency, self.options.tuning.most_small_jobs).max(width.now()))
        })
    }

    /// Counts and reports something that was not copied.
    pub(super) fn report(&self, error: &CopyError) {
        // The report at the end contains this once.
        if error.cause == Cause::Stopped {
            return;
        }
        // What changes all the time is there: nothing is removed in its place.
        let is_unknown = error.on == On::Source && error.cause != Cause::Changed;
        self.source_failed.fetch_or(is_unknown, Ordering::Relaxed);
        count(&self.tally.errors);
        self.tell(&Event::Failed(error));
    }

    /// Reports something once.
    pub(super) fn note(&self, text: &'static str) {
        let mut noted = self.noted.lock();
        if !noted.contains(&text) {
            noted.push(text);
            drop(noted);
            self.tell(&Event::Note(text));
        }
    }

    /// Whether the whole tree is known now.
    pub(super) fn settle_listing_state(&self) {
        let all = self.listings.load(Ordering::Relaxed) == 0;
        self.tally.found_all.store(u64::from(all), Ordering::Relaxed);
    }
}

/// The destination as an ordinary user may need it. The superuser may write everywhere, and a dry run writes nothing.
fn unlocked(destination: Side, options: &CopyOptions) -> (Side, Option<Arc<Unlocked>>) {
    if destination.caller.user == 0 || options.dry_run {
        return (destination, None);
    }
    let unlocked = Arc::new(Unlocked::around(Arc::clone(&destination.file_system)));
    let file_system = Arc::clone(&unlocked) as Arc<dyn FileSystem>;
    (Side { file_system, ..destination }, Some(unlocked))
}

impl DirectoryJob {
    /// Stands for the destination directory of an item.
    fn top(item: Arc<ItemFacts>, target: Node) -> Self {
        Self {
            parent: None,
            item,
            name: Vec::new(),
            node: None,
            target,
            fresh: false,
            marked: false,
            cookie: AtomicU64::new(0),
            circle: Mutex::default(),
            open: AtomicUsize::new(1),
            tries: 0,
            replacement: Mutex::default(),
        }
    }

    /// A directory in another one.
    pub(super) fn below(
        parent: &Arc<Self>,
        name: Vec<u8>,
        node: Node,
        target: Node,
        fresh: bool,
        marked: bool,
    ) -> Self {
        Self {
            parent: Some(Arc::clone(parent)),
            item: Arc::clone(&parent.item),
            name,
            node: Some(node),
            target,
            fresh,
            marked,
            cookie: AtomicU64::new(0),
            circle: Mutex::default(),
            open: AtomicUsize::new(1),
            tries: 0,
            replacement: Mutex::default(),
        }
    }
}
