# SPDX-License-Identifier: GPL-2.0-or-later
# A Debian system on its root disk, sampled from the first moment on: it boots to a login, works (in-guest/debian.sh) and powers off.
# ROOT, WORK: the disks. SECONDS_EACH, STRESSORS, CLASSES: the guest's work. CPUS of the guest. OPTIONS: of outrider run, more.
. ./machine.sh

# The guest does not reach loopback addresses, so the lab gets an address that is none.
ip address add 192.0.2.1/32 dev lo || exit 1
busybox httpd -p 192.0.2.1:8000 -h repository || exit 1
iperf3 -s -D -B 192.0.2.1 || exit 1

# The options are words.
# shellcheck disable=SC2086
machine_start debian outrider run --kernel vmlinuz --initrd initrd.img --cpus "$CPUS" --memory 640M --disk "$ROOT" --disk "$WORK,ro" --net user --rng \
	--append "root=/dev/vda quiet cryptomgr.notests systemd.show_status=0" --console debian.console --json "$LAB_OUT/races.json" --seed 1 ${OPTIONS:-}
began=$(cut -d. -f1 /proc/uptime)
machine_does debian /dev/vdb "$SECONDS_EACH" "'$STRESSORS'" "$CLASSES"
echo "login after $(($(cut -d. -f1 /proc/uptime) - began)) s"
machine_ends debian
status=$?
echo "ended after $(($(cut -d. -f1 /proc/uptime) - began)) s with status $status"
cp debian.console "$LAB_OUT"
exit $status
