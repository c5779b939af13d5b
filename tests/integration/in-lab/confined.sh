# SPDX-License-Identifier: GPL-2.0-or-later
# Guests with every device, run by root, by root through sudo for a user (SUDO_UID), and by a user who is only in the group kvm. The script
# leaves the state of the run's threads in $LAB_OUT/NAME.threads, one line a thread, those of its helper processes in NAME.beside, and the report in NAME.json.
. ./told.sh
. ./states.sh

truncate -s 16M disk
chmod 777 . "$LAB_OUT"
chmod 666 disk
chown 0:107 /dev/kvm
chmod 660 /dev/kvm

# run NAME OPTION...: run outrider by the command $by until the guest has started its workload, and look at its threads.
run() {
	name=$1
	shift
	console_input tell
	chmod 666 tell
	rm -f socket
	# Inherited, and not needed.
	$by outrider run --kernel vmlinuz --initrd initrd.img --append "quiet cryptomgr.notests -- wait:600" --disk disk --net user,hostfwd=tcp::2222-:22 --rng \
		--vsock "$vsock" --console "$LAB_OUT/$name.console" --json "$LAB_OUT/$name.json" --seed 1 "$@" <>tell 9<disk \
		>"$LAB_OUT/$name.out" 2>"$LAB_OUT/$name.errors" &
	started=$!
	until_true is_there || :
	states /proc/"$started"/task/* >"$LAB_OUT/$name.threads"
	children=$(cat /proc/"$started"/task/"$started"/children)
	for child in $children; do
		states /proc/"$child" >>"$LAB_OUT/$name.beside"
		ls -l /proc/"$child"/fd >"$LAB_OUT/$name.$(cat /proc/"$child"/comm)-fds"
	done
	ls -l /proc/"$started"/fd >"$LAB_OUT/$name.fds"
	ls -nAR /run/user/1000 >"$LAB_OUT/$name.runtime"
	echo "enough wait" 1<>tell
	status=0
	wait $started || status=$?
	[ $status = 0 ] || tail -n 5 "$LAB_OUT/$name.errors"
	echo "$status" >"$LAB_OUT/$name.status"
	for child in $children; do
		[ ! -e /proc/"$child" ] || echo "$child" >>"$LAB_OUT/$name.left"
	done
	[ ! -e socket ] || echo "left behind" >"$LAB_OUT/$name.socket"
}

# The guest waits and the detector has found the kernel, so all threads are there; or the run has failed.
is_there() {
	! kill -0 "$started" 2>/dev/null ||
		{ grep -a -q "wait:600: start" "$LAB_OUT/$name.console" && grep -q "kernel found" "$LAB_OUT/$name.errors"; }
}

# As pam_systemd makes it for a user who logs in.
mkdir -p -m 755 /run/user
mkdir -m 700 /run/user/1000
chown 1000:1000 /run/user/1000

by=
vsock=3,socket=socket
run root
run open --no-sandbox
by="env SUDO_UID=1000 SUDO_GID=1000"
vsock=3
run sudo
ls -nAR /run/user/1000 >"$LAB_OUT/left.runtime"
vsock=3,socket=socket
by="./without-landlock ./setpriv --reuid 1000 --regid 1000 --groups 107"
run user
outrider doctor >"$LAB_OUT/root.doctor"
$by outrider doctor >"$LAB_OUT/user.doctor"
