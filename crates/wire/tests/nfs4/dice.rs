//! Random values of every type of NFSv4, made from random bytes.

use howdah_wire::nfs4::attributes::{self, Attributes, Values};
use howdah_wire::nfs4::*;
use howdah_wire::rpc::{AuthFlavor, AuthSys};
use howdah_wire::xdr::{Array, Decode, Decoder, Encode, Encoder, Entries};

/// Random bytes, taken from the front and again from the front when they are used up.
pub struct Dice<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Dice<'a> {
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    fn byte(&mut self) -> u8 {
        self.at += 1;
        self.bytes[(self.at - 1) % self.bytes.len()]
    }

    pub fn below(&mut self, limit: usize) -> usize {
        usize::from(self.byte()) % limit
    }

    pub fn some_bytes(&mut self) -> &'a [u8] {
        let length = self.below(24);
        let start = (self.at % self.bytes.len()).min(self.bytes.len() - length);
        self.at += length;
        &self.bytes[start..start + length]
    }
}

/// A type with random values.
pub trait Roll<'a>: Sized {
    fn roll(dice: &mut Dice<'a>) -> Self;
}

/// Structures, with their fields; newtypes and opaque data, with the field `0`.
macro_rules! rolled {
    ($($type:ty { $($field:tt),* })*) => {$(
        impl<'a> Roll<'a> for $type {
            fn roll(dice: &mut Dice<'a>) -> Self {
                Self { $($field: Roll::roll(dice)),* }
            }
        }
    )*};
}

/// Enumerations, which have a list of all values.
macro_rules! chosen {
    ($($type:ty),*) => {$(
        impl Roll<'_> for $type {
            fn roll(dice: &mut Dice<'_>) -> Self {
                Self::ALL[dice.below(Self::ALL.len())]
            }
        }
    )*};
}

macro_rules! numbers {
    ($($type:ty),*) => {$(
        impl Roll<'_> for $type {
            fn roll(dice: &mut Dice<'_>) -> Self {
                <$type>::from_be_bytes(Roll::roll(dice))
            }
        }
    )*};
}

numbers!(u32, u64, i64);

impl Roll<'_> for bool {
    fn roll(dice: &mut Dice<'_>) -> Self {
        dice.byte() % 2 == 1
    }
}

impl<const N: usize> Roll<'_> for [u8; N] {
    fn roll(dice: &mut Dice<'_>) -> Self {
        std::array::from_fn(|_| dice.byte())
    }
}

impl<'a> Roll<'a> for &'a [u8] {
    fn roll(dice: &mut Dice<'a>) -> Self {
        dice.some_bytes()
    }
}

impl<'a, T: Roll<'a>> Roll<'a> for Option<T> {
    fn roll(dice: &mut Dice<'a>) -> Self {
        bool::roll(dice).then(|| T::roll(dice))
    }
}

/// What is borrowed by a value is leaked: a few bytes for each case of a test.
fn leak<T>(values: Vec<T>) -> &'static [T]
where
    T: 'static,
{
    Vec::leak(values)
}

impl<'a, T: Roll<'a> + Decode<'a> + Encode + Copy, const MAX: u32> Roll<'a> for Array<'a, T, MAX> {
    fn roll(dice: &mut Dice<'a>) -> Self {
        let count = dice.below(4);
        let mut bytes = (count as u32).to_be_bytes().to_vec();
        (0..count).for_each(|_| T::roll(dice).encode(&mut Encoder::new(&mut bytes)));
        Self::decode(&mut Decoder::new(leak(bytes))).expect("an array")
    }
}

impl<'a, T: Roll<'a> + Decode<'a> + Encode> Roll<'a> for Entries<'a, T> {
    fn roll(dice: &mut Dice<'a>) -> Self {
        let entries: Vec<T> = (0..dice.below(4)).map(|_| T::roll(dice)).collect();
        let mut bytes = Vec::new();
        Encoder::new(&mut bytes).list(&entries);
        Self::decode(&mut Decoder::new(leak(bytes))).expect("entries")
    }
}

impl<'a> Roll<'a> for Values<'a> {
    fn roll(dice: &mut Dice<'a>) -> Self {
        Values::of(&Attributes::roll(dice), Box::leak(Box::default()))
    }
}

impl Roll<'_> for attributes::SetTime {
    fn roll(dice: &mut Dice<'_>) -> Self {
        Option::<Time>::roll(dice).map_or(Self::ServerTime, Self::ClientTime)
    }
}

impl Roll<'_> for Bitmap {
    fn roll(dice: &mut Dice<'_>) -> Self {
        Self::from_words([(); 3].map(|()| if bool::roll(dice) { Roll::roll(dice) } else { 0 }))
    }
}

impl<'a> Roll<'a> for CallbackSecurity<'a> {
    fn roll(dice: &mut Dice<'a>) -> Self {
        match dice.below(3) {
            0 => Self::None,
            1 => {
                let groups: [u32; 2] = [u32::roll(dice), u32::roll(dice)];
                Self::Sys(AuthSys::new(dice.some_bytes(), u32::roll(dice), u32::roll(dice), &groups))
            }
            _ => Self::Gss(Roll::roll(dice)),
        }
    }
}

impl<'a, S: Roll<'a>> Roll<'a> for exchange_id::Protection<S> {
    fn roll(dice: &mut Dice<'a>) -> Self {
        match dice.below(3) {
            0 => Self::None,
            1 => Self::Machine(Roll::roll(dice)),
            _ => Self::Secret(S::roll(dice)),
        }
    }
}

impl<'a> Roll<'a> for open::How<'a> {
    fn roll(dice: &mut Dice<'a>) -> Self {
        match dice.below(4) {
            0 => Self::Unchecked(Roll::roll(dice)),
            1 => Self::Guarded(Roll::roll(dice)),
            2 => Self::Exclusive(Roll::roll(dice)),
            _ => Self::ExclusiveWith(Roll::roll(dice), Roll::roll(dice)),
        }
    }
}

impl<'a> Roll<'a> for open::Claim<'a> {
    fn roll(dice: &mut Dice<'a>) -> Self {
        match dice.below(7) {
            0 => Self::Name(Roll::roll(dice)),
            1 => Self::Reclaim(Roll::roll(dice)),
            2 => Self::Delegated(Roll::roll(dice), Roll::roll(dice)),
            3 => Self::DelegatedBefore(Roll::roll(dice)),
            4 => Self::Current,
            5 => Self::CurrentDelegated(Roll::roll(dice)),
            _ => Self::CurrentDelegatedBefore,
        }
    }
}

impl<'a> Roll<'a> for open::Delegation<'a> {
    fn roll(dice: &mut Dice<'a>) -> Self {
        match dice.below(4) {
            0 => Self::None,
            1 => Self::NoneBecause(Roll::roll(dice)),
            2 => Self::Read(Roll::roll(dice), Roll::roll(dice)),
            _ => Self::Write(Roll::roll(dice), Roll::roll(dice)),
        }
    }
}

impl Roll<'_> for open::WhyNone {
    fn roll(dice: &mut Dice<'_>) -> Self {
        match dice.below(3) {
            0 => Self::Contention(Roll::roll(dice)),
            1 => Self::Resource(Roll::roll(dice)),
            _ => Self::Other([0, 3, 8, 77][dice.below(4)]),
        }
    }
}

impl Roll<'_> for get_dir_delegation::Success {
    fn roll(dice: &mut Dice<'_>) -> Self {
        match dice.below(2) {
            0 => Self::Granted(Roll::roll(dice)),
            _ => Self::Unavailable { signal: Roll::roll(dice) },
        }
    }
}

impl Roll<'_> for open::SpaceLimit {
    fn roll(dice: &mut Dice<'_>) -> Self {
        if bool::roll(dice) {
            return Self::Size(Roll::roll(dice));
        }
        Self::Blocks { count: Roll::roll(dice), size: Roll::roll(dice) }
    }
}

impl<'a> Roll<'a> for create::NewNode<'a> {
    fn roll(dice: &mut Dice<'a>) -> Self {
        match dice.below(7) {
            0 => Self::Directory,
            1 => Self::BlockDevice(Roll::roll(dice)),
            2 => Self::CharacterDevice(Roll::roll(dice)),
            3 => Self::SymbolicLink(Roll::roll(dice)),
            4 => Self::Socket,
            5 => Self::Fifo,
            _ => Self::Other([0, 1, 8, 9, 10][dice.below(5)]),
        }
    }
}

impl<'a> Roll<'a> for lock::LockingOwner<'a> {
    fn roll(dice: &mut Dice<'a>) -> Self {
        if bool::roll(dice) { Self::First(Roll::roll(dice)) } else { Self::Further(Roll::roll(dice)) }
    }
}

impl<'a> Roll<'a> for secinfo::Flavor<'a> {
    fn roll(dice: &mut Dice<'a>) -> Self {
        match dice.below(3) {
            0 => Self::Plain(AuthFlavor::SYS),
            1 => Self::Plain(AuthFlavor(390_003)),
            _ => Self::Gss(Roll::roll(dice)),
        }
    }
}

impl<'a> Roll<'a> for copy::NetworkLocation<'a> {
    fn roll(dice: &mut Dice<'a>) -> Self {
        match dice.below(3) {
            0 => Self::Name(Roll::roll(dice)),
            1 => Self::Url(Roll::roll(dice)),
            _ => Self::Address(Roll::roll(dice), Roll::roll(dice)),
        }
    }
}

chosen!(FileType, Stability, LockKind, attributes::ChangeKind, open::DelegationKind, secinfo_no_name::Which);
chosen!(bind_conn_to_session::WantedUse, bind_conn_to_session::GrantedUse);

rolled! {
    ClientId { 0 }
    SessionId { 0 }
    Verifier { 0 }
    Status { 0 }
    FileHandle<'a> { 0 }
    Name<'a> { 0 }
    LinkTarget<'a> { 0 }
    Opaque<'a> { 0 }
    StateId { sequence, other }
    Owner<'a> { client, owner }
    ChangeInfo { atomic, before, after }
    Time { seconds, nanoseconds }
    Device { major, minor }
    GssHandles<'a> { service, server, client }

    attributes::Attributes<'a> { identity, content, permissions, times, space, limits, support }
    attributes::Identity<'a> { kind, file_system, error, handle, file, device, mounted_on_file }
    attributes::Content { change, size, links, used, freed }
    attributes::Permissions<'a> { mode, owner, group, masked_mode, label, mode_and_mask }
    attributes::Times { accessed, set_accessed, backed_up, created, changed, modified, set_modified }
    attributes::Space {
        files_available, files_free, files_total, bytes_available, bytes_free, bytes_total
    }
    attributes::Limits {
        lease_seconds, file_size, links, name, read, write, time_step, layout_block, clone_block
    }
    attributes::Support<'a> {
        attributes, handle_expiry, hard_links, symbolic_links, named_attributes, unique_handles, acl_kinds,
        can_set_time, case_insensitive, case_preserving, chown_restricted, homogeneous, no_truncation, layouts,
        exclusive_attributes, character_sets, change_kind, extended_attributes, open_arguments
    }
    attributes::FileSystemId { major, minor }
    attributes::Principal<'a> { 0 }
    attributes::LabelData<'a> { 0 }
    attributes::SecurityLabel<'a> { format, policy, label }
    attributes::MaskedMode { value, mask }
    attributes::ModeAndMask { mode, mask }
    attributes::LayoutType { 0 }
    attributes::OpenArguments { access, deny, want, claim, how }

    compound::Head<'a> { tag, minor_version, operations }
    compound::ReplyHead<'a> { status, tag, results }
    compound::ResultHead { operation, status }

    access::Arguments { wanted }
    access::Success { supported, granted }
    create_session::ChannelSizes {
        header_padding, request, response, kept_response, operations, slots, rdma_reads
    }
    create_session::Arguments<'a> { client, sequence, flags, fore, back, callback_program, security }
    create_session::Success { session, sequence, flags, fore, back }
    exchange_id::Implementation<'a> { domain, name, date }
    exchange_id::ClientOwner<'a> { verifier, owner }
    exchange_id::ServerOwner<'a> { minor, major }
    exchange_id::ProtectedOperations { enforced, allowed }
    exchange_id::SecretParameters<'a> { operations, hashes, ciphers, window, contexts }
    exchange_id::SecretGrant<'a> { operations, hash, cipher, length, window, contexts }
    exchange_id::Arguments<'a> { owner, flags, protection, implementation }
    exchange_id::Success<'a> { client, sequence, flags, protection, owner, scope, implementation }
    getattr::Arguments { wanted }
    getattr::Success<'a> { attributes }
    getfh::Success<'a> { node }
    lookup::Arguments<'a> { name }
    putfh::Arguments<'a> { node }
    readdir::Arguments { cookie, verifier, name_count, count, wanted }
    readdir::Entry<'a> { cookie, name, attributes }
    readdir::Success<'a> { verifier, entries, end }
    readlink::Success<'a> { target }
    sequence::Arguments { session, sequence, slot, highest_slot, keep }
    sequence::Success { session, sequence, slot, highest_slot, target_highest_slot, flags }

    XattrValue<'a> { 0 }
    close::Arguments { sequence, state }
    close::Success { state }
    commit::Arguments { offset, count }
    commit::Success { verifier }
    create::Arguments<'a> { node, name, attributes }
    create::Success { directory, attributes_set }
    link::Arguments<'a> { name }
    link::Success { directory }
    nverify::Arguments<'a> { attributes }
    open::Arguments<'a> { sequence, access, deny, owner, create, claim }
    open::Success<'a> { state, directory, flags, attributes_set, delegation }
    open::AccessEntry<'a> { kind, flags, mask, who }
    open::Given<'a> { state, recalled, permissions }
    open::WriteGiven<'a> { state, recalled, limit, permissions }
    open_downgrade::Arguments { state, sequence, access, deny }
    open_downgrade::Success { state }
    openattr::Arguments { create }
    read::Arguments { state, offset, count }
    read::Success<'a> { end, data }
    read::Head { end, length }
    remove::Arguments<'a> { name }
    remove::Success { directory }
    rename::Arguments<'a> { from, to }
    rename::Success { source, target }
    setattr::Arguments<'a> { state, attributes }
    setattr::Success { attributes_set }
    verify::Arguments<'a> { attributes }
    write::Arguments<'a> { state, offset, stability, data }
    write::Success { count, committed, verifier }

    backchannel_ctl::Arguments<'a> { program, security }
    bind_conn_to_session::Arguments { session, direction, rdma }
    bind_conn_to_session::Success { session, direction, rdma }
    delegpurge::Arguments { client }
    delegreturn::Arguments { state }
    destroy_clientid::Arguments { client }
    destroy_session::Arguments { session }
    free_stateid::Arguments { state }
    get_dir_delegation::Arguments {
        signal, notifications, child_delay, directory_delay, child_attributes, directory_attributes
    }
    get_dir_delegation::DirectoryDelegation {
        cookie_verifier, state, notifications, child_attributes, directory_attributes
    }
    lock::FirstLock<'a> { open_sequence, open, lock_sequence, owner }
    lock::FurtherLock { state, sequence }
    lock::Arguments<'a> { kind, reclaim, offset, length, locker }
    lock::Success { state }
    lock::Denied<'a> { offset, length, kind, owner }
    lockt::Arguments<'a> { kind, offset, length, owner }
    locku::Arguments { kind, sequence, state, offset, length }
    locku::Success { state }
    reclaim_complete::Arguments { one_file_system }
    secinfo::Mechanism<'a> { identifier, quality, service }
    secinfo::Arguments<'a> { name }
    secinfo::Success<'a> { flavors }
    secinfo_no_name::Arguments { which }
    set_ssv::Arguments<'a> { secret, digest }
    set_ssv::Success<'a> { digest }
    test_stateid::Arguments<'a> { states }
    test_stateid::Success<'a> { statuses }

    allocate::Arguments { state, offset, length }
    clone::Arguments { source, destination, source_offset, destination_offset, count }
    copy::Arguments<'a> {
        source, destination, source_offset, destination_offset, count, consecutive, synchronous, servers
    }
    copy::Requirements { consecutive, synchronous }
    copy::Success { state, count, committed, verifier, requirements }
    deallocate::Arguments { state, offset, length }
    offload_cancel::Arguments { state }
    seek::Arguments { state, offset, what }
    seek::Success { end, offset }
    getxattr::Arguments<'a> { name }
    getxattr::Success<'a> { value }
    listxattrs::Arguments { cookie, count }
    listxattrs::Success<'a> { cookie, names, end }
    removexattr::Arguments<'a> { name }
    removexattr::Success { node }
    setxattr::Arguments<'a> { how, name, value }
    setxattr::Success { node }

    callback::compound::Head<'a> { tag, minor_version, identifier, operations }
    callback::notify_lock::Arguments<'a> { node, owner }
    callback::recall::Arguments<'a> { state, truncate, node }
    callback::recall_any::Arguments { keep, kinds }
    callback::recall_slot::Arguments { target_highest_slot }
    callback::sequence::ReferringCall { sequence, slot }
    callback::sequence::ReferringCalls<'a> { session, calls }
    callback::sequence::Arguments<'a> { session, sequence, slot, highest_slot, keep, referring }
    callback::sequence::Success { session, sequence, slot, highest_slot, target_highest_slot }
}
