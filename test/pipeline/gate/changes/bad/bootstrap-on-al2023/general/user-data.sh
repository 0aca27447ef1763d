#!/bin/bash
set -e
/etc/eks/bootstrap.sh prod \
  --kubelet-extra-args '--image-gc-high-threshold=70 --image-gc-low-threshold=60'
