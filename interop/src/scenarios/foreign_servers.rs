//! Our client on servers that nobody here wrote: the conformance suite, and data over all lanes.

use std::time::Duration;

use super::kernel_client::BASE;
use crate::scenario::{Difference, Drive, Peer, Scenario, ServerKind, Transport};

const MIB: u64 = 1 << 20;
/// The suite takes seconds; this is for machines that are busy, and for ordinary users, whose way to the guest is narrow.
const LIMIT: Duration = Duration::from_secs(900);
const SIZES: &[(&str, u64, u64)] = &[("SIZE", 256 * MIB, 32 * MIB)];
const LANES: &[usize] = &[1, 4];

const LINUX: ServerKind = ServerKind::LinuxKernel("ext4");
const GANESHA: ServerKind = ServerKind::Ganesha("VFS");

pub const SCENARIOS: &[Scenario] = &[
    Scenario {
        name: "linux-server-tcp",
        about: "our client on the Linux kernel's server: the conformance suite, and data, over one lane and over four",
        peer: driven(LINUX, Transport::Tcp),
        sizes: SIZES,
        limit: LIMIT,
        ..BASE
    },
    Scenario {
        name: "linux-server-nfs4",
        about: "our client of NFSv4.2 on the Linux kernel's server: the same",
        peer: driven_by(LINUX, NFS42, LINUX_DIFFERS_BY_NFS4),
        sizes: SIZES,
        limit: LIMIT,
        ..BASE
    },
    Scenario {
        name: "linux-server-nfs4-newer",
        about: "our client of NFSv4.2 on the server of a newer Linux kernel: the same",
        peer: driven_by(LINUX, NFS42, LINUX_DIFFERS_BY_NFS4),
        sizes: SIZES,
        limit: LIMIT,
        newer_guest: true,
        ..BASE
    },
    Scenario {
        name: "linux-server-udp",
        about: "the same in datagrams",
        peer: driven(LINUX, Transport::Udp),
        sizes: SIZES,
        limit: LIMIT,
        ..BASE
    },
    Scenario {
        name: "ganesha-tcp",
        about: "our client on NFS-Ganesha: the conformance suite, and data, over one lane and over four",
        peer: driven(GANESHA, Transport::Tcp),
        sizes: SIZES,
        limit: LIMIT,
        privileged: true,
        ..BASE
    },
    Scenario {
        name: "ganesha-nfs4",
        about: "our client of NFSv4.2 on NFS-Ganesha: the same",
        peer: driven_by(GANESHA, NFS42, GANESHA_DIFFERS_BY_NFS4),
        sizes: SIZES,
        limit: LIMIT,
        privileged: true,
        ..BASE
    },
    Scenario {
        name: "ganesha-udp",
        about: "the same in datagrams",
        peer: driven(GANESHA, Transport::Udp),
        sizes: SIZES,
        limit: LIMIT,
        privileged: true,
        ..BASE
    },
];

const fn driven(kind: ServerKind, transport: Transport) -> Peer {
    let differences = match kind {
        ServerKind::LinuxKernel(_) => LINUX_DIFFERS,
        ServerKind::Ganesha(_) => GANESHA_DIFFERS,
    };
    driven_by(kind, ("3", transport), differences)
}

const NFS42: (&str, Transport) = ("4.2", Transport::Tcp);

const fn driven_by(
    kind: ServerKind,
    (version, transport): (&'static str, Transport),
    differences: &'static [Difference],
) -> Peer {
    Peer::Server { kind, drive: Drive { version, transport, lanes: LANES, differences } }
}

const fn always(case: &'static str, why: &'static str) -> Difference {
    Difference { case, why, always: true }
}

const fn sometimes(case: &'static str, why: &'static str) -> Difference {
    Difference { case, why, always: false }
}

const KEPT_OPEN: &str = "a file that the server has still open for its last WRITE answers after it is gone";
const NO_BEFORE: &str =
    "answers of this procedure lack the attributes before the change, which RFC 1813 allows (2.6)";
const PRIVILEGED: &str = "SETATTR of the size leaves the set-user-id and set-group-id bits of a program";

/// The Linux kernel's server (6.1), in the order of the suite.
const LINUX_DIFFERS: &[Difference] = &[
    sometimes("rename: it_replaces_a_file", KEPT_OPEN),
    always(
        "symbolic link: nothing_else_has_a_target",
        "READLINK of a directory is refused as one of a directory",
    ),
    always(
        "setting times: times_are_set_to_the_step_that_is_told",
        "FSINFO tells of whole seconds, nanoseconds are kept",
    ),
    always("guard: another_time_is_refused_and_nothing_changes", "only the seconds of a guard are compared"),
    always("ownership: a_write_takes_the_privilege_from_a_program", PRIVILEGED),
    always("change data: refusals_tell_of_the_directory", NO_BEFORE),
    always("change data: refusals_tell_of_the_file", NO_BEFORE),
    sometimes("stale handles: a_removed_node_is_gone", KEPT_OPEN),
    sometimes("stale handles: a_new_node_of_the_same_name_is_another_node", KEPT_OPEN),
    always(
        "stale handles: a_handle_of_nobody_is_refused",
        "an empty handle is refused as arguments that make no sense",
    ),
];

/// NFS-Ganesha (4.3) with its storage module for local file systems, on a tmpfs, in the order of the suite.
const GANESHA_DIFFERS: &[Difference] = &[
    always(
        "attributes: an_entry_changes_its_directory",
        "LINK leaves the old times of the directory in its cache",
    ),
    always("stability: only_files_are_committed", "COMMIT of a symbolic link is a fault of the server"),
    always("link: a_directory_has_one_name", "LINK of a directory is refused as the wrong type"),
    always("symbolic link: a_target_that_is_none_is_refused", "a target with a NUL is cut there"),
    always(
        "setting times: times_are_set_to_the_step_that_is_told",
        "FSINFO tells of 100 ns, single ones are kept",
    ),
    always(
        "setting times: every_kind_of_node_has_times",
        "times of some kinds of nodes are not set, without a word",
    ),
    always("ownership: a_write_takes_the_privilege_from_a_program", PRIVILEGED),
    always("change data: every_new_name_is_told", NO_BEFORE),
    always("change data: refusals_tell_of_the_directory", NO_BEFORE),
    always("change data: refusals_tell_of_the_file", NO_BEFORE),
    always("limits: limits_are_plausible", "PATHCONF tells of names of 1024 bytes"),
];

const COARSE: &str =
    "the server's clock steps by milliseconds: a change right after another leaves the same time";
const NO_SEEK: &str =
    "SEEK finds data and holes at the start of the file whatever is asked, so that it is not used";
const NO_COPY: &str = "there is no COPY";
const CUT_TARGET: &str = "a target with a NUL is cut there";
const NOT_ATOMIC: &str = "no change of a directory is said to be atomic";

const NO_CLONE: &str = "Linux 6.12 tells a block size of clones also where its file system makes none";

/// The Linux kernel's server (6.1 and 6.12) by NFSv4.2, in the order of the suite.
const LINUX_DIFFERS_BY_NFS4: &[Difference] = &[
    sometimes("rename: it_replaces_a_file", KEPT_OPEN),
    sometimes("link: a_node_goes_with_its_last_name", KEPT_OPEN),
    always("symbolic link: a_target_that_is_none_is_refused", CUT_TARGET),
    always(
        "setting times: times_are_set_to_the_step_that_is_told",
        "time_delta is a whole second, nanoseconds are kept",
    ),
    always("ownership: a_write_takes_the_privilege_from_a_program", PRIVILEGED),
    sometimes("stale handles: a_removed_node_is_gone", KEPT_OPEN),
    sometimes("stale handles: a_new_node_of_the_same_name_is_another_node", KEPT_OPEN),
    sometimes("stale handles: a_replaced_node_is_gone", KEPT_OPEN),
    sometimes("stale handles: a_reused_number_is_another_node", KEPT_OPEN),
    always(
        "stale handles: a_handle_of_nobody_is_refused",
        "an empty handle is refused as arguments that make no sense",
    ),
    sometimes("ranges: a_punched_range_reads_as_zeros", COARSE),
    sometimes("copies: a_copied_range_is_the_same", COARSE),
    sometimes("copies: a_clone_is_the_same_and_stays", NO_CLONE),
    sometimes("copies: a_clone_ends_where_its_source_does", NO_CLONE),
    sometimes("copies: clones_that_fit_no_blocks_are_refused", NO_CLONE),
    sometimes("extended attributes: a_change_is_a_change_of_the_node", COARSE),
];

/// NFS-Ganesha (4.3) by NFSv4.2, as above.
const GANESHA_DIFFERS_BY_NFS4: &[Difference] = &[
    always(
        "attributes: an_entry_changes_its_directory",
        "LINK leaves the old times of the directory in its cache",
    ),
    always("symbolic link: a_target_that_is_none_is_refused", CUT_TARGET),
    always(
        "setting times: times_are_set_to_the_step_that_is_told",
        "time_delta is 100 ns, single ones are kept",
    ),
    always(
        "setting times: every_kind_of_node_has_times",
        "times of some kinds of nodes are not set, without a word",
    ),
    always(
        "permissions: searching_takes_the_execute_bit",
        "LOOKUPP leads up from a directory that may not be searched",
    ),
    always("ownership: a_write_takes_the_privilege_from_a_program", PRIVILEGED),
    always("change data: every_new_name_is_told", NOT_ATOMIC),
    always("change data: every_name_that_goes_is_told", NOT_ATOMIC),
    always("change data: a_rename_tells_of_both_directories", NOT_ATOMIC),
    always("limits: limits_are_plausible", "maxname is not the longest name that fits"),
    always("ranges: no_data_lies_in_what_is_told_to_be_a_hole", NO_SEEK),
    always("ranges: the_end_is_a_hole", NO_SEEK),
    always("ranges: nothing_is_found_beyond_the_end", NO_SEEK),
    always("ranges: a_punched_range_takes_no_storage", NO_SEEK),
    always("ranges: ranges_that_are_none_are_refused", "ALLOCATE of no bytes is taken"),
    always("ranges: ranges_of_others_are_refused", "SEEK does not ask for the right to read"),
    always("copies: a_copied_range_is_the_same", NO_COPY),
    always("copies: a_copy_ends_where_its_source_does", NO_COPY),
    always("copies: a_copy_within_a_file_may_not_overlap", NO_COPY),
    always("copies: copies_from_and_to_others_are_refused", NO_COPY),
    always("copies: only_regular_files_are_copied", NO_COPY),
];
