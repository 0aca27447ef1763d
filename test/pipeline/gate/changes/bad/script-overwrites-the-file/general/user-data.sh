#!/bin/bash
cat > /etc/kubernetes/kubelet/config.json <<EOF
{
  "kind": "KubeletConfiguration",
  "apiVersion": "kubelet.config.k8s.io/v1beta1",
  "imageGCHighThresholdPercent": 75,
  "imageGCLowThresholdPercent": 65
}
EOF
systemctl restart kubelet
