#!/bin/sh
exec cat "${HIGHWATER_ROOT%/root}/answers/nproc"
