#!/bin/bash
cat > /tmp/extra.json <<EOF
{"kind": "KubeletConfiguration", "apiVersion": "kubelet.config.k8s.io/v1beta1", "imageGCHighThresholdPercent": 75, "imageGCLowThresholdPercent": 65}
EOF
jq -s '.[0] * .[1]' /etc/kubernetes/kubelet/config.json /tmp/extra.json > /tmp/new.json
mv /tmp/new.json /etc/kubernetes/kubelet/config.json
