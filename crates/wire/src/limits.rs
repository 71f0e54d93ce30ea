//! The longest of everything that a message may hold: a claim beyond it is refused before anything is kept for it.

howdah_limits::limits! {
    /// The longest body of credentials or verifier, in a call or a reply (RFC 5531 8.2).
    pub const CREDENTIALS_MAX: u32 = 400, bytes;
    beyond "the call is answered as garbage", tested "wire/tests/wire/rpc::credentials_beyond_the_limits_are_refused";

    /// The longest handle of a context of RPCSEC_GSS. The protocol sets no limit but that of all credentials; ours have 16 bytes.
    pub const GSS_HANDLE_MAX: u32 = 256, bytes;
    beyond "the call is refused: bad credentials", tested "wire/tests/wire/gss::lengths_beyond_the_limits_are_refused";

    /// The longest token that makes a context. The protocol sets no limit; one of a user in many groups of Active Directory has up
    /// to 48 KiB.
    pub const GSS_TOKEN_MAX: u32 = 64 << 10, bytes;
    beyond "the call is answered as garbage", tested "wire/tests/wire/gss::lengths_beyond_the_limits_are_refused";

    /// The longest arguments or results that are signed or encrypted: the most data, and what is around it.
    pub const PROTECTED_MAX: u32 = DATA_MAX + (64 << 10), bytes;
    beyond "the call is answered as garbage", tested "wire/tests/wire/gss::lengths_beyond_the_limits_are_refused";

    /// The longest machine name of AUTH_SYS (RFC 5531 14).
    pub const MACHINE_NAME_MAX: u32 = 255, bytes;
    beyond "the call is refused: bad credentials", tested "wire/tests/wire/rpc::credentials_beyond_the_limits_are_refused";

    /// The most groups of a caller (AUTH_SYS, RFC 5531 14).
    pub const GROUPS_MAX: usize = 16, count;
    beyond "the call is refused: bad credentials", tested "wire/tests/wire/rpc::credentials_beyond_the_limits_are_refused";

    /// The longest file handle (RFC 1813 2.2, `NFS3_FHSIZE`).
    pub const HANDLE_MAX: usize = 64, bytes;
    beyond "the call is answered as garbage", tested "wire/tests/wire/nfs3::what_is_longer_than_any_is_refused";

    /// The longest file name that is decoded. The protocol sets none; beyond a file system's own limit (255 at most systems) the
    /// answer is NFS3ERR_NAMETOOLONG.
    pub const FILE_NAME_MAX: u32 = 4096, bytes;
    beyond "the call is answered as garbage", tested "wire/tests/wire/nfs3::what_is_longer_than_any_is_refused";

    /// The longest target of a symbolic link that is decoded. The protocol sets none; beyond a file system's own limit (4095 at
    /// most systems) the answer is NFS3ERR_NAMETOOLONG.
    pub const LINK_TARGET_MAX: u32 = 8192, bytes;
    beyond "the call is answered as garbage", tested "wire/tests/wire/nfs3::what_is_longer_than_any_is_refused";

    /// The most data in a READ or WRITE that is decoded: 4 MiB, the most that any server in use announces. What this server
    /// announces is less.
    pub const DATA_MAX: u32 = 4 << 20, bytes;
    beyond "the call is answered as garbage", tested "wire/tests/wire/nfs3::what_is_longer_than_any_is_refused";

    /// The longest path in MOUNT (RFC 1813 5.1.2, `MNTPATHLEN`).
    pub const MOUNT_PATH_MAX: u32 = 1024, bytes;
    beyond "the call is answered as garbage", tested "wire/tests/wire/mount::lengths_stop_at_the_limits_of_the_protocol";

    /// The longest name of a host or group in MOUNT (RFC 1813 5.1.2, `MNTNAMLEN`).
    pub const HOST_NAME_MAX: u32 = 255, bytes;
    beyond "the message is garbage", tested "wire/tests/wire/mount::lengths_stop_at_the_limits_of_the_protocol";

    /// The longest path in a question for a quota (`RQ_PATHLEN`).
    pub const QUOTA_PATH_MAX: u32 = 1024, bytes;
    beyond "the call is answered as garbage", tested "wire/tests/wire/rquota::a_path_is_bounded";

    /// The most entries of an ACL in NFSACL (`NFS_ACL_MAX_ENTRIES` of Linux).
    pub const ACL_ENTRIES_MAX: u32 = 1024, count;
    beyond "the call is answered as garbage", tested "wire/tests/wire/nfsacl::an_acl_is_bounded";

    /// The longest cookie of NLM. The protocol sets no limit; the Linux client's are 4 bytes, and others take up to 1,024 (`LM_MAXNETOBJ`).
    pub const LOCK_COOKIE_MAX: u32 = 1024, bytes;
    beyond "the call is answered as garbage", tested "wire/tests/wire/nlm::a_cookie_is_bounded";

    /// The longest owner of a lock in NLM (`LM_MAXNETOBJ`).
    pub const LOCK_OWNER_MAX: u32 = 1024, bytes;
    beyond "the call is answered as garbage", tested "wire/tests/wire/nlm::names_and_owners_are_bounded";

    /// The longest name of a host in NLM and NSM (X/Open C702, `LM_MAXSTRLEN`, `SM_MAXSTRLEN`).
    pub const MONITOR_NAME_MAX: u32 = 1024, bytes;
    beyond "the call is answered as garbage", tested "wire/tests/wire/nlm::names_and_owners_are_bounded";

    /// The longest arguments that portmap's CALLIT carries. The protocol sets no limit; what is passed on comes in one datagram
    /// (`UDPMSGSIZE` of the BSD portmappers). This server passes nothing on.
    pub const CALLIT_MAX: u32 = 8800, bytes;
    beyond "the call is answered as garbage", tested "wire/tests/wire/portmap::what_callit_carries_is_bounded";

    /// The longest text of rpcbind. The protocol sets no limit; the longest real one is the path of a Unix socket, 108.
    pub const TEXT_MAX: u32 = 1024, bytes;
    beyond "the call is answered as garbage", tested "wire/tests/wire/portmap::a_text_longer_than_any_is_refused";

    /// The longest file handle of NFSv4 (RFC 8881 3.1, `NFS4_FHSIZE`).
    pub const HANDLE4_MAX: u32 = 128, bytes;
    beyond "the operation is answered with NFS4ERR_BADXDR", tested "wire/tests/wire/nfs4::what_is_longer_than_any_is_refused";

    /// The longest tag of a compound. The protocol sets no limit; the reply repeats it, and clients send none or a word.
    pub const TAG_MAX: u32 = 1024, bytes;
    beyond "the call is answered as garbage", tested "wire/tests/wire/nfs4::what_is_longer_than_any_is_refused";

    /// The longest owner, scope or identity of NFSv4 (RFC 8881 3.1, `NFS4_OPAQUE_LIMIT`).
    pub const OPAQUE4_MAX: u32 = 1024, bytes;
    beyond "the operation is answered with NFS4ERR_BADXDR", tested "wire/tests/wire/nfs4::what_is_longer_than_any_is_refused";

    /// The most words of a set of attributes. The protocol sets no limit; all attributes of today fit three.
    pub const BITMAP_WORDS_MAX: u32 = 64, count;
    beyond "the operation is answered with NFS4ERR_BADXDR", tested "wire/tests/wire/nfs4::what_is_longer_than_any_is_refused";

    /// The longest values of attributes in one operation. The protocol sets no limit; what clients set takes a few hundred bytes.
    pub const ATTRIBUTES_MAX: u32 = 64 << 10, bytes;
    beyond "the operation is answered with NFS4ERR_BADXDR", tested "wire/tests/wire/nfs4::what_is_longer_than_any_is_refused";

    /// The longest security label (`NFS4_MAXLABELLEN` of Linux).
    pub const SECURITY_LABEL_MAX: u32 = 2048, bytes;
    beyond "the operation is answered with NFS4ERR_BADXDR", tested "wire/tests/wire/nfs4::what_is_longer_than_any_is_refused";

    /// The most items of an array in NFSv4: stateids to test, flavors, names of attributes. The protocol sets no limit.
    pub const ITEMS4_MAX: u32 = 1024, count;
    beyond "the operation is answered with NFS4ERR_BADXDR", tested "wire/tests/wire/nfs4::what_is_longer_than_any_is_refused";

    /// The longest value of an extended attribute (`XATTR_SIZE_MAX` of Linux).
    pub const XATTR_VALUE_MAX: u32 = 64 << 10, bytes;
    beyond "the operation is answered with NFS4ERR_BADXDR", tested "wire/tests/wire/nfs4::what_is_longer_than_any_is_refused";
}
