#!/bin/bash
sed -i 's/"imageGCHighThresholdPercent": [0-9]*/"imageGCHighThresholdPercent": 70/' /etc/kubernetes/kubelet/kubelet-config.json
