package kuberuntime

// Added to the upstream package at build time (go build -overlay). Only exposes unexported functions; decides nothing.

import (
	"context"

	"go.opentelemetry.io/otel/trace"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/record"
	internalapi "k8s.io/cri-api/pkg/apis"
	"k8s.io/kubernetes/pkg/kubelet/cm"
	kubecontainer "k8s.io/kubernetes/pkg/kubelet/container"
	"k8s.io/kubernetes/pkg/kubelet/logs"
)

// ExportPodState answers what the kubelet knows of a pod.
type ExportPodState interface {
	IsPodTerminationRequested(types.UID) bool
	ShouldPodContentBeRemoved(types.UID) bool
	ShouldPodRuntimeBeRemoved(types.UID) bool
}

// ExportedGC drives containerGC.
type ExportedGC struct{ gc *containerGC }

// ExportNewGC builds a containerGC over a runtime service.
func ExportNewGC(rs internalapi.RuntimeService, osi kubecontainer.OSInterface, lm logs.ContainerLogManager, ps ExportPodState, _ string) *ExportedGC {
	m := &kubeGenericRuntimeManager{
		runtimeName:       "containerd",
		recorder:          &record.FakeRecorder{},
		osInterface:       osi,
		runtimeService:    rs,
		logManager:        lm,
		internalLifecycle: cm.NewFakeInternalContainerLifecycle(),
	}
	return &ExportedGC{gc: newContainerGC(rs, ps, m, trace.NewNoopTracerProvider().Tracer("vectors"))}
}

// GarbageCollect calls GarbageCollect.
func (o *ExportedGC) GarbageCollect(ctx context.Context, p kubecontainer.GCPolicy, allSourcesReady, evictNonDeletedPods bool) error {
	return o.gc.GarbageCollect(ctx, p, allSourcesReady, evictNonDeletedPods)
}
