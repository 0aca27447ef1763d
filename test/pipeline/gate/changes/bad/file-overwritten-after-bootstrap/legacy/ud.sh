#!/bin/bash
/etc/eks/bootstrap.sh prod
cat > /etc/kubernetes/kubelet/kubelet-config.json <<EOF
{"kind":"KubeletConfiguration","apiVersion":"kubelet.config.k8s.io/v1beta1","maxPods":29}
EOF
systemctl restart kubelet
