# SPDX-License-Identifier: GPL-2.0-or-later
# A Debian system on its root disk under disk and network load (in-guest/load.sh), the whole kernel sampled.
# ROOT, WORK: the disks. BUSY_SECONDS of load. SEED, OPTIONS: of outrider run.
. ./machine.sh

# The guest does not reach loopback addresses, so the lab gets an address that is none.
ip address add 192.0.2.1/32 dev lo || exit 1
iperf3 -s -D -B 192.0.2.1 || exit 1
# The options are words.
# shellcheck disable=SC2086
machine_start load outrider run --kernel vmlinuz --initrd initrd.img --memory 640M --disk "$ROOT" --disk "$WORK,ro" --net user --rng \
	--append "root=/dev/vda quiet systemd.show_status=0" --console load.console --json "$LAB_OUT/races.json" --seed "$SEED" ${OPTIONS:-}
machine_does load /dev/vdb "$BUSY_SECONDS"
echo "login after $login s of the lab"
machine_ends load
status=$?
cp load.console "$LAB_OUT"
exit $status
