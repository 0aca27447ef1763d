package cm

// Added to the upstream package at build time (go build -overlay). Only exposes unexported functions; decides nothing.

import (
	v1 "k8s.io/api/core/v1"
	evictionapi "k8s.io/kubernetes/pkg/kubelet/eviction/api"
)

// ExportReservation calls GetNodeAllocatableReservation, GetNodeAllocatableAbsolute and validateNodeAllocatable.
func ExportReservation(capacity, kube, system v1.ResourceList, hard []evictionapi.Threshold) (reservation, absolute v1.ResourceList, err error) {
	c := &containerManagerImpl{
		capacity: capacity,
		NodeConfig: NodeConfig{NodeAllocatableConfig: NodeAllocatableConfig{
			KubeReserved: kube, SystemReserved: system, HardEvictionThresholds: hard,
		}},
	}
	return c.GetNodeAllocatableReservation(), c.GetNodeAllocatableAbsolute(), c.validateNodeAllocatable()
}
