package logs

// Added to the upstream package at build time (go build -overlay). Only exposes unexported functions; decides nothing.

import (
	"context"
	"time"

	internalapi "k8s.io/cri-api/pkg/apis"
	kubecontainer "k8s.io/kubernetes/pkg/kubelet/container"
	testingclock "k8s.io/utils/clock/testing"
)

// ExportNew calls NewContainerLogManager and sets the clock to a fixed time.
func ExportNew(rs internalapi.RuntimeService, osi kubecontainer.OSInterface, maxSize string, maxFiles int, now func() time.Time) (ContainerLogManager, error) {
	m, err := NewContainerLogManager(rs, osi, maxSize, maxFiles)
	if c, ok := m.(*containerLogManager); ok {
		c.clock = testingclock.NewFakeClock(now())
	}
	return m, err
}

// ExportRotate makes one pass over the running containers. It answers whether the manager rotates at all.
func ExportRotate(ctx context.Context, m ContainerLogManager) (bool, error) {
	c, ok := m.(*containerLogManager)
	if !ok {
		return false, nil
	}
	return true, c.rotateLogs(ctx)
}
