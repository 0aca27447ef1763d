#!/bin/bash
mkdir -p /etc/kubernetes/kubelet/kubelet-config.json.d
cat > /etc/kubernetes/kubelet/kubelet-config.json.d/90-disk.conf <<'EOF'
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
imageGCHighThresholdPercent: 70
imageGCLowThresholdPercent: 60
EOF
