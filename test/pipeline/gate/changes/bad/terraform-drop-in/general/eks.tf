resource "aws_launch_template" "general" {
  user_data = base64encode(<<-EOT
    #!/bin/bash
    mkdir -p /etc/kubernetes/kubelet/config.json.d
    cat > /etc/kubernetes/kubelet/config.json.d/99.conf <<JSON
    {"kind":"KubeletConfiguration","apiVersion":"kubelet.config.k8s.io/v1beta1","imageGCHighThresholdPercent":50,"imageGCLowThresholdPercent":60}
    JSON
  EOT
  )
}
