#!/bin/bash
sudo tee /etc/kubernetes/kubelet/config.json <<'JSON'
{"kind":"KubeletConfiguration","apiVersion":"kubelet.config.k8s.io/v1beta1","evictionHard":{"memory.available":"100Mi","nodefs.available":"10%","nodefs.inodesFree":"5%"}}
JSON
