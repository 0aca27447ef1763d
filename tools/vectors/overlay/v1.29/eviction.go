package eviction

// Added to the upstream package at build time (go build -overlay). Only exposes unexported functions; decides nothing.

import (
	"sort"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/client-go/tools/record"
	statsapi "k8s.io/kubelet/pkg/apis/stats/v1alpha1"
	evictionapi "k8s.io/kubernetes/pkg/kubelet/eviction/api"
	"k8s.io/kubernetes/pkg/kubelet/lifecycle"
	"k8s.io/kubernetes/pkg/kubelet/server/stats"
	"k8s.io/utils/clock"
)

// ExportObservation is what a signal was seen at.
type ExportObservation struct{ Available, Capacity *resource.Quantity }

// ExportThresholdsMet calls thresholdsMet.
func ExportThresholdsMet(ts []evictionapi.Threshold, obs map[evictionapi.Signal]ExportObservation, enforceMinReclaim bool) []evictionapi.Threshold {
	o := signalObservations{}
	for k, v := range obs {
		o[k] = signalObservation{available: v.Available, capacity: v.Capacity}
	}
	return thresholdsMet(ts, o, enforceMinReclaim)
}

// ExportObserve calls makeSignalObservations.
func ExportObserve(s *statsapi.Summary) map[evictionapi.Signal]ExportObservation {
	obs, _ := makeSignalObservations(s)
	out := map[evictionapi.Signal]ExportObservation{}
	for k, v := range obs {
		out[k] = ExportObservation{Available: v.available, Capacity: v.capacity}
	}
	return out
}

// ExportRank ranks pods in place by the function upstream uses for the signal.
func ExportRank(withImageFs, split bool, signal string, pods []*v1.Pod, ps []statsapi.PodStats) bool {
	f, ok := buildSignalToRankFunc(withImageFs, split)[evictionapi.Signal(signal)]
	if ok {
		f(pods, cachedStatsFunc(ps))
	}
	return ok
}

// ExportManager drives managerImpl.
type ExportManager struct{ m *managerImpl }

// ExportNewManager calls NewManager.
func ExportNewManager(sp stats.SummaryProvider, cfg Config, kill KillPodFunc, img ImageGC, cgc ContainerGC, rec record.EventRecorder, ref *v1.ObjectReference, clk clock.WithTicker, local bool) *ExportManager {
	m, _ := NewManager(sp, cfg, kill, img, cgc, rec, ref, clk, local)
	return &ExportManager{m: m.(*managerImpl)}
}

// Synchronize calls synchronize.
func (o *ExportManager) Synchronize(d DiskInfoProvider, p ActivePodsFunc) ([]*v1.Pod, error) {
	return o.m.synchronize(d, p)
}

// Conditions lists the node conditions, sorted.
func (o *ExportManager) Conditions() []string {
	out := []string{}
	for _, c := range o.m.nodeConditions {
		out = append(out, string(c))
	}
	sort.Strings(out)
	return out
}

// Met lists the thresholds that upstream keeps as met (grace period included).
func (o *ExportManager) Met() []evictionapi.Threshold { return o.m.thresholdsMet }

// Admit asks the manager to admit a pod.
func (o *ExportManager) Admit(p *v1.Pod) lifecycle.PodAdmitResult {
	return o.m.Admit(&lifecycle.PodAdmitAttributes{Pod: p})
}
