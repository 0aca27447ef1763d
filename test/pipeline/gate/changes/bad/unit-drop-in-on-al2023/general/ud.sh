#!/bin/bash
cat > /etc/systemd/system/kubelet.service.d/99-x.conf <<EOF
Environment='KUBELET_EXTRA_ARGS=--image-gc-high-threshold=70 --image-gc-low-threshold=60'
EOF
systemctl daemon-reload
