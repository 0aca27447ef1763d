#!/bin/sh
exec "${HIGHWATER_ROOT%/root}/run" nodeadm "$@"
