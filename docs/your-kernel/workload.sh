#!/bin/sh
# The guest's first process: loads the module, lets two processes use its device for 30 seconds, and powers off.
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev

insmod /ticket.ko
dd if=/dev/ticket of=/dev/null bs=8 &
dd if=/dev/ticket of=/dev/null bs=8 &
sleep 30
poweroff -f
sleep 60 # power-off is asynchronous, and an init that returns is a panic
