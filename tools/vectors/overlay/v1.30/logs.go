package logs

// Added to the upstream package at build time (go build -overlay). Only exposes unexported functions; decides nothing.

import (
	"context"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	internalapi "k8s.io/cri-api/pkg/apis"
	kubecontainer "k8s.io/kubernetes/pkg/kubelet/container"
	testingclock "k8s.io/utils/clock/testing"
)

// ExportNew calls NewContainerLogManager and sets the clock to a fixed time.
func ExportNew(rs internalapi.RuntimeService, osi kubecontainer.OSInterface, maxSize string, maxFiles int, now func() time.Time) (ContainerLogManager, error) {
	m, err := NewContainerLogManager(rs, osi, maxSize, maxFiles, 1, metav1.Duration{Duration: 10 * time.Second})
	if c, ok := m.(*containerLogManager); ok {
		c.clock = testingclock.NewFakeClock(now())
		if rs == nil {
			c.queue.ShutDown()
		}
	}
	return m, err
}

// ExportRotate makes one pass over the running containers, as the monitor and one worker would.
// It answers whether the manager rotates at all.
func ExportRotate(ctx context.Context, m ContainerLogManager) (bool, error) {
	c, ok := m.(*containerLogManager)
	if !ok {
		return false, nil
	}
	defer c.queue.ShutDown()
	if err := c.rotateLogs(ctx); err != nil {
		return true, err
	}
	for c.queue.Len() > 0 {
		c.processContainer(ctx, 0)
	}
	return true, nil
}
