#!/bin/bash
F=/etc/kubernetes/kubelet/kubelet-config.json
jq '.evictionHard["nodefs.available"]="15%"' $F > /tmp/f && mv /tmp/f $F
