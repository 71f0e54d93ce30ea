//! What a record says, call by call: which nodes each is for, what must be there before the first one, and which waits for
//! which.

use std::collections::HashMap;

use howdah_capture::{Call, Kind};

use super::groups::{About, Does, Grouping, Membership};
use super::state::Names;
use super::world::{NodeId, World};

/// A call with its nodes.
#[derive(Debug, Clone, Default)]
pub(super) struct Step {
    /// What it is for.
    pub(super) node: Option<NodeId>,
    /// The directory that it leads to.
    pub(super) to: Option<NodeId>,
    /// What it finds or makes.
    pub(super) found: Option<NodeId>,
    /// The calls that it waits for.
    pub(super) membership: Membership,
}

/// All of them.
#[derive(Debug, Default)]
pub(super) struct Story {
    /// One for each call.
    pub(super) steps: Vec<Step>,
    /// What must be there before.
    pub(super) world: World,
    /// The calls that they wait for.
    pub(super) grouping: Grouping,
    ids: HashMap<String, NodeId>,
    names: Names,
}

impl Story {
    /// Of these calls, in the order in which they came.
    pub(super) fn of(calls: &[Call]) -> Self {
        let mut story = Self::default();
        for call in calls {
            let step = story.step(call);
            story.steps.push(step);
        }
        story
    }

    fn step(&mut self, call: &Call) -> Step {
        let mut step = Step {
            node: call.node.as_ref().map(|hash| self.id(hash)),
            to: call.to.as_ref().map(|hash| self.id(hash)),
            found: call.found.as_ref().map(|hash| self.id(hash)),
            membership: Membership::default(),
        };
        let is_lost = matches!(call.error.as_deref(), Some("STALE" | "BADHANDLE"));
        for id in step.node.into_iter().chain(step.to).filter(|_| !is_lost) {
            self.world.needs(id);
            self.joins(&mut step, About::Node(id), Does::Uses);
        }
        self.kinds(call, &step);
        self.sizes(call, &mut step);
        self.changes(call, &mut step);
        step
    }

    fn id(&mut self, hash: &str) -> NodeId {
        if let Some(id) = self.ids.get(hash) {
            return *id;
        }
        let id = self.world.add();
        self.ids.insert(hash.to_owned(), id);
        id
    }

    fn joins(&mut self, step: &mut Step, about: About, does: Does) {
        self.grouping.join(&mut step.membership, about, does);
    }

    /// What nodes are, as the answer or the procedure says.
    fn kinds(&mut self, call: &Call, step: &Step) {
        let mut is = |id: Option<NodeId>, kind: Option<Kind>| {
            if let (Some(id), Some(kind)) = (id, kind) {
                self.world.is(id, kind);
            }
        };
        is(step.node, call.kind);
        is(step.found, call.found_kind);
        is(step.to, Some(Kind::Directory));
        let by_procedure = match &*call.procedure {
            "READ" | "WRITE" | "COMMIT" => Some(Kind::File),
            "READLINK" => Some(Kind::Link),
            "READDIR" | "READDIRPLUS" => Some(Kind::Directory),
            "LINK" => None,
            _ => call.name.as_ref().map(|_| Kind::Directory),
        };
        is(step.node, by_procedure.filter(|_| call.error.is_none()));
    }

    /// How large nodes are, and what is read of them.
    fn sizes(&mut self, call: &Call, step: &mut Step) {
        if let (Some(found), Some(size)) = (step.found, call.found_size)
            && call.procedure == "LOOKUP"
        {
            self.world.has_size(found, size);
        }
        let Some(node) = step.node else { return };
        if let Some(size) = call.size {
            self.world.has_size(node, size);
        }
        let (offset, done) = (call.offset.unwrap_or_default(), call.done.unwrap_or_default());
        match &*call.procedure {
            "READ" => {
                self.world.was_read(node, offset, done);
                self.joins(step, About::Data(node), Does::Uses);
            }
            "WRITE" if call.error.is_none() && offset.saturating_add(done) > self.world.nodes[node].now => {
                (self.world.nodes[node].is_changed, self.world.nodes[node].now) = (true, offset + done);
                self.joins(step, About::Data(node), Does::Extends);
            }
            "SETATTR" if call.set_size.is_some() && call.error.is_none() => {
                let size = call.set_size.unwrap_or_default();
                (self.world.nodes[node].is_changed, self.world.nodes[node].now) = (true, size);
                self.joins(step, About::Data(node), Does::Changes);
            }
            "READDIR" | "READDIRPLUS" => {
                self.world.was_listed(node, call.entries.unwrap_or_default(), call.goes_on);
            }
            _ => {}
        }
    }

    /// Names that are looked up, made and removed.
    fn changes(&mut self, call: &Call, step: &mut Step) {
        let here = step.node.zip(call.name.clone()).filter(|(_, name)| !matches!(&**name, "." | ".."));
        let there = step.to.zip(call.to_name.clone());
        let error = call.error.as_deref();
        let about = |(directory, name): &(NodeId, String)| About::Name(*directory, name.clone());
        match (&*call.procedure, here, there) {
            ("LOOKUP", Some(here), _) => {
                self.joins(step, about(&here), Does::Uses);
                match (error, step.found) {
                    (None, Some(found)) => {
                        self.names.is_there(&mut self.world, here, Some(found), None);
                        self.joins(step, About::Node(found), Does::Uses);
                    }
                    (Some("NOENT"), _) => self.names.is_not_there(here),
                    _ => {}
                }
            }
            ("LOOKUP", None, _) => {
                // `.` and `..`: whatever is found must be there.
                if let (None, Some(found)) = (error, step.found) {
                    self.world.needs(found);
                    self.world.is(found, Kind::Directory);
                }
            }
            (procedure @ ("CREATE" | "MKDIR" | "SYMLINK" | "MKNOD"), Some(here), _) => {
                self.joins(step, about(&here), Does::Changes);
                let kind = made(procedure);
                match error {
                    None => self.makes(step, here, kind),
                    Some("EXIST") => {
                        self.names.is_there(&mut self.world, here, None, None);
                    }
                    _ => {}
                }
            }
            (procedure @ ("REMOVE" | "RMDIR"), Some(here), _) => {
                self.joins(step, about(&here), Does::Changes);
                let kind = removed(procedure, call);
                match error {
                    None => {
                        self.names.is_there(&mut self.world, here.clone(), None, kind);
                        self.goes(step, here);
                    }
                    Some("NOENT") => self.names.is_not_there(here),
                    Some("NOTEMPTY") => {
                        let kind = Some(Kind::Directory);
                        let id = self.names.is_there(&mut self.world, here, None, kind);
                        self.world.nodes[id].entries = self.world.nodes[id].entries.max(3);
                    }
                    Some("NOTDIR") => {
                        self.names.is_there(&mut self.world, here, None, Some(Kind::File));
                    }
                    Some("ISDIR") => {
                        self.names.is_there(&mut self.world, here, None, Some(Kind::Directory));
                    }
                    Some(_) => {}
                }
            }
            ("RENAME", Some(here), Some(there)) => {
                self.joins(step, about(&here), Does::Changes);
                self.joins(step, about(&there), Does::Changes);
                match error {
                    None => {
                        let id = self.names.is_there(&mut self.world, here.clone(), None, None);
                        self.goes(step, there.clone());
                        self.names.went(here);
                        self.names.came(there, id);
                    }
                    Some("NOENT") => self.names.is_not_there(here),
                    Some(_) => {}
                }
            }
            ("LINK", _, Some(there)) => {
                self.joins(step, about(&there), Does::Changes);
                match (error, step.node) {
                    (None, Some(node)) => self.names.came(there, node),
                    (Some("EXIST"), _) => {
                        self.names.is_there(&mut self.world, there, None, None);
                    }
                    _ => {}
                }
            }
            _ => {}
        }
    }

    /// A name that is made, or taken as it is.
    fn makes(&mut self, step: &mut Step, here: (NodeId, String), kind: Kind) {
        let known = self.names.now(&here);
        let id = match (step.found, known) {
            (Some(found), _) => found,
            (None, Some(known)) => known,
            (None, None) => self.world.add(),
        };
        step.found = Some(id);
        let node = &mut self.world.nodes[id];
        node.is_made |= !node.exists;
        node.kind.get_or_insert(kind);
        if node.exists && known.is_none() {
            // A file that was there already, whose name the record did not have so far.
            self.names.is_there(&mut self.world, here, Some(id), Some(kind));
        } else {
            self.names.came(here, id);
        }
        self.joins(step, About::Node(id), Does::Changes);
    }

    /// A name goes, and its node with it, for all that is known.
    fn goes(&mut self, step: &mut Step, place: (NodeId, String)) {
        if let Some(id) = self.names.now(&place) {
            self.joins(step, About::Node(id), Does::Changes);
        }
        self.names.went(place);
    }
}

/// What went. REMOVE of NFSv4 does not say whether it was a directory.
fn removed(procedure: &str, call: &Call) -> Option<Kind> {
    match procedure {
        "RMDIR" => Some(Kind::Directory),
        _ if call.operation.is_some() => None,
        _ => Some(Kind::File),
    }
}

fn made(procedure: &str) -> Kind {
    match procedure {
        "MKDIR" => Kind::Directory,
        "SYMLINK" => Kind::Link,
        "MKNOD" => Kind::Special,
        _ => Kind::File,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(text: &str) -> Call {
        serde_json::from_str(text).expect("a call")
    }

    fn story_of(lines: &[&str]) -> Story {
        Story::of(&lines.iter().map(|line| call(line)).collect::<Vec<_>>())
    }

    #[test]
    fn what_is_found_is_there_before_and_what_is_made_is_not() {
        let story = story_of(&[
            r#"{"procedure":"LOOKUP","node":"d","name":"old","found":"f","found_kind":"file","found_size":100}"#,
            r#"{"procedure":"LOOKUP","node":"d","name":"new","error":"NOENT"}"#,
            r#"{"procedure":"CREATE","node":"d","name":"new","found":"n","how":"guarded"}"#,
            r#"{"procedure":"WRITE","node":"n","offset":0,"count":50,"done":50}"#,
            r#"{"procedure":"READ","node":"f","offset":20,"count":50,"done":50,"size":100}"#,
            r#"{"procedure":"REMOVE","node":"d","name":"gone"}"#,
        ]);
        let world = &story.world;
        let names: Vec<&str> = world.names.iter().map(|(_, name, _)| name.as_str()).collect();
        assert_eq!(names, ["old", "gone"]);
        let (f, n) = (story.steps[0].found.expect("f"), story.steps[2].found.expect("n"));
        assert!(world.nodes[f].exists && !world.nodes[n].exists && world.nodes[n].is_made);
        assert_eq!((world.nodes[f].size, world.nodes[f].data()), (Some(100), vec![(20, 70)]));
        assert_eq!(world.nodes[story.steps[0].node.expect("d")].kind, Some(Kind::Directory));
    }

    #[test]
    fn a_file_is_as_large_as_before_it_was_written() {
        let story = story_of(&[
            r#"{"procedure":"WRITE","node":"f","offset":100,"count":50,"done":50,"size":100,"kind":"file"}"#,
            r#"{"procedure":"GETATTR","node":"f","size":150,"kind":"file"}"#,
            r#"{"procedure":"READ","node":"f","offset":0,"count":200,"done":150,"size":150}"#,
        ]);
        assert_eq!(story.world.nodes[0].size, Some(100));
    }

    #[test]
    fn remove_of_nfsv4_takes_whatever_is_there() {
        let story = story_of(&[
            r#"{"procedure":"REMOVE","operation":"REMOVE","node":"d","name":"full","error":"NOTEMPTY"}"#,
            r#"{"procedure":"MKDIR","operation":"CREATE","node":"d","name":"made","found":"m"}"#,
            r#"{"procedure":"REMOVE","operation":"REMOVE","node":"d","name":"made"}"#,
            r#"{"procedure":"REMOVE","operation":"REMOVE","node":"d","name":"old"}"#,
        ]);
        let kinds: Vec<_> =
            story.world.names.iter().map(|(.., node)| story.world.nodes[*node].kind).collect();
        assert_eq!(kinds, [Some(Kind::Directory), None], "that of the last one is not recorded");
    }

    #[test]
    fn a_renamed_file_is_found_under_its_new_name() {
        let story = story_of(&[
            r#"{"procedure":"RENAME","node":"d","name":"a","to":"e","to_name":"b"}"#,
            r#"{"procedure":"LOOKUP","node":"e","name":"b","found":"f","found_kind":"file","found_size":0}"#,
            r#"{"procedure":"LOOKUP","node":"d","name":"a","error":"NOENT"}"#,
        ]);
        let names: Vec<&str> = story.world.names.iter().map(|(_, name, _)| name.as_str()).collect();
        assert_eq!(names, ["a"], "and nothing is called b before");
    }
}
