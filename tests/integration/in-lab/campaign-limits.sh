# SPDX-License-Identifier: GPL-2.0-or-later
# Campaigns with limits, on the lab's KVM and in the lab's control groups. How each campaign ended goes to $LAB_OUT/NAME.log, the store to
# $LAB_OUT/store, and all files of the runs to $LAB_OUT/runs.
mount -t cgroup2 none /sys/fs/cgroup

# round NAME: one round of the campaign NAME.xml.
round() {
	status=0
	timeout -k 20 1500 outrider campaign run --overcommit --store "$LAB_OUT/store" "$1.xml" >"$LAB_OUT/$1.log" 2>&1 || status=$?
	echo "exit $status" >>"$LAB_OUT/$1.log"
	sed "s/^/$1: /" "$LAB_OUT/$1.log"
}

for name in heart memory cpu; do
	round "$name"
done
# What the runner has made of groups, and has not taken away.
find /sys/fs/cgroup -type d -name 'outrider-*' >"$LAB_OUT/groups"
dmesg | grep -a "Memory cgroup out of memory" >"$LAB_OUT/killed" || :
