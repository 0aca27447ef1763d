#!/bin/bash
F=/etc/kubernetes/kubelet/config.json
echo "$(jq '.imageGCHighThresholdPercent=75 | .imageGCLowThresholdPercent=65' $F)" > $F
