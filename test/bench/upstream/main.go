// Ranks pods and collects images with upstream's own code: nodes as JSON in, one after the other; answers and times out.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"time"

	"github.com/go-logr/logr"
	v1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"
	statsapi "k8s.io/kubelet/pkg/apis/stats/v1alpha1"

	"highwater.local/upstream/eviction"
	"highwater.local/upstream/images"
)

const (
	fewestRuns = 5
	mostRuns   = 51
	// After this long it is enough, if there were the fewest runs.
	longEnough = 6 * time.Second
)

type benchNode struct {
	Signal   string              `json:"signal"`
	Pods     []*v1.Pod           `json:"pods"`
	PodStats []statsapi.PodStats `json:"podStats"`
	Images   []struct {
		ID              string `json:"id"`
		SizeBytes       int64  `json:"sizeBytes"`
		Pinned          bool   `json:"pinned"`
		FirstDetectedMs int64  `json:"firstDetectedMs"`
		LastUsedMs      *int64 `json:"lastUsedMs"`
	} `json:"images"`
	InUse   []string `json:"inUse"`
	ImageFs struct {
		CapacityBytes  uint64 `json:"capacityBytes"`
		AvailableBytes uint64 `json:"availableBytes"`
	} `json:"imageFs"`
	HighThresholdPercent int   `json:"highThresholdPercent"`
	LowThresholdPercent  int   `json:"lowThresholdPercent"`
	MinAgeMs             int64 `json:"minAgeMs"`
	NowMs                int64 `json:"nowMs"`
}

// replay is one node, ready to be replayed again and again.
type replay struct {
	pods      []*v1.Pod
	order     []*v1.Pod
	ranking   *eviction.Ranking
	collector *images.Collector
	deleted   []string
}

type times struct {
	Rank    float64 `json:"rank"`
	ImageGc float64 `json:"imageGc"`
	Both    float64 `json:"both"`
}

type result struct {
	GoVersion         string     `json:"goVersion"`
	KubernetesVersion string     `json:"kubernetesVersion"`
	RankedPods        [][]string `json:"rankedPods"`
	DeletedImages     [][]string `json:"deletedImages"`
	WallMs            times      `json:"wallMs"`
	CPUMs             times      `json:"cpuMs"`
	PeakRssBytes      int64      `json:"peakRssBytes"`
	Nodes             int        `json:"nodes"`
	Runs              int        `json:"runs"`
}

func main() {
	// The kubelet would log each deletion; we measure the decision.
	klog.SetLogger(logr.Discard())
	replays, err := read(os.Stdin)
	if err == nil {
		err = json.NewEncoder(os.Stdout).Encode(run(replays))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func read(from io.Reader) ([]*replay, error) {
	var replays []*replay
	for decoder := json.NewDecoder(from); ; {
		var node benchNode
		if err := decoder.Decode(&node); errors.Is(err, io.EOF) {
			return replays, nil
		} else if err != nil {
			return nil, fmt.Errorf("node %d: %w", len(replays), err)
		}
		r, err := newReplay(node)
		if err != nil {
			return nil, fmt.Errorf("node %d: %w", len(replays), err)
		}
		replays = append(replays, r)
	}
}

func newReplay(node benchNode) (*replay, error) {
	ranking, err := eviction.NewRanking(node.Signal, node.PodStats)
	if err != nil {
		return nil, err
	}
	ago := func(ms int64) time.Duration { return time.Duration(node.NowMs-ms) * time.Millisecond }
	var records []images.Record
	for _, image := range node.Images {
		r := images.Record{ID: image.ID, SizeBytes: image.SizeBytes, Pinned: image.Pinned, DetectedAgo: ago(image.FirstDetectedMs)}
		if image.LastUsedMs != nil {
			used := ago(*image.LastUsedMs)
			r.UsedAgo = &used
		}
		records = append(records, r)
	}
	policy := images.ImageGCPolicy{
		HighThresholdPercent: node.HighThresholdPercent,
		LowThresholdPercent:  node.LowThresholdPercent,
		MinAge:               time.Duration(node.MinAgeMs) * time.Millisecond,
	}
	collector, err := images.NewCollector(policy, records, node.InUse, node.ImageFs.CapacityBytes, node.ImageFs.AvailableBytes)
	if err != nil {
		return nil, err
	}
	return &replay{pods: node.Pods, ranking: ranking, collector: collector}, nil
}

// reset is not measured: each run begins with the pods in the order given and with all images there.
func (r *replay) reset() {
	r.order = slices.Clone(r.pods)
	r.collector.Reset()
}

func (r *replay) rank() { r.ranking.Rank(r.order) }

func (r *replay) imageGc() { r.deleted = r.collector.Collect() }

func (r *replay) both() {
	r.rank()
	r.imageGc()
}

func run(replays []*replay) result {
	ranked, deleted := answers(replays)
	var rank, imageGc, both samples
	started := time.Now()
	for rank.count() < fewestRuns || (rank.count() < mostRuns && time.Since(started) < longEnough) {
		rank.measure(replays, (*replay).rank)
		imageGc.measure(replays, (*replay).imageGc)
		both.measure(replays, (*replay).both)
	}
	return result{
		GoVersion:         runtime.Version(),
		KubernetesVersion: kubernetesVersion(),
		RankedPods:        ranked,
		DeletedImages:     deleted,
		WallMs:            times{median(rank.wallMs), median(imageGc.wallMs), median(both.wallMs)},
		CPUMs:             times{median(rank.cpuMs), median(imageGc.cpuMs), median(both.cpuMs)},
		PeakRssBytes:      peakRssBytes(),
		Nodes:             len(replays),
		Runs:              rank.count(),
	}
}

// answers also warms up. Images come first, as they grow older while pods are ranked.
func answers(replays []*replay) (ranked, deleted [][]string) {
	ranked, deleted = [][]string{}, [][]string{}
	for _, r := range replays {
		r.reset()
		r.imageGc()
		r.rank()
		names := make([]string, 0, len(r.order))
		for _, pod := range r.order {
			names = append(names, pod.Name)
		}
		ranked = append(ranked, names)
		deleted = append(deleted, append([]string{}, r.deleted...))
	}
	return ranked, deleted
}

type samples struct{ wallMs, cpuMs []float64 }

func (s *samples) count() int { return len(s.wallMs) }

func (s *samples) measure(replays []*replay, work func(*replay)) {
	for _, r := range replays {
		r.reset()
	}
	runtime.GC()
	cpu, start := cpuTime(), time.Now()
	for _, r := range replays {
		work(r)
	}
	wall := time.Since(start)
	s.wallMs = append(s.wallMs, wall.Seconds()*1000)
	s.cpuMs = append(s.cpuMs, (cpuTime()-cpu).Seconds()*1000)
}

func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	middle := len(sorted) / 2
	if len(sorted)%2 == 1 {
		return sorted[middle]
	}
	return (sorted[middle-1] + sorted[middle]) / 2
}

// kubernetesVersion is the one that this program was really built with.
func kubernetesVersion() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, module := range info.Deps {
			if module.Path == "k8s.io/kubernetes" {
				return module.Version
			}
		}
	}
	return "unknown"
}
