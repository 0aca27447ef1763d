#!/bin/bash
cat > /etc/kubernetes/kubelet/config.json <<EOF
{"kind":"KubeletConfiguration","apiVersion":"kubelet.config.k8s.io/v1beta1","clusterDNS":["$DNS"],"maxPods":$MAX_PODS,"imageGCHighThresholdPercent":75,"imageGCLowThresholdPercent":65}
EOF
