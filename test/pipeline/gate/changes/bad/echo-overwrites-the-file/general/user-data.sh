#!/bin/bash
CONFIG=/etc/kubernetes/kubelet/config.json
echo '{
  "kind": "KubeletConfiguration",
  "apiVersion": "kubelet.config.k8s.io/v1beta1",
  "evictionHard": {"memory.available": "100Mi", "nodefs.available": "12%"}
}' | sudo tee "$CONFIG" > /dev/null
