# SPDX-License-Identifier: GPL-2.0-or-later
# A guest on user-mode networking, one on a tap, and networks that cannot be set up.
. ./told.sh

# An address of the lab host that is not loopback, for a host without network cards.
ip addr add 192.0.2.1/32 dev lo
dd if=/dev/urandom of=data bs=1M count=8 2>/dev/null
sha256sum <data >"$LAB_OUT/sum"

# A standard input that neither has anything nor ends: busybox' nc ends when either of its two sides does.
console_input never

# serve NAME: give out the data once, and take it once.
serve() {
	nc -l -p 5001 <data >/dev/null &
	nc -l -p 5002 >"$1.back" <>never &
	back=$!
}

# returned NAME: whether the data came back. A connection has ended when its outrider has.
returned() {
	[ ! -s "$1.back" ] || wait $back
	cmp data "$1.back" && echo "$1 back" >>"$LAB_OUT/exits"
}

# guest NAME NET OPTION...: run the guest to its end.
guest() {
	name=$1
	net=$2
	shift 2
	status=0
	timeout -k 20 1200 outrider run --kernel vmlinuz --initrd net.img --cpus 2 --net "$net" --console "$LAB_OUT/$name.log" "$@" \
		>"$LAB_OUT/$name.out" 2>&1 || status=$?
	[ $status = 0 ] || tail -n 5 "$LAB_OUT/$name.out"
	echo "$name exit $status" >>"$LAB_OUT/exits"
}

# echoed WORD: the guest, which port 2222 is forwarded to, sends WORD back.
echoed() {
	[ "$(echo "$1" | nc -w 20 127.0.0.1 2222 2>/dev/null)" = "$1" ]
}

# forwarded: a second connection is echoed too, and the script notes it. Between two connections the guest does not listen for a moment.
forwarded() {
	echoed "hello again" && echo "forwarded" >>"$LAB_OUT/exits"
}

# or_gone COMMAND...: it succeeds, or the guest $running has ended.
or_gone() {
	"$@" || ! kill -0 "$running" 2>/dev/null
}

# refused NAME NET: an outrider that ends at once; as a user who has no rights but for /dev/kvm.
refused() {
	status=0
	timeout -k 20 300 ./setpriv --reuid=1234 --regid=1234 --clear-groups ./outrider run --kernel vmlinuz --initrd net.img --net "$2" \
		>"$LAB_OUT/$1.out" 2>"$LAB_OUT/$1.err" </dev/null || status=$?
	echo "$1 exit $status" >>"$LAB_OUT/exits"
}

# User-mode networking, with the detector on.
mkdir -p /etc
echo nameserver 127.0.0.1 >/etc/resolv.conf
serve user
nc -l -p 53 >"$LAB_OUT/dns" <>never &
nc -l -p 5003 >leak <>never &
leak=$!
guest user user,hostfwd=tcp::2222-:22 --append "net=user quiet cryptomgr.notests" --rate 500 --delay 1000 --seed 1 &
running=$!
until_true or_gone grep -q -a -s "guest: serves" "$LAB_OUT/user.log"
until_true or_gone echoed hello
until_true or_gone forwarded
until_true or_gone echoed enough
wait $running
returned user
kill -0 $leak 2>/dev/null && kill $leak && [ ! -s leak ] && echo "no leak" >>"$LAB_OUT/exits"

# A tap.
insmod tun.ko
tunctl -t tap0 >/dev/null
ip addr add 192.168.77.1/24 dev tap0
ip link set dev tap0 mtu 4000 up
serve tap
guest tap tap=tap0 --append "net=tap quiet cryptomgr.notests" --rate 500 --delay 1000 --seed 1
returned tap

# Networks that cannot be set up.
chmod 666 /dev/kvm /dev/net/tun
chmod 755 . ./outrider ./setpriv
nc -l -p 2222 <>never >/dev/null &
until_true grep -q ":08AE 0*:0000 0A" /proc/net/tcp /proc/net/tcp6
refused port user,hostfwd=tcp::2222-:22
kill $!
refused nosuch tap=tap7
chmod 600 /dev/net/tun
refused rights tap=tap0
