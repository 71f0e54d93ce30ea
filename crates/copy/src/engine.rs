//! The copier: puts its parts together, and runs them by workers in a loop that watches these.

use std::sync::Arc;
use std::thread::{self, Scope};
use std::time::{Duration, Instant};

use howdah_vfs::FileSystem;

use super::begin::Beginning;
use super::block::Blocks;
use super::by_server::ServerCopy;
use super::context::Context;
use super::decide::Decision;
use super::deletion::Tree;
use super::directory_end::DirectoryEnd;
use super::failure::Failures;
use super::file::Files;
use super::finish::Finish;
use super::hard_links::HardLinks;
use super::latency::Latency;
use super::link_name::LinkNames;
use super::listing::Listings;
use super::metadata::Metadata;
use super::mirror::Mirror;
use super::node::Nodes;
use super::pace::Pace;
use super::placement::Placement;
use super::stack::Stack;
use super::stop_sign::StopSign;
use super::tally::Tally;
use super::task::Task;
use super::transfer::Transfer;
use super::unlocked::Unlocked;
use super::walk::Walk;
use super::width::{INTERVAL, START, START_OF_ONE_WRITER, Width};
use super::worker::Worker;
use super::{CopyOptions, Figures, Item, Observer, Side, item};

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
    context: Arc<Context>,
    stack: Arc<Stack<Task>>,
    pace: Arc<Pace>,
    latency: Arc<Latency>,
    listings: Arc<Listings>,
    mirror: Arc<Mirror>,
    /// Where the user's own directories may be read-only.
    unlocked: Option<Arc<Unlocked>>,
    beginning: Beginning,
    walk: Walk,
    blocks: Arc<Blocks>,
    transfer: Arc<Transfer>,
}

impl Copier {
    /// A copier that has not begun.
    pub fn new(destination: Side, options: CopyOptions, observer: Arc<dyn Observer>) -> Self {
        let (as_it_is, (destination, unlocked)) = (destination.clone(), unlocked(destination, &options));
        let context = Arc::new(Context::new(destination, options, observer));
        let stack = Arc::new(Stack::new(0));
        let pace = Arc::new(Pace::new(context.options.rate, context.stop.clone()));
        let latency = Arc::<Latency>::default();
        let listings = Arc::new(Listings::new(Arc::clone(&context.tally)));
        let mirror = Arc::new(Mirror::new(context.clone(), latency.clone()));
        let placement = Arc::new(Placement::new(context.clone(), mirror.clone()));
        let metadata = Arc::new(Metadata::new(context.clone()));
        let links = Arc::new(HardLinks::new(stack.clone()));
        let ends = Arc::new(DirectoryEnd::new(context.clone(), stack.clone(), metadata.clone()));
        let settles = (links.clone(), ends.clone());
        let failures = Arc::new(Failures::new(context.clone(), stack.clone(), settles.clone()));
        let transfer = Arc::new(Transfer::new(context.clone(), stack.clone(), failures.clone()));
        let completes = (metadata.clone(), placement.clone());
        let finish = Finish::new(context.clone(), completes, settles.clone(), failures.clone());
        let moves = (ServerCopy::new(context.clone(), as_it_is), transfer.clone());
        let ended = (finish, failures);
        let blocks = Arc::new(Blocks::new(context.clone(), stack.clone(), pace.clone(), moves, ended));
        let decision = Decision::new(context.clone(), pace.clone(), placement.clone());
        let files = Files::new(
            context.clone(),
            links.clone(),
            decision,
            (metadata.clone(), pace.clone()),
            blocks.clone(),
        );
        let link_names = LinkNames::new(context.clone(), placement.clone());
        let nodes = Nodes::new(context.clone(), stack.clone(), links, placement, metadata);
        let walked = (stack.clone(), listings.clone());
        let walk = Walk::new(context.clone(), walked, mirror.clone(), settles, (files, nodes, link_names));
        let beginning = Beginning::new(context.clone(), latency.clone(), listings.clone());
        Self { context, stack, pace, latency, listings, mirror, unlocked, beginning, walk, blocks, transfer }
    }

    /// The figures, to be looked at while it runs.
    pub fn tally(&self) -> Arc<Tally> {
        Arc::clone(&self.context.tally)
    }

    /// What stops it.
    pub fn stop_sign(&self) -> StopSign {
        self.context.stop.clone()
    }

    /// Copies all items, and comes back when all is done or stopped. To be called once.
    pub fn run(&self, items: Vec<Item>) -> Outcome {
        let trees = if self.context.options.delete { Tree::of(&items) } else { Vec::new() };
        self.mirror.begin(&trees);
        let rounds = item::rounds(items);
        let mut jobs = 0;
        // What is found in a round is not all while others are left.
        self.listings.open(rounds.len());
        for items in rounds {
            self.listings.close();
            if !self.context.stop.is_set() {
                jobs = jobs.max(self.run_round(items));
            }
        }
        self.mirror.delete(trees);
        if let Some(unlocked) = &self.unlocked
            && !unlocked.give_modes_back(&self.context.destination.caller, self.mirror.crew())
        {
            self.context
                .note("directories that were made writable for this copy could not get their modes back");
        }
        let held_back = self.pace.held_back();
        Outcome {
            figures: self.context.tally.figures(),
            stopped: self.context.stop.is_set(),
            jobs,
            held_back,
        }
    }

    /// Copies items at once, and comes back when that is done.
    fn run_round(&self, items: Vec<Item>) -> usize {
        let mut items = items.into_iter();
        // The first item measures the destination. Workers begin the others: each takes a round trip.
        let Some(first) = items.find_map(|item| self.beginning.first_task(item)) else { return 0 };
        let others: Vec<Task> = items.map(|item| Task::Begin(Box::new(item))).collect();
        self.listings.open(others.len());
        let one_writer = first.has_one_writer();
        let processors = thread::available_parallelism().map_or(START, usize::from);
        let least = if one_writer { START_OF_ONE_WRITER.min(processors) } else { START };
        let mut width = Width::new(self.context.options.jobs, least, self.context.options.tuning.most_jobs);
        self.stack.begin([first].into_iter().chain(others));
        self.listings.settle();
        thread::scope(|scope| self.watch(scope, &mut width))
    }

    /// Starts workers and lets in more while that pays.
    fn watch<'s>(&'s self, scope: &'s Scope<'s, '_>, width: &mut Width) -> usize {
        let many = width.for_small_files(self.latency.known(), self.context.options.tuning.most_small_jobs);
        let mut started = 0;
        let mut before = (self.context.tally.figures(), Instant::now());
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
            let now = (self.context.tally.figures(), Instant::now());
            if now.1 - before.1 < INTERVAL {
                continue;
            }
            if self.transfer.is_idle() {
                self.stack.want(0);
            }
            let of_no_use = self.transfer.waited_for_writer() || !self.stack.has_waiting();
            let bytes = now.0.copied_bytes.saturating_sub(before.0.copied_bytes);
            let files = (now.0.files + now.0.kept).saturating_sub(before.0.files + before.0.kept);
            width.on_interval(bytes, files, now.1 - before.1, of_no_use);
            before = now;
        }
    }

    fn work(&self, number: usize) {
        let mut worker = Worker::new(number);
        while let Some(task) = self.stack.take(number) {
            let _done = self.stack.until_done();
            match task {
                Task::Blocks(job) => self.blocks.work_on(&job, &mut worker),
                // What was not begun is left for the next run.
                _ if self.context.stop.is_set() => {}
                Task::Entry(entry) => self.walk.copy_entry(entry, &mut worker),
                Task::Link(entry, copy) => self.walk.link_entry(entry, &copy, &mut worker),
                Task::List(directory) => self.walk.list(&directory),
                Task::Begin(item) => {
                    self.beginning.first_task(*item).into_iter().for_each(|task| self.stack.push(task));
                    self.listings.close();
                    self.listings.settle();
                }
            }
        }
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
