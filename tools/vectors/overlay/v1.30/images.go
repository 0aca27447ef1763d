package images

// Added to the upstream package at build time (go build -overlay). Only exposes unexported functions; decides nothing.

import (
	"context"
	"time"

	"go.opentelemetry.io/otel/trace"
	v1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/record"
	"k8s.io/kubernetes/pkg/kubelet/container"
)

// ExportImageGC drives realImageGCManager.
type ExportImageGC struct{ im *realImageGCManager }

// ExportImageRecord is what upstream remembers of an image.
type ExportImageRecord struct {
	FirstDetected, LastUsed time.Time
	Pinned                  bool
}

// ExportNewImageGC calls NewImageGCManager.
func ExportNewImageGC(rt container.Runtime, sp StatsProvider, rec record.EventRecorder, p ImageGCPolicy) (*ExportImageGC, error) {
	m, err := NewImageGCManager(rt, sp, rec, &v1.ObjectReference{}, p, trace.NewNoopTracerProvider())
	if err != nil {
		return nil, err
	}
	return &ExportImageGC{im: m.(*realImageGCManager)}, nil
}

// Detect calls detectImages.
func (o *ExportImageGC) Detect(ctx context.Context, t time.Time) error {
	_, err := o.im.detectImages(ctx, t)
	return err
}

// GarbageCollect calls GarbageCollect.
func (o *ExportImageGC) GarbageCollect(ctx context.Context, began time.Time) error {
	return o.im.GarbageCollect(ctx, began)
}

// DeleteUnused calls DeleteUnusedImages.
func (o *ExportImageGC) DeleteUnused(ctx context.Context) error { return o.im.DeleteUnusedImages(ctx) }

// Records lists what is remembered.
func (o *ExportImageGC) Records() map[string]ExportImageRecord {
	out := map[string]ExportImageRecord{}
	for k, r := range o.im.imageRecords {
		out[k] = ExportImageRecord{FirstDetected: r.firstDetected, LastUsed: r.lastUsed, Pinned: r.pinned}
	}
	return out
}

// ExportRuntime is a base for fakes. This version knows no image volumes.
type ExportRuntime struct {
	container.Runtime
	Volumes func(containerID string) []string
}
