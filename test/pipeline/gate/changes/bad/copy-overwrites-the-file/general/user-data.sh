#!/bin/bash
cat > /tmp/new.json <<EOF
{"kind": "KubeletConfiguration", "apiVersion": "kubelet.config.k8s.io/v1beta1", "imageGCHighThresholdPercent": 75, "imageGCLowThresholdPercent": 65}
EOF
cp /tmp/new.json /etc/kubernetes/kubelet/config.json
