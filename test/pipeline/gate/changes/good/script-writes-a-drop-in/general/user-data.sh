#!/bin/bash
mkdir -p /etc/kubernetes/kubelet/config.json.d
cat > /etc/kubernetes/kubelet/config.json.d/90-x.conf <<EOF
{"kind": "KubeletConfiguration", "apiVersion": "kubelet.config.k8s.io/v1beta1", "imageGCHighThresholdPercent": 75, "imageGCLowThresholdPercent": 65}
EOF
