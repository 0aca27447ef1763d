#!/bin/bash
cat > /etc/kubernetes/kubelet/kubelet-config.json <<EOF
{"kind": "KubeletConfiguration", "apiVersion": "kubelet.config.k8s.io/v1beta1", "imageGCHighThresholdPercent": 75, "imageGCLowThresholdPercent": 65}
EOF
/etc/eks/bootstrap.sh prod
