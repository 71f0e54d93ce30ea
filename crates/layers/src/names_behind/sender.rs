//! Sends changes to the server, many at once, each as soon as its turn has come.

use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use bytes::Bytes;
use howdah_threads::{AtEnd, Threads};
use howdah_vfs::{
    AddLink, Attributes, Caller, Change, CommitFile, Content, Create, CreateFile, Data, FileKind, FsError,
    Handle, MakeDirectory, MakeLink, Name, NewAttributes, Node, ReadFile, Result, SetAttributes, SetTime,
    Stability, WriteFile,
};
use parking_lot::MutexGuard;

use super::change::{ChangeJob, ExpectedVictim, JobCall};
use super::conflict::conflict_name;
use super::order::ChangeNumber;
use super::shared::BehindShared;
use super::tree::MadeNode;

/// How long to wait before a change is sent again to a server that could not take it now.
const AGAIN: Duration = Duration::from_millis(100);
/// How often the data of a file is written again because the server lost it.
const LOST_MAX: usize = 8;

/// The threads that send. They end when this is dropped, and what is not sent then stays unsent.
pub struct Sender {
    shared: Arc<BehindShared>,
    thread: Option<JoinHandle<()>>,
}

impl Sender {
    pub fn start(shared: &Arc<BehindShared>) -> std::io::Result<Self> {
        let its = Arc::clone(shared);
        let thread = thread::Builder::new().name("names-behind".to_owned()).spawn(move || dispatch(&its))?;
        Ok(Self { shared: Arc::clone(shared), thread: Some(thread) })
    }
}

impl Drop for Sender {
    fn drop(&mut self) {
        self.shared.end();
        // Its panic was reported.
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

/// Hands changes to threads until the layer ends.
fn dispatch(shared: &Arc<BehindShared>) {
    let threads = Threads::new("names-sent", shared.options.in_flight, AtEnd::DropJobs);
    let mut log = shared.log.lock();
    while !shared.has_ended() {
        let due = log.let_go_due(shared.now());
        let mut jobs = Vec::new();
        while log.order.running() < shared.options.in_flight
            && let Some(job) = log.next_job()
        {
            jobs.push(Unrun { shared: Arc::clone(shared), job: Some(job) });
        }
        // What builds on something refused is over by now.
        shared.keep_only(&mut log);
        if log.outgoing.as_ref().is_some_and(|outgoing| !outgoing.refused.is_empty()) {
            MutexGuard::unlocked(&mut log, || shared.put_refused());
        }
        let wants_space = std::mem::take(&mut log.wants_space);
        log.space_is_asked |= wants_space;
        shared.over.notify_all();
        if !jobs.is_empty() || wants_space {
            // A job that is not run takes the lock when it is dropped.
            MutexGuard::unlocked(&mut log, || {
                if wants_space {
                    let its = Arc::clone(shared);
                    threads.run(move || its.ask_for_room(&Caller::ROOT));
                }
                jobs.into_iter().for_each(|mut job| threads.run(move || job.run()));
            });
            // What came meanwhile has woken nobody.
            continue;
        }
        match due {
            Some(due) => _ = shared.work.wait_for(&mut log, due.saturating_sub(shared.now())),
            None => shared.work.wait(&mut log),
        }
    }
}

/// A change on its way. One that no thread runs is refused, so that nobody waits for it.
struct Unrun {
    shared: Arc<BehindShared>,
    job: Option<ChangeJob>,
}

impl Unrun {
    fn run(&mut self) {
        let Some(job) = &self.job else { return };
        let outcome = self.shared.send(job);
        let number = job.number;
        self.job = None;
        self.shared.ended(number, outcome);
    }
}

impl Drop for Unrun {
    fn drop(&mut self) {
        if let Some(job) = self.job.take() {
            self.shared.ended(job.number, Err(FsError::Io));
        }
    }
}

/// What came of a change: `None` if it is over already.
type Outcome = Result<Option<()>>;

impl BehindShared {
    fn ended(&self, number: ChangeNumber, outcome: Outcome) {
        // What could not be sent to the end is no refusal: a journal keeps it for the next layer.
        if self.has_ended() && outcome.is_err() {
            return;
        }
        let now = self.now();
        let mut log = self.log.lock();
        log.answered(now);
        match outcome {
            Ok(None) => {}
            Ok(Some(())) => log.over(number, Ok(())),
            Err(error) => log.over(number, Err(error)),
        }
        self.keep_only(&mut log);
        drop(log);
        self.put_refused();
        self.over.notify_all();
        self.work.notify_one();
    }

    /// Sends one change; gives what the server says of it.
    fn send(&self, job: &ChangeJob) -> Outcome {
        let ChangeJob { number, caller, call, is_replayed } = job;
        // Nothing is sent that this host could forget.
        self.sync_journal();
        match call {
            JobCall::Make { directory, name, what, new, made } => {
                let place = (directory, name.as_slice());
                return self.send_new(*number, caller, place, (what, *made), new).map(|()| None);
            }
            JobCall::Set { node, new } => self.again(|| {
                self.inner.set_attributes(caller, SetAttributes::new(node, new, None), &mut Change::default())
            }),
            JobCall::Commit { node, shown } => self.again(|| self.closed(caller, shown, node)),
            JobCall::Remove { directory, name, is_directory, victim } => {
                let place = (directory, parsed(name)?);
                let leads = |node: &Handle| self.leads(caller, place, node);
                match *is_replayed && !victim.node.as_ref().map_or(Ok(false), leads)? {
                    // It is gone already, or the name is of another node by now.
                    true => Ok(()),
                    false => self.send_removal(caller, place, *is_directory, *victim),
                }
            }
            JobCall::Rename { node, from, to, replaces } => {
                let (from, to) = ((&from.0, parsed(&from.1)?), (&to.0, parsed(&to.1)?));
                let changes = &mut (Change::default(), Change::default());
                if *is_replayed && self.was_renamed(caller, from, to, (node, replaces.node.as_ref()))? {
                    return Ok(Some(()));
                }
                let outcome = self.again(|| match self.may_rename(caller, (from, to), node, *replaces)? {
                    true => self.inner.rename(caller, from, to, (&mut changes.0, &mut changes.1)),
                    false => Ok(()),
                });
                self.done_before(caller, outcome, FsError::NotFound, (to.0, to.1), node)
            }
            JobCall::Link { node, directory, name } => {
                let name = parsed(name)?;
                let link = AddLink::new(node, directory, name);
                let outcome = self.again(|| self.inner.link(caller, link, &mut Change::default()).map(drop));
                self.done_before(caller, outcome, FsError::Exists, (directory, name), node)
            }
        }
        .map(Some)
    }

    /// Makes a call until the server takes or refuses it: one that is away is waited for.
    fn again<T>(&self, mut call: impl FnMut() -> Result<T>) -> Result<T> {
        while !self.has_ended() {
            match call() {
                Err(FsError::Delay | FsError::TimedOut) => thread::sleep(AGAIN),
                outcome => return outcome,
            }
        }
        Err(FsError::TimedOut)
    }

    /// A call whose reply was lost is made again, and finds what it has done: the name leads to the node.
    fn done_before(
        &self,
        caller: &Caller,
        outcome: Result<()>,
        telling: FsError,
        (directory, name): (&Handle, Name<'_>),
        node: &Handle,
    ) -> Result<()> {
        let leads = || self.leads(caller, (directory, name), node) == Ok(true);
        if outcome == Err(telling) && leads() { Ok(()) } else { outcome }
    }

    /// Whether a name leads to a node at the server.
    fn leads(&self, caller: &Caller, place: (&Handle, Name<'_>), node: &Handle) -> Result<bool> {
        Ok(self.leads_to(caller, place)? == Some(*node))
    }

    /// Where a name leads at the server.
    fn leads_to(&self, caller: &Caller, place: (&Handle, Name<'_>)) -> Result<Option<Handle>> {
        let found = self.again(|| self.leads_now(caller, place))?;
        Ok(found.map(|found| found.handle))
    }

    /// Whether an earlier process has renamed a node. Much time may have passed: what others have put under either name since stays.
    fn was_renamed(
        &self,
        caller: &Caller,
        from: (&Handle, Name<'_>),
        to: (&Handle, Name<'_>),
        (node, replaced): (&Handle, Option<&Handle>),
    ) -> Result<bool> {
        let there = self.leads_to(caller, to)?;
        if !self.leads(caller, from, node)? {
            return if there == Some(*node) { Ok(true) } else { Err(FsError::NotFound) };
        }
        match there {
            Some(there) if Some(&there) != replaced && there != *node => Err(FsError::Exists),
            _ => Ok(false),
        }
    }

    /// A file that an earlier process made, and may have written in part. If it holds anything else by now, others have written it.
    fn made_before(
        &self,
        number: ChangeNumber,
        caller: &Caller,
        (directory, name): (&Handle, &[u8]),
        (handle, new): (Handle, &NewAttributes),
    ) -> Result<Node> {
        let attributes = self.again(|| self.inner.attributes(caller, &handle))?;
        if !self.leads(caller, (directory, parsed(name)?), &handle)? {
            // It has another name, since another host had made one of its own.
            self.log.lock().is_elsewhere(number);
        }
        let is_untouched = attributes.size == 0 || new.modified == SetTime::To(attributes.modified);
        if attributes.kind == FileKind::Regular && !is_untouched {
            let mut there = Vec::new();
            let most = usize::try_from(attributes.size).unwrap_or(usize::MAX).min(self.options.small);
            while there.len() < most {
                let (offset, count) = (there.len() as u64, most - there.len());
                let read = self.again(|| {
                    let wanted = count.min(self.options.write_size);
                    self.inner.read(caller, ReadFile::new(&handle, offset, wanted), &mut there)
                })?;
                if let Content::Bytes(bytes) = read.copied(&mut there)?.content {
                    there.extend_from_slice(&bytes);
                }
                if there.len() as u64 == offset {
                    break;
                }
            }
            if there.len() as u64 != attributes.size || !self.log.lock().may_have_sent(number, &there) {
                return Err(FsError::Exists);
            }
        }
        Ok(Node { handle, attributes })
    }

    /// What is gone already need not be removed: another host did it, or a reply was lost.
    fn send_removal(
        &self,
        caller: &Caller,
        (directory, name): (&Handle, Name<'_>),
        is_directory: bool,
        victim: ExpectedVictim,
    ) -> Result<()> {
        let outcome = self.again(|| {
            let change = &mut Change::default();
            match is_directory {
                true => self.inner.remove_directory(caller, directory, name, change),
                false => match self.is_as_seen(caller, (directory, name), victim)? {
                    true => self.inner.remove(caller, directory, name, change),
                    false => Ok(()),
                },
            }
        });
        if outcome == Err(FsError::NotFound) { Ok(()) } else { outcome }
    }

    /// Makes a node, and what belongs to it: data, then attributes.
    fn send_new(
        &self,
        number: ChangeNumber,
        caller: &Caller,
        place: (&Handle, &[u8]),
        (what, made): (&MadeNode, Option<Handle>),
        new: &NewAttributes,
    ) -> Result<()> {
        let Node { handle, mut attributes } = match made {
            // If it is gone, another host removed it: it is not made again.
            Some(handle) => self.made_before(number, caller, place, (handle, new))?,
            None => self.again(|| self.make_or_adopt(number, caller, place, what, new))?,
        };
        {
            let mut log = self.log.lock();
            log.made(number, handle);
            self.keep_only(&mut log);
        }
        self.over.notify_all();
        let mut lost = 0;
        // The time that shows whose a file is will be overwritten, and what is replayed must hold all that was sent: a file whose end the
        // journal does not know would be cut.
        let keep = || {
            if *what == MadeNode::File {
                self.sync_journal();
            }
        };
        loop {
            let unsent = {
                let mut log = self.log.lock();
                let unsent = log.take_unsent(number, self.options.write_size);
                self.keep_only(&mut log);
                unsent
            };
            if !unsent.is_empty() {
                keep();
                attributes = self.write_all(caller, &handle, unsent, &mut lost, number)?;
            }
            let unset = self.log.lock().take_unset(number, &attributes);
            if let Some(unset) = unset {
                keep();
                attributes = self.set(caller, &handle, &unset)?;
            }
            let mut log = self.log.lock();
            let is_finished = log.finish(number, &attributes, self.now());
            // Before anybody changes it at the server.
            self.keep_only(&mut log);
            if is_finished {
                return Ok(());
            }
        }
    }

    fn set(&self, caller: &Caller, node: &Handle, new: &NewAttributes) -> Result<Attributes> {
        let mut change = Change::default();
        self.again(|| self.inner.set_attributes(caller, SetAttributes::new(node, new, None), &mut change))?;
        self.after(caller, node, &change)
    }

    fn after(&self, caller: &Caller, node: &Handle, change: &Change) -> Result<Attributes> {
        change.after.map_or_else(|| self.again(|| self.inner.attributes(caller, node)), Ok)
    }

    /// Writes pieces so that they are durable.
    fn write_all(
        &self,
        caller: &Caller,
        node: &Handle,
        pieces: Vec<(u64, Bytes)>,
        lost: &mut usize,
        number: ChangeNumber,
    ) -> Result<Attributes> {
        let mut change = Change::default();
        let how = if pieces.len() == 1 { Stability::FileSync } else { Stability::Unstable };
        let mut verifiers = Vec::new();
        for (offset, data) in pieces {
            let mut done = 0;
            while done < data.len() {
                let at = offset + done as u64;
                let written = self.again(|| {
                    let data = Data::Shared(data.slice(done..));
                    self.inner.write(caller, WriteFile::new(node, at, data, how), &mut change)
                })?;
                if written.count == 0 {
                    return Err(FsError::Io);
                }
                done += written.count;
                if written.stability == Stability::Unstable {
                    verifiers.push(written.verifier);
                }
            }
        }
        if let Some(first) = verifiers.first() {
            let closed =
                self.again(|| self.inner.commit(caller, CommitFile::new(node, 0, 0), &mut change))?;
            if verifiers.iter().any(|verifier| verifier != first) || closed.verifier != *first {
                *lost += 1;
                if *lost > LOST_MAX {
                    return Err(FsError::Io);
                }
                self.log.lock().send_again(number);
            }
        }
        self.after(caller, node, &change)
    }

    /// Makes a node. If the name is taken: by an earlier try of this call, whose reply was lost; by a node that serves as well; or by
    /// another host's, beside which ours goes.
    fn make_or_adopt(
        &self,
        number: ChangeNumber,
        caller: &Caller,
        (directory, name): (&Handle, &[u8]),
        what: &MadeNode,
        new: &NewAttributes,
    ) -> Result<Node> {
        let name = parsed(name)?;
        match self.make(caller, (directory, name), what, new) {
            Err(FsError::Exists) => {}
            outcome => return outcome,
        }
        let there = self.inner.lookup(caller, directory, name)?.node;
        if self.is_as_good(caller, &there, what, new)? {
            self.log.lock().adopted(number);
            return Ok(there);
        }
        let beside = conflict_name(name.as_bytes(), number);
        let beside_name = parsed(&beside)?;
        let made = self.make(caller, (directory, beside_name), what, new)?;
        self.log.lock().conflicted(number, &beside);
        Ok(made)
    }

    fn is_as_good(
        &self,
        caller: &Caller,
        there: &Node,
        what: &MadeNode,
        new: &NewAttributes,
    ) -> Result<bool> {
        Ok(match what {
            MadeNode::Directory => there.attributes.kind == FileKind::Directory,
            MadeNode::File => {
                there.attributes.kind == FileKind::Regular
                    && there.attributes.size == 0
                    && new.modified == SetTime::To(there.attributes.modified)
            }
            MadeNode::Link(target) => {
                let mut its = Vec::new();
                there.attributes.kind == FileKind::SymbolicLink
                    && self.inner.read_link(caller, &there.handle, &mut its).map(|_| its == **target)?
            }
        })
    }

    fn make(
        &self,
        caller: &Caller,
        (directory, name): (&Handle, Name<'_>),
        what: &MadeNode,
        new: &NewAttributes,
    ) -> Result<Node> {
        let change = &mut Change::default();
        match what {
            MadeNode::File => {
                let how = Create::Guarded(*new);
                self.inner.create(caller, CreateFile::new(directory, name, &how), change)
            }
            MadeNode::Directory => {
                self.inner.make_directory(caller, MakeDirectory::new(directory, name, new), change)
            }
            MadeNode::Link(target) => {
                self.inner.make_link(caller, MakeLink::new(directory, name, target, new), change)
            }
        }
    }
}

fn parsed(name: &[u8]) -> Result<Name<'_>> {
    Name::parse(name).map_err(|error| error.refusal())
}
