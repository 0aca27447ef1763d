#!/bin/bash
cat > /tmp/patch.json <<EOF
{"kind":"KubeletConfiguration","apiVersion":"kubelet.config.k8s.io/v1beta1","imageGCHighThresholdPercent":75,"imageGCLowThresholdPercent":65}
EOF
cat /etc/kubernetes/kubelet/config.json /tmp/patch.json | jq -s 'add' | sponge /etc/kubernetes/kubelet/config.json
