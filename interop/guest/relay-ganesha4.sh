# NFS-Ganesha that speaks only NFSv4 and runs on the host, through howdah: for clients of version 3 and 4.2, with the relay killed while they
# write and while they have files open. Some of its handles have more than 64 bytes.
. "$WORK/scripts/lib.sh"
. "$WORK/scripts/relay.sh"
on_host "command -v ganesha.nfsd" || skip "ganesha.nfsd is not installed"
on_host "
    mkdir -p /run/ganesha /var/lib/nfs/ganesha \"$WORK/ganesha\"
    mount -t tmpfs -o mode=777 origin \"$WORK/ganesha\"
    cat >\"$WORK/ganesha.conf\" <<END
NFS_CORE_PARAM { NFS_Port = 2051; Protocols = 4; Enable_NLM = false; Enable_RQUOTA = false; }
NFSV4 { Graceless = true; Minor_Versions = 1, 2; }
EXPORT { Export_Id = 1; Path = \"$WORK/ganesha\"; Pseudo = /origin; Protocols = 4; Access_Type = RW; Squash = None;
    SecType = sys; FSAL { Name = VFS; } }
END
    ganesha.nfsd -F -L \"$WORK/log/ganesha.txt\" -f \"$WORK/ganesha.conf\" -p \"$WORK/ganesha.pid\" &
    for try in \$(seq 600); do
        ! grep -q 'NFS SERVER INITIALIZED' \"$WORK/log/ganesha.txt\" || exit 0
        sleep 0.1
    done
    exit 1
" || fail "Ganesha does not serve: $(tail -3 "$WORK/log/ganesha.txt")"
ORIGIN='nfs://127.0.0.1:2051/origin?version=4'
relay "$ORIGIN"
for version in 3 4.2; do
    case $version in
        3) mount_export ;;
        *) mount_export "vers=$version,port=2050" ;;
    esac
    mkdir "/mnt/n/tree-$version"
    tar -xpf "$WORK/tree.tar" -C "/mnt/n/tree-$version"
    echo before >"/mnt/n/open-$version"
    # A program has a file open over the relay's restart, and another one writes.
    exec 7<"/mnt/n/open-$version"
    "$TOOL" pattern --seed "$SEED" --bytes "$SIZE" >"/mnt/n/large-$version" &
    writer=$!
    until [ -s "/mnt/n/large-$version" ]; do sleep 0.02; done
    end_on_host KILL "$WORK/relay.pid"
    relay "$ORIGIN"
    wait "$writer"
    drop_caches
    equal "$(cat <&7)" before "what an open file holds"
    exec 7<&-
    "$TOOL" pattern --seed "$SEED" --bytes "$SIZE" | cmp - "/mnt/n/large-$version"
    # By the names and handles that the client has.
    tar --compare -f "$WORK/tree.tar" -C "/mnt/n/tree-$version"
    umount /mnt/n
    on_host "sha256sum <\"$WORK/ganesha/large-$version\" >\"$WORK/ganesha.sum\""
    want=$("$TOOL" pattern --seed "$SEED" --bytes "$SIZE" | sha256sum)
    equal "$(cat "$WORK/ganesha.sum")" "$want" "checksum of the file on the origin"
done
