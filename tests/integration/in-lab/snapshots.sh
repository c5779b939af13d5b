# SPDX-License-Identifier: GPL-2.0-or-later
# A guest at work that is saved and goes on in a new VM, again and again; and copies of one that goes on itself. What the guests say,
# and snapshots' own words, are in $LAB_OUT/*.log.
snapshots replace vmlinuz initrd.img "quiet cryptomgr.notests -- sh:/work dmesg poweroff" "$MIB" "$CYCLES" >"$LAB_OUT/replace.log" 2>&1
echo "replace exit $?"
snapshots fork vmlinuz initrd.img "quiet cryptomgr.notests -- sh:/work dmesg poweroff" "$MIB" "$FORKS" "$COPIES" disk.img >"$LAB_OUT/fork.log" 2>&1
echo "fork exit $?"
dd if=disk.img bs=4096 skip=2048 count=1 2>/dev/null | head -c 64 >"$LAB_OUT/mark"
