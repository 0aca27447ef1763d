#!/bin/bash
# cat > /etc/kubernetes/kubelet/kubelet-config.json <<EOF
/etc/eks/bootstrap.sh prod --kubelet-extra-args '--image-gc-high-threshold=75 --image-gc-low-threshold=65'
