#!/bin/bash
set -ex
sed -i 's/"kind": "KubeletConfiguration"/"kind": "KubeletConfiguration", "imageGCHighThresholdPercent": 70, "imageGCLowThresholdPercent": 60/' /etc/kubernetes/kubelet/kubelet-config.json
/etc/eks/bootstrap.sh prod
