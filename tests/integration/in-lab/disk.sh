# SPDX-License-Identifier: GPL-2.0-or-later
# Guests with disks. Each leaves its console in $LAB_OUT/NAME.console, what outrider said in $LAB_OUT/NAME.errors, and a line
# "NAME EXIT-STATUS" in $LAB_OUT/exits. Facts about the images are in $LAB_OUT/facts.
[ -n "${APART:-}" ] || APART=yes exec unshare -m sh "$0" # what is mounted here goes with us
. ./told.sh

fact() {
	echo "$*" >>"$LAB_OUT/facts"
}

# make_image FILE SIZE: an ext4 file system, in a sparse file.
make_image() {
	truncate -s "$2" "$1"
	./mke2fs -q -t ext4 -E lazy_itable_init=0,lazy_journal_init=0 "$1"
}

sum() {
	sha256sum <"$1"
}

# boot NAME MODE OPTION...: a guest that does what MODE is in disk-init.
boot() {
	name=$1
	mode=$2
	shift 2
	status=0
	timeout -k 20 1200 outrider run --kernel vmlinuz --initrd initrd.img --append "quiet cryptomgr.notests panic=-1 disk=$mode" --memory 256 \
		--console "$LAB_OUT/$name.console" "$@" </dev/null >"$LAB_OUT/$name.output" 2>"$LAB_OUT/$name.errors" || status=$?
	echo "$name $status" >>"$LAB_OUT/exits"
	cat "$LAB_OUT/$name.errors" >>"$LAB_OUT/attempts"
}

make_image ext4 128M

# Data, with one queue, and with the detector and as many queues as there are CPUs.
boot one-queue data --disk ext4,queues=1 --cpus 2 --no-detect
boot detector data --disk ext4 --cpus 2 --rate 200 --seed 1
boot four-queues data --disk ext4 --cpus 4 --no-detect
./e2fsck -f -n ext4 >"$LAB_OUT/data.fsck" 2>&1 && fact "clean after data"

# A block device; in a lab without a host of its own it is a file.
./mke2fs -q -F -t ext4 -E lazy_itable_init=0,lazy_journal_init=0 "$BLOCK"
boot block-device data --disk "$BLOCK" --no-detect
./e2fsck -f -n "$BLOCK" >"$LAB_OUT/block.fsck" 2>&1 && fact "clean on the block device"

# Discarded blocks take no room on the host.
fact "KiB $(du -k ext4 | cut -f 1)"

# Nothing can write to a disk that is read-only, and a guest that writes to an overlay changes nothing.
sum ext4 >before
fact "sha256 $(cat before)"
boot read-only ro --disk ext4,ro --no-detect
boot overlay data --disk ext4,overlay --no-detect
sum ext4 | cmp -s before - && fact "unchanged"

# A host with a full disk, first under an image, then under an overlay.
mkdir full
mount -t tmpfs -o size=8m tmp full
truncate -s 64M full/disk
boot full full --disk full/disk --no-detect
rm full/disk
truncate -s 64M large
sum large >before
TMPDIR=full boot full-overlay full --disk large,overlay --no-detect
sum large | cmp -s before - && fact "large unchanged"

# killed NAME FILE-SYSTEM: a guest writes records, and confirms each record after an fsync. Meanwhile the script kills outrider without a
# warning. A second guest looks for the records.
killed() {
	console=$LAB_OUT/$1.console
	outrider run --kernel vmlinuz --initrd initrd.img --append "quiet cryptomgr.notests disk=records-$2" --memory 256 --console "$console" \
		--disk "$1" --no-detect </dev/null >"$LAB_OUT/$1.output" 2>"$LAB_OUT/$1.errors" &
	running=$!
	until_true confirmed 5
	if [ "$1" = ext4-records ]; then
		# Two outriders do not share an image.
		boot locked data --disk "$1" --no-detect
		boot locked-reader data --disk "$1",ro --no-detect
	fi
	until_true confirmed 100
	kill -9 $running
	killed=0
	wait $running || killed=$?
	echo "$1 $killed" >>"$LAB_OUT/exits"
	boot "$1-found" "found-$2" --disk "$1" --no-detect
}

# confirmed N: the guest has confirmed at least N records, or outrider has ended.
confirmed() {
	kill -0 $running 2>/dev/null || return 0
	[ -e "$console" ] && [ "$(grep -a -c "guest: confirmed" "$console")" -ge "$1" ]
}

make_image ext4-records 128M
killed ext4-records ext4
./e2fsck -f -n ext4-records >"$LAB_OUT/ext4-records.fsck" 2>&1 && fact "ext4 is clean after the kill"
rm ext4-records
truncate -s 320M xfs-records
./mkfs.xfs -q xfs-records
killed xfs-records xfs
./xfs_repair -n xfs-records >"$LAB_OUT/xfs-records.fsck" 2>&1 && fact "xfs is clean after the kill"
