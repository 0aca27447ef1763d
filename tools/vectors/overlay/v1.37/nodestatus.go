package nodestatus

// Added to the upstream package at build time (go build -overlay). Only exposes unexported functions; decides nothing.

import (
	cadvisorapi "github.com/google/cadvisor/lib/model"
	v1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/kubelet/cadvisor"
)

// ExportMachine and ExportHugePages are the types of the cadvisor that this version uses.
type (
	ExportMachine   = cadvisorapi.MachineInfo
	ExportHugePages = cadvisorapi.HugePagesInfo
)

// ExportEphemeralStorage calls EphemeralStorageCapacityFromFsInfo.
func ExportEphemeralStorage(bytes uint64) v1.ResourceList {
	return cadvisor.EphemeralStorageCapacityFromFsInfo(cadvisorapi.FsInfo{Capacity: bytes})
}

// ExportMachineInfo calls MachineInfo for a machine without devices.
func ExportMachineInfo(maxPods, podsPerCore int, info *ExportMachine, capacity, reservation v1.ResourceList) Setter {
	return MachineInfo("node-1", maxPods, podsPerCore,
		func() (*cadvisorapi.MachineInfo, error) { return info, nil },
		func(klog.Logger, bool) v1.ResourceList { return capacity },
		func(klog.Logger) (v1.ResourceList, v1.ResourceList, []string) { return nil, nil, nil },
		func() v1.ResourceList { return reservation },
		func(string, string, string) {},
		func() *bool { return nil }, true)
}
