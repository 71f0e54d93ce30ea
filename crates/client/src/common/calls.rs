//! Calls of the trait that the clients of all versions of NFS hand on alike.

/// These calls, as methods of a `FileSystem`: each goes to the method of the client that makes it. Their types are imported by the file
/// that has the `FileSystem`.
macro_rules! common_calls {
    () => {
        fn waits(&self) -> bool {
            true
        }

        fn attributes(&self, caller: &Caller, node: &Handle) -> Result<Attributes> {
            self.note_root(node, self.get_attributes(caller, node))
        }

        fn lookup(&self, caller: &Caller, directory: &Handle, name: Name<'_>) -> Result<Found> {
            self.note_root(directory, self.look_up(caller, directory, name.as_bytes()))
        }

        fn parent(&self, caller: &Caller, directory: &Handle) -> Result<Found> {
            self.look_up_parent(caller, directory)
        }

        fn access(&self, caller: &Caller, node: &Handle, wanted: Access) -> Result<(Access, Attributes)> {
            self.note_root(node, self.check_access(caller, node, wanted))
        }

        fn read_link(&self, caller: &Caller, node: &Handle, target: &mut Vec<u8>) -> Result<Attributes> {
            self.read_target(caller, node, target)
        }

        fn read(
            &self,
            caller: &Caller,
            ReadFile { node, offset, count }: ReadFile<'_>,
            buffer: &mut Vec<u8>,
        ) -> Result<ReadOutcome> {
            self.read_range(ReadRange { caller, node, offset, count }, buffer)
        }

        fn rename(
            &self,
            caller: &Caller,
            from: (&Handle, Name<'_>),
            to: (&Handle, Name<'_>),
            changes: (&mut Change, &mut Change),
        ) -> Result<()> {
            self.rename_node(caller, from, to, changes)
        }

        fn read_directory(
            &self,
            caller: &Caller,
            ListDirectory { directory, cookie, detail }: ListDirectory<'_>,
            sink: &mut dyn FnMut(Entry<'_>) -> ControlFlow<()>,
        ) -> Result<Listing> {
            self.list(caller, directory, cookie, detail, sink)
        }

        fn statistics(&self, caller: &Caller, node: &Handle) -> Result<Statistics> {
            self.told_statistics(caller, node)
        }

        fn limits(&self, caller: &Caller, node: &Handle) -> Result<Limits> {
            self.told_limits(caller, node)
        }
    };
}
pub(crate) use common_calls;
