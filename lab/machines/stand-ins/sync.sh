#!/bin/sh
# No node of the lab loses its power, and this machine's disk has other things to do.
exit 0
