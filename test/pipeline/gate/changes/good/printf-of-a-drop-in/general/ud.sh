#!/bin/bash
DIR=/etc/kubernetes/kubelet/config.json.d
mkdir -p "$DIR"
printf '%s\n' '{"kind":"KubeletConfiguration","apiVersion":"kubelet.config.k8s.io/v1beta1","imageGCHighThresholdPercent":75,"imageGCLowThresholdPercent":65}' > "$DIR/60-gc.conf"
