// This file is compiled beside the unmodified files of upstream's pkg/kubelet/eviction, whose ranking is not exported.

package eviction

import (
	"fmt"

	v1 "k8s.io/api/core/v1"
	statsapi "k8s.io/kubelet/pkg/apis/stats/v1alpha1"
)

// Ranking is how one node orders its pods under pressure on one signal.
type Ranking struct {
	rank  rankFunc
	stats statsFunc
}

// NewRanking takes a node whose images, containers and pods share one filesystem.
func NewRanking(signal string, podStats []statsapi.PodStats) (*Ranking, error) {
	switch signal {
	case "memory.available":
		return &Ranking{rankMemoryPressure, cachedStatsFunc(podStats)}, nil
	case "nodefs.available":
		measured := []fsStatsType{fsStatsImages, fsStatsRoot, fsStatsLogs, fsStatsLocalVolumeSource}
		return &Ranking{rankDiskPressureFunc(measured, v1.ResourceEphemeralStorage), cachedStatsFunc(podStats)}, nil
	}
	return nil, fmt.Errorf("no ranking for the signal %q", signal)
}

// Rank sorts the pods in place, first to be evicted first.
func (r *Ranking) Rank(pods []*v1.Pod) {
	r.rank(pods, r.stats)
}
