# SPDX-License-Identifier: GPL-2.0-or-later
# Reads what `expected` printed, then what an outrider prints while it runs, which is passed on. As soon as a case is found, "enough CASE" goes
# to the file TELL: the guest's console. With RACES above 0, "enough busy" follows the RACES-th race.
# awk -v tell=TELL -v races=RACES -f enough.awk EXPECTED -

function say(name) {
	print "enough " name >tell
	fflush(tell)
}

function among(word, list) {
	return index("," list ",", "," word ",") > 0
}

# fits(S, I, W): side S of the race is side W of case I. A device, which has a colon in its name, is in no module.
function fits(s, i, w) {
	return (module[s] == expected_module[i] || where[s] ~ /:/) && where[s] == expected_where[i, w] && among(kind[s], kinds[i, w]) && among(size[s], sizes[i, w])
}

# As `check` has it; its file has the sides in either order.
function proves(i) {
	if (sides == 2)
		return (fits(1, i, 1) && fits(2, i, 2) || fits(1, i, 2) && fits(2, i, 1)) && (kind[1] ~ /write/ || kind[2] ~ /write/)
	return sides == 1 && reread[i] && (fits(1, i, 1) || fits(1, i, 2))
}

NR == FNR {
	cases++
	name[cases] = $1
	expected_module[cases] = $2
	reread[cases] = $3
	for (w = 1; w <= 2; w++) {
		expected_where[cases, w] = $(3 * w + 1)
		kinds[cases, w] = $(3 * w + 2)
		sizes[cases, w] = $(3 * w + 3)
	}
	next
}

{
	print
	fflush()
}

/^RACE / {
	sides = 0
	if (++seen == races)
		say("busy")
	next
}

# A side's first line, of a module: "  read       gt_x+0xc [outrider_gt]   4 bytes at 0x...".
/^  (read|write|read-write) / && $2 ~ /\+0x[0-9a-f]+$/ && $3 ~ /^\[.*\]$/ && $5 ~ /^bytes?$/ {
	sides++
	kind[sides] = $1
	where[sides] = substr($2, 1, index($2, "+") - 1)
	module[sides] = substr($3, 2, length($3) - 2)
	size[sides] = $4
	next
}

# A side of a device: "  write      virtio-blk 0, queue 0: read of sector 8192, ...".
/^  (read|write|read-write) / && $3 ~ /^[0-9]+,$/ && $4 == "queue" {
	sides++
	kind[sides] = $1
	operation = $6
	sub(/,$/, "", operation)
	where[sides] = $2 ":" operation
	module[sides] = ""
	size[sides] = "-"
	next
}

# A function of the kernel and not of a module: it is a side all the same.
/^  (read|write|read-write) / {
	sides++
	module[sides] = where[sides] = ""
	next
}

# The race's last line.
/^  seen by / {
	for (i = 1; i <= cases; i++) {
		if (!told[i] && proves(i)) {
			told[i] = 1
			say(name[i])
		}
	}
}
