#!/bin/bash
/etc/eks/bootstrap.sh prod --kubelet-extra-args '--image-gc-high-threshold=60 --image-gc-low-threshold=70'
