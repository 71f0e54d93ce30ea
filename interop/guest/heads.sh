# Moves from one head to the other and back in the middle of writes, ROUNDS times. Every HOSTS-th time (0: never) the host of the head
# dies whole, with MooseFS's client, which is noted apart. With locks, every third head lives and loses its address alone.
. "$WORK/scripts/lib.sh"
now() { cut -d' ' -f1 /proc/uptime | tr -d .; }
case $MOUNT_OPTIONS in
*nolock*) locks= ;;
*vers=4*) locks=nosharecache ;;
*)
    locks=nosharecache
    start_statd
    ;;
esac
mount_export "$MOUNT_OPTIONS${locks:+,$locks}"
echo held >/mnt/n/held
exec 3</mnt/n/held
# Another mount, which knows nothing of the lock that the first one holds, asks the server.
if [ "$locks" ]; then
    chmod 666 /mnt/n/held
    # As a user who cannot read what heads keep of their clients.
    hold /mnt/n/held lock "setpriv --reuid 1000 --regid 1000 --clear-groups"
    mkdir -p /run/other
    mount -t nfs -o "$MOUNT_OPTIONS,$locks" "$MOUNT_SOURCE" /run/other
fi
largest=0 sum=0 moves=0 hosts=0 host_gap=0 round=0
while [ $round -lt "$ROUNDS" ]; do
    round=$((round + 1))
    how=server
    [ "$HOSTS" = 0 ] || [ $((round % HOSTS)) != 0 ] || how=host
    [ -z "$locks" ] || [ $((round % 3)) != 2 ] || how=address
    # What is safe before.
    "$TOOL" pattern --seed "$round" --bytes 1048576 | dd of="/mnt/n/safe" bs=256K iflag=fullblock conv=fsync status=none
    # What is under way meanwhile.
    rm -f /run/written
    (
        "$TOOL" pattern --seed "$((SEED + round))" --bytes "$((SIZE / 2))" | dd of=/mnt/n/large bs=256K iflag=fullblock status=none
        : >/run/written
        "$TOOL" pattern --seed "$((SEED - round))" --bytes "$((SIZE / 2))" | dd of=/mnt/n/large bs=256K iflag=fullblock oflag=append conv=notrunc,fsync status=none
    ) &
    writer=$!
    until [ -e /run/written ]; do sleep 0.01; done
    rm -f "$WORK/revived"
    tell_host move $how
    while [ -e "$WORK/move" ]; do sleep 0.01; done
    start=$(now)
    mkdir "/mnt/n/made-$round"
    gap=$(($(now) - start))
    echo "round $round ($how): the next change was answered after $((gap * 10)) ms"
    case $how in
    server | address)
        moves=$((moves + 1)) sum=$((sum + gap))
        [ $gap -le $largest ] || largest=$gap
        ;;
    host)
        hosts=$((hosts + 1))
        [ $gap -le $host_gap ] || host_gap=$gap
        ;;
    esac
    wait $writer || fail "round $round: the writer saw an error"
    echo "round $round: written after $((($(now) - start) * 10)) ms"
    drop_caches
    equal "$(sha256sum </mnt/n/large)" "$({ "$TOOL" pattern --seed "$((SEED + round))" --bytes "$((SIZE / 2))"; "$TOOL" pattern --seed "$((SEED - round))" --bytes "$((SIZE / 2))"; } | sha256sum)" "round $round: checksum of what was written meanwhile"
    equal "$(sha256sum </mnt/n/safe)" "$("$TOOL" pattern --seed "$round" --bytes 1048576 | sha256sum)" "round $round: checksum of what was safe"
    equal "$(cat <&3)" held "round $round: a file that was open before"
    exec 3<&-
    exec 3</mnt/n/held
    rmdir "/mnt/n/made-$round"
    # Those of version 3 wait for the end of grace, which lasts a whole lease.
    case $locks$MOUNT_OPTIONS in
    nosharecache*vers=4*) if flock -n /run/other/held true; then fail "round $round: the lock was lost"; fi ;;
    esac
    until [ -e "$WORK/revived" ]; do sleep 0.05; done
done
note "$moves heads killed, or their address moved: the next change was answered after $((sum * 10 / moves)) ms on average, $((largest * 10)) ms at most"
[ $hosts = 0 ] || note "$hosts hosts killed: after $((host_gap * 10)) ms at most"
# Far more than a move takes on a busy machine, and less than a connection that hangs.
[ $largest -lt 6000 ] || fail "a move took $((largest * 10)) ms"
if [ "$locks" ]; then
    # In grace the answer takes until its end.
    if flock -n /run/other/held true; then fail "the lock was lost"; fi
    let_go lock
    wait
    timeout 60 flock /run/other/held true || fail "the lock is not free"
    umount /run/other
    if dmesg | grep -i 'lost . locks\|failed to reclaim'; then fail "the client lost its lock"; fi
    note "the lock was reclaimed at each head"
fi
expect_on_server held safe large
