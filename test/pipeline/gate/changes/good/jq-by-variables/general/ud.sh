#!/bin/bash
KUBELET_CONFIG=/etc/kubernetes/kubelet/config.json
TMP=$(mktemp)
jq '.imageGCHighThresholdPercent = 75 | .imageGCLowThresholdPercent = 65' "$KUBELET_CONFIG" > "$TMP"
cp "$TMP" "$KUBELET_CONFIG"
