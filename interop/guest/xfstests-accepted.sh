# accepted: the tests of xfstests that fail over NFS, each with its reason. One that passes all the same fails the job.
accepted() {
    cat <<L
generic/020 sets 1,000 extended attributes, and ext4 has room for some 110: the Linux kernel's server fails, too
generic/444 makes a directory as a user outside of its group: the client sets its ACL afterwards, and the kernel then clears the set-group-ID bit
generic/486 gives an extended attribute 64 KiB, and ext4 has room for 4: the Linux kernel's server fails, too
generic/597 links a file that its user may not read: the host of the server protects such (fs.protected_hardlinks), whatever the client has
generic/633 starts set-id programs, and the guest has none: the Linux kernel's server fails, too
L
}
