// This file is compiled beside the unmodified files of upstream's pkg/kubelet/images, whose records are not exported.

package images

import (
	"context"
	"time"

	noop "go.opentelemetry.io/otel/trace/noop"
	v1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/record"
	statsapi "k8s.io/kubelet/pkg/apis/stats/v1alpha1"
	"k8s.io/kubernetes/pkg/kubelet/container"
)

// Record is an image as the kubelet knew it before this round.
type Record struct {
	ID        string
	SizeBytes int64
	Pinned    bool
	// Ages, as upstream always takes its own clock for now. A nil one was never used.
	DetectedAgo time.Duration
	UsedAgo     *time.Duration
}

// Collector is the image garbage collector of one node that only notes what it would delete.
type Collector struct {
	manager *realImageGCManager
	node    *node
	records []Record
}

// NewCollector makes upstream's manager; inUse are images of containers.
func NewCollector(policy ImageGCPolicy, records []Record, inUse []string, capacityBytes, availableBytes uint64) (*Collector, error) {
	n := &node{fs: &statsapi.FsStats{CapacityBytes: &capacityBytes, AvailableBytes: &availableBytes}}
	for _, r := range records {
		n.images = append(n.images, container.Image{ID: r.ID, Size: r.SizeBytes, Pinned: r.Pinned})
	}
	for _, id := range inUse {
		n.pods = append(n.pods, &container.Pod{Containers: []*container.Container{{ImageID: id}}})
	}
	manager, err := NewImageGCManager(n, n, nil, &record.FakeRecorder{}, &v1.ObjectReference{}, policy, noop.NewTracerProvider())
	if err != nil {
		return nil, err
	}
	return &Collector{manager.(*realImageGCManager), n, records}, nil
}

// Reset puts the records back as they were before the first round.
func (c *Collector) Reset() {
	now := time.Now()
	c.node.deleted = nil
	c.manager.imageRecords = make(map[string]*imageRecord, len(c.records))
	for _, r := range c.records {
		kept := &imageRecord{firstDetected: now.Add(-r.DetectedAgo), size: r.SizeBytes, pinned: r.Pinned}
		if r.UsedAgo != nil {
			kept.lastUsed = now.Add(-*r.UsedAgo)
		}
		c.manager.imageRecords[r.ID] = kept
	}
}

// Collect runs one round and tells which images it deleted, in order.
func (c *Collector) Collect() []string {
	// Its error says that too little could be freed, which is an answer like any other.
	_ = c.manager.GarbageCollect(context.Background(), time.Now())
	return c.node.deleted
}

// node is the container runtime and its filesystem. What the collector does not ask for is not there.
type node struct {
	container.Runtime
	images  []container.Image
	pods    []*container.Pod
	fs      *statsapi.FsStats
	deleted []string
}

func (n *node) ListImages(context.Context) ([]container.Image, error) { return n.images, nil }

func (n *node) GetPods(context.Context, bool) ([]*container.Pod, error) { return n.pods, nil }

func (n *node) RemoveImage(_ context.Context, image container.ImageSpec) error {
	n.deleted = append(n.deleted, image.Image)
	return nil
}

func (n *node) ImageFsStats(context.Context) (*statsapi.FsStats, *statsapi.FsStats, error) {
	return n.fs, n.fs, nil
}
