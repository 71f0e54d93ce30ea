//! How a compound and each of its operations end (RFC 8881 15.1, RFC 7862 11.1, RFC 8276 8.5, `nfsstat4`).

use std::fmt;

use crate::message::newtype;

newtype! {
    /// A status (`nfsstat4`). Numbers without a name are kept as they are.
    pub struct Status(pub u32), "status";
}

macro_rules! statuses {
    ($($name:ident = $number:literal,)*) => {
        impl Status {
            $(
                #[doc = concat!("`NFS4ERR_", stringify!($name), "`")]
                pub const $name: Self = Self($number);
            )*

            /// Every status with a name but `NFS4_OK`, in ascending order.
            pub const ALL: &[Self] = &[$(Self::$name),*];

            /// Its name in the RFC.
            pub fn rfc_name(self) -> Option<&'static str> {
                match self.0 {
                    0 => Some("NFS4_OK"),
                    $($number => Some(concat!("NFS4ERR_", stringify!($name))),)*
                    _ => None,
                }
            }
        }
    };
}

impl Status {
    /// `NFS4_OK`
    pub const OK: Self = Self(0);
}

statuses! {
    PERM = 1,
    NOENT = 2,
    IO = 5,
    NXIO = 6,
    ACCESS = 13,
    EXIST = 17,
    XDEV = 18,
    NOTDIR = 20,
    ISDIR = 21,
    INVAL = 22,
    FBIG = 27,
    NOSPC = 28,
    ROFS = 30,
    MLINK = 31,
    NAMETOOLONG = 63,
    NOTEMPTY = 66,
    DQUOT = 69,
    STALE = 70,
    BADHANDLE = 10001,
    BAD_COOKIE = 10003,
    NOTSUPP = 10004,
    TOOSMALL = 10005,
    SERVERFAULT = 10006,
    BADTYPE = 10007,
    DELAY = 10008,
    SAME = 10009,
    DENIED = 10010,
    EXPIRED = 10011,
    LOCKED = 10012,
    GRACE = 10013,
    FHEXPIRED = 10014,
    SHARE_DENIED = 10015,
    WRONGSEC = 10016,
    CLID_INUSE = 10017,
    RESOURCE = 10018,
    MOVED = 10019,
    NOFILEHANDLE = 10020,
    MINOR_VERS_MISMATCH = 10021,
    STALE_CLIENTID = 10022,
    STALE_STATEID = 10023,
    OLD_STATEID = 10024,
    BAD_STATEID = 10025,
    BAD_SEQID = 10026,
    NOT_SAME = 10027,
    LOCK_RANGE = 10028,
    SYMLINK = 10029,
    RESTOREFH = 10030,
    LEASE_MOVED = 10031,
    ATTRNOTSUPP = 10032,
    NO_GRACE = 10033,
    RECLAIM_BAD = 10034,
    RECLAIM_CONFLICT = 10035,
    BADXDR = 10036,
    LOCKS_HELD = 10037,
    OPENMODE = 10038,
    BADOWNER = 10039,
    BADCHAR = 10040,
    BADNAME = 10041,
    BAD_RANGE = 10042,
    LOCK_NOTSUPP = 10043,
    OP_ILLEGAL = 10044,
    DEADLOCK = 10045,
    FILE_OPEN = 10046,
    ADMIN_REVOKED = 10047,
    CB_PATH_DOWN = 10048,
    BADIOMODE = 10049,
    BADLAYOUT = 10050,
    BAD_SESSION_DIGEST = 10051,
    BADSESSION = 10052,
    BADSLOT = 10053,
    COMPLETE_ALREADY = 10054,
    CONN_NOT_BOUND_TO_SESSION = 10055,
    DELEG_ALREADY_WANTED = 10056,
    BACK_CHAN_BUSY = 10057,
    LAYOUTTRYLATER = 10058,
    LAYOUTUNAVAILABLE = 10059,
    NOMATCHING_LAYOUT = 10060,
    RECALLCONFLICT = 10061,
    UNKNOWN_LAYOUTTYPE = 10062,
    SEQ_MISORDERED = 10063,
    SEQUENCE_POS = 10064,
    REQ_TOO_BIG = 10065,
    REP_TOO_BIG = 10066,
    REP_TOO_BIG_TO_CACHE = 10067,
    RETRY_UNCACHED_REP = 10068,
    UNSAFE_COMPOUND = 10069,
    TOO_MANY_OPS = 10070,
    OP_NOT_IN_SESSION = 10071,
    HASH_ALG_UNSUPP = 10072,
    CLIENTID_BUSY = 10074,
    PNFS_IO_HOLE = 10075,
    SEQ_FALSE_RETRY = 10076,
    BAD_HIGH_SLOT = 10077,
    DEADSESSION = 10078,
    ENCR_ALG_UNSUPP = 10079,
    PNFS_NO_LAYOUT = 10080,
    NOT_ONLY_OP = 10081,
    WRONG_CRED = 10082,
    WRONG_TYPE = 10083,
    DIRDELEG_UNAVAIL = 10084,
    REJECT_DELEG = 10085,
    RETURNCONFLICT = 10086,
    DELEG_REVOKED = 10087,
    PARTNER_NOTSUPP = 10088,
    PARTNER_NO_AUTH = 10089,
    UNION_NOTSUPP = 10090,
    OFFLOAD_DENIED = 10091,
    WRONG_LFS = 10092,
    BADLABEL = 10093,
    OFFLOAD_NO_REQS = 10094,
    NOXATTR = 10095,
    XATTR2BIG = 10096,
}

impl fmt::Display for Status {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.rfc_name() {
            Some(name) => formatter.write_str(name),
            None => write!(formatter, "status {}", self.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statuses_ascend_and_have_names() {
        assert!(Status::ALL.is_sorted_by(|one, other| one < other));
        assert_eq!(Status::BAD_STATEID.to_string(), "NFS4ERR_BAD_STATEID");
        assert_eq!((Status::OK.to_string().as_str(), Status(19).rfc_name()), ("NFS4_OK", None));
    }
}
