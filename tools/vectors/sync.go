package main

import (
	"bytes"
	"context"
	"fmt"
	"sort"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/record"
	statsapi "k8s.io/kubelet/pkg/apis/stats/v1alpha1"
	"k8s.io/kubernetes/pkg/kubelet/eviction"
	testingclock "k8s.io/utils/clock/testing"
)

// syncInput is one timeline of the eviction manager.
type syncInput struct {
	Config      syncConfig `json:"config"`
	ImageFs     bool       `json:"dedicatedImageFs"`
	ContainerFs bool       `json:"dedicatedContainerFs"`
	Pods        L          `json:"pods"`
	PodStats    L          `json:"podStats"`
	Steps       []syncStep `json:"steps"`
	AdmitProbes L          `json:"admitProbes,omitempty"`
}

type syncConfig struct {
	evictionConfig
	PressureTransitionPeriod      string `json:"evictionPressureTransitionPeriod"`
	MaxPodGracePeriod             int64  `json:"evictionMaxPodGracePeriod"`
	LocalStorageCapacityIsolation bool   `json:"localStorageCapacityIsolation"`
}

type syncStep struct {
	At           string `json:"at"`
	Node         M      `json:"node"`
	AfterReclaim M      `json:"nodeAfterReclaim,omitempty"`
	PodStats     L      `json:"podStats,omitempty"`
}

type fakeSummary struct {
	cur, after *statsapi.Summary
	calls      int
}

func (f *fakeSummary) Get(context.Context, bool) (*statsapi.Summary, error) {
	f.calls++
	if f.calls > 1 && f.after != nil {
		return f.after, nil
	}
	return f.cur, nil
}
func (f *fakeSummary) GetCPUAndMemoryStats(context.Context) (*statsapi.Summary, error) {
	return f.cur, nil
}

type fakeDisk struct{ image, container bool }

func (f fakeDisk) HasDedicatedImageFs(context.Context) (bool, error)     { return f.image, nil }
func (f fakeDisk) HasDedicatedContainerFs(context.Context) (bool, error) { return f.container, nil }

type gcLog struct {
	calls *[]string
	split bool
}

func (f gcLog) DeleteUnusedImages(context.Context) error {
	*f.calls = append(*f.calls, "imageGC")
	return nil
}

// IsContainerFsSeparateFromImageFs is asked by old versions only.
func (f gcLog) IsContainerFsSeparateFromImageFs(context.Context) bool { return f.split }
func (f gcLog) DeleteAllUnusedContainers(context.Context) error {
	*f.calls = append(*f.calls, "containerGC")
	return nil
}

type eventLog struct{ reclaim []string }

func (e *eventLog) note(reason string, args ...any) {
	if reason == "EvictionThresholdMet" {
		e.reclaim = append(e.reclaim, fmt.Sprint(args...))
	}
}

type recorderShim struct {
	record.EventRecorder
	e   *eventLog
	ann *map[string]string
}

func (r recorderShim) Event(runtime.Object, string, string, string) {}
func (r recorderShim) Eventf(_ runtime.Object, _, reason, _ string, args ...any) {
	r.e.note(reason, args...)
}
func (r recorderShim) AnnotatedEventf(_ runtime.Object, a map[string]string, _, _, _ string, _ ...any) {
	*r.ann = a
}

// runSync plays a timeline once; the second result says whether some step held two thresholds, where upstream's choice may be arbitrary.
func runSync(in syncInput) ([]M, bool, error) {
	start, err := time.Parse(time.RFC3339, in.Steps[0].At)
	must(err)
	clk := testingclock.NewFakeClock(start)
	ts, err := in.Config.parse()
	if err != nil {
		return nil, false, err
	}
	period, err := time.ParseDuration(in.Config.PressureTransitionPeriod)
	must(err)
	var gc []string
	var killed L
	var ann map[string]string
	ev := &eventLog{}
	active := toPods(in.Pods)
	gone := map[string]bool{}
	kill := func(p *v1.Pod, isEvicted bool, grace *int64, fn func(*v1.PodStatus)) error {
		st := p.Status.DeepCopy()
		fn(st)
		k := M{"pod": p.Name, "gracePeriodSeconds": nil, "phase": string(st.Phase), "reason": st.Reason, "message": st.Message, "disruptionTarget": nil, "annotations": nil}
		if grace != nil {
			k["gracePeriodSeconds"] = *grace
		}
		if len(ann) > 0 {
			k["annotations"] = ann
		}
		for _, c := range st.Conditions {
			if c.Type == v1.DisruptionTarget {
				k["disruptionTarget"] = M{"status": string(c.Status), "reason": c.Reason}
			}
		}
		killed = append(killed, k)
		gone[p.Name] = true
		return nil
	}
	sp := &fakeSummary{}
	cfg := eviction.Config{PressureTransitionPeriod: period, MaxPodGracePeriodSeconds: in.Config.MaxPodGracePeriod, Thresholds: ts}
	m := eviction.ExportNewManager(sp, cfg, kill, gcLog{&gc, in.ContainerFs}, gcLog{&gc, in.ContainerFs}, recorderShim{e: ev, ann: &ann}, &v1.ObjectReference{}, clk, in.Config.LocalStorageCapacityIsolation)
	out := []M{}
	multi := false
	for _, s := range in.Steps {
		at, err := time.Parse(time.RFC3339, s.At)
		must(err)
		clk.SetTime(at)
		ps := in.PodStats
		if s.PodStats != nil {
			ps = s.PodStats
		}
		mk := func(node M) *statsapi.Summary {
			if node == nil {
				return nil
			}
			sum := &statsapi.Summary{Pods: toStats(ps)}
			into(node, &sum.Node)
			return sum
		}
		sp.cur, sp.after, sp.calls = mk(s.Node), mk(s.AfterReclaim), 0
		gc, killed, ann, ev.reclaim = []string{}, L{}, nil, nil
		pods := []*v1.Pod{}
		for _, p := range active {
			if !gone[p.Name] {
				pods = append(pods, p)
			}
		}
		_, err = m.Synchronize(fakeDisk{in.ImageFs, in.ContainerFs}, func() []*v1.Pod { return pods })
		met := []string{}
		for _, t := range m.Met() {
			kind := "soft"
			if t.GracePeriod == 0 {
				kind = "hard"
			}
			met = append(met, string(t.Signal)+" "+kind)
		}
		if len(met) > 1 {
			multi = true
		}
		sort.Strings(met)
		var reclaim any
		if len(ev.reclaim) > 0 {
			reclaim = ev.reclaim[0]
		}
		step := M{"conditions": m.Conditions(), "thresholdsMet": met, "reclaiming": reclaim, "gcCalls": gc, "killed": killed, "error": errText(err)}
		if len(in.AdmitProbes) > 0 {
			ad := M{}
			for _, p := range toPods(in.AdmitProbes) {
				r := m.Admit(p)
				ad[p.Name] = r.Admit
			}
			step["admitted"] = ad
		}
		out = append(out, step)
	}
	return out, multi, nil
}

// stableSync answers the timeline, and false where repeated runs differ.
func (g *gen) stableSync(in syncInput) ([]M, bool) {
	first, multi, err := runSync(in)
	if err != nil {
		return nil, false
	}
	want := encode(g.t, first)
	runs := 4
	if multi {
		runs = 240
	}
	for k := 0; k < runs; k++ {
		again, _, _ := runSync(in)
		if !bytes.Equal(want, encode(g.t, again)) {
			return nil, false
		}
	}
	return first, true
}

// anySync collects every outcome seen over many runs.
func (g *gen) anySync(in syncInput) []json0 {
	seen := map[string]int{}
	for k := 0; k < 1500; k++ {
		o, _, err := runSync(in)
		must(err)
		seen[string(encode(g.t, o))]++
	}
	keys := []string{}
	for k := range seen {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	out := []json0{}
	for _, k := range keys {
		out = append(out, json0(k))
	}
	return out
}

type json0 string

func (j json0) MarshalJSON() ([]byte, error) { return []byte(j), nil }

// nodeState says how much of each thing is left; a missing entry is not reported at all.
type nodeState struct {
	mem, alloc, nodeB, nodeI, imgB, imgI, ctrB, ctrI, pids *int64
	memCap, allocCap, nodeCap, nodeICap, imgCap, imgICap   int64
	pidCap                                                 int64
}

func i64(v int64) *int64 { return &v }

func baseState() nodeState {
	return nodeState{memCap: 16 * gi, allocCap: 15 * gi, nodeCap: 100 * gi, nodeICap: 50000000, imgCap: 200 * gi, imgICap: 80000000, pidCap: 32768,
		mem: i64(9 * gi), alloc: i64(8 * gi), nodeB: i64(60 * gi), nodeI: i64(30000000), imgB: i64(120 * gi), imgI: i64(60000000), pids: i64(30000)}
}

// node writes the state as the kubelet's summary of the node.
func (s nodeState) node(at string, imageFs, containerFs bool) M {
	n := M{"nodeName": "node-1", "startTime": t0Text, "systemContainers": L{}}
	if s.alloc != nil {
		n["systemContainers"] = L{M{"name": "pods", "startTime": t0Text, "memory": M{"time": at, "availableBytes": *s.alloc, "workingSetBytes": s.allocCap - *s.alloc}}}
	}
	if s.mem != nil {
		n["memory"] = M{"time": at, "availableBytes": *s.mem, "workingSetBytes": s.memCap - *s.mem}
	}
	fs := func(b, i *int64, bc, ic int64) M {
		m := M{"time": at}
		if b != nil {
			m["availableBytes"], m["capacityBytes"], m["usedBytes"] = *b, bc, bc-*b
		}
		if i != nil {
			m["inodesFree"], m["inodes"], m["inodesUsed"] = *i, ic, ic-*i
		}
		return m
	}
	nodefs := fs(s.nodeB, s.nodeI, s.nodeCap, s.nodeICap)
	n["fs"] = nodefs
	img := nodefs
	if imageFs {
		img = fs(s.imgB, s.imgI, s.imgCap, s.imgICap)
	}
	rt := M{"imageFs": img}
	if containerFs || !imageFs {
		rt["containerFs"] = nodefs
	} else {
		rt["containerFs"] = img
	}
	n["runtime"] = rt
	if s.pids != nil {
		n["rlimit"] = M{"time": at, "maxpid": s.pidCap, "curproc": s.pidCap - *s.pids}
	}
	return n
}

func at(sec int64) string {
	t, _ := time.Parse(time.RFC3339, t0Text)
	return t.Add(time.Duration(sec) * time.Second).Format(time.RFC3339)
}

func sync0(c syncConfig, img, ctr bool, pods, st L, steps ...syncStep) syncInput {
	return syncInput{Config: c, ImageFs: img, ContainerFs: ctr, Pods: pods, PodStats: st, Steps: steps}
}

func genSync(g *gen) {
	dropped, kills, acted := 0, 0, 0
	add := func(n string, in syncInput) bool {
		o, ok := g.stableSync(in)
		if !ok {
			dropped++
			return false
		}
		for _, s := range o {
			kills += len(s["killed"].(L))
			if s["reclaiming"] != nil {
				acted++
			}
		}
		g.add(n, in, M{"steps": o})
		return true
	}
	cfg := func(f func(*syncConfig)) syncConfig {
		c := syncConfig{evictionConfig: evictionConfig{EvictionHard: strMap{"memory.available": "500Mi", "nodefs.available": "10%", "nodefs.inodesFree": "5%", "imagefs.available": "15%", "imagefs.inodesFree": "5%"}, EnforceNodeAllocatable: []string{"pods"}},
			PressureTransitionPeriod: "5m0s", LocalStorageCapacityIsolation: true}
		if f != nil {
			f(&c)
		}
		return c
	}
	st := func(f func(*nodeState)) nodeState {
		s := baseState()
		if f != nil {
			f(&s)
		}
		return s
	}
	few := func() (L, L) {
		p, s := L{}, L{}
		for _, x := range []struct {
			n    string
			prio any
			req  string
			ws   int64
		}{{"calm", 0, "900Mi", 500 * mi}, {"greedy", 0, "100Mi", 900 * mi}, {"important", 1000, "100Mi", 1200 * mi}, {"static-critical", 2000001000, "", 2000 * mi}} {
			a, b := memPod(x.n, x.prio, x.req, x.ws)
			p, s = append(p, a), append(s, b)
		}
		return p, s
	}
	one := func(sec int64, s nodeState, img, ctr bool) syncStep {
		return syncStep{At: at(sec), Node: s.node(at(sec), img, ctr)}
	}
	shift := int64(0)

	calm := st(nil)
	low := st(func(s *nodeState) { s.mem = i64(400*mi - shift*mi) })
	p, s := few()
	add("memory: hard threshold kills the worst, then the condition stays for the transition period", sync0(cfg(nil), false, false, p, s,
		one(0, calm, false, false), one(10, low, false, false), one(20, calm, false, false), one(309, calm, false, false), one(310+shift*0, calm, false, false), one(400, calm, false, false)))
	soft := cfg(func(c *syncConfig) {
		c.EvictionSoft, c.EvictionSoftGracePeriod = strMap{"memory.available": "1Gi"}, strMap{"memory.available": "1m30s"}
		c.MaxPodGracePeriod = 60 + shift
	})
	softLow := st(func(s *nodeState) { s.mem = i64(800 * mi) })
	add("memory: soft threshold waits for its grace period", sync0(soft, false, false, p, s,
		one(0, softLow, false, false), one(60, softLow, false, false), one(89, softLow, false, false), one(90, softLow, false, false), one(120, calm, false, false)))
	add("memory: soft threshold is forgotten when it clears", sync0(soft, false, false, p, s,
		one(0, softLow, false, false), one(60, calm, false, false), one(70, softLow, false, false), one(150, softLow, false, false), one(160, softLow, false, false)))
	rec := cfg(func(c *syncConfig) { c.EvictionMinimumReclaim = strMap{"memory.available": "500Mi"} })
	mid := st(func(s *nodeState) { s.mem = i64(900 * mi) })
	add("memory: minimum reclaim goes on killing", sync0(rec, false, false, p, s,
		one(0, low, false, false), one(10, mid, false, false), one(20, mid, false, false), one(30, calm, false, false), one(40, mid, false, false)))
	stale := syncStep{At: at(20), Node: low.node(at(10), false, false)}
	add("memory: stale stats are not acted on again", sync0(cfg(nil), false, false, p, s, one(10, low, false, false), stale, one(30, low, false, false)))
	full := st(func(s *nodeState) { s.nodeB = i64(9*gi - shift*mi) })
	x := one(0, full, false, false)
	x.AfterReclaim = calm.node(at(1), false, false)
	add("disk: garbage collection is enough", sync0(cfg(nil), false, false, p, s, x, one(10, calm, false, false)))
	x2 := one(0, full, false, false)
	x2.AfterReclaim = st(func(s *nodeState) { s.nodeB = i64(9*gi + 100*mi) }).node(at(1), false, false)
	dp, ds := L{}, L{}
	for i, n := range []string{"logger", "writer", "cache", "idle"} {
		a, b := diskPod(n, []string{"", "3Gi", "1Gi", "1Gi"}[i], []int64{100 * mi, 2 * gi, 2 * gi, 10 * mi}[i], []int64{2 * gi, 10 * mi, 20 * mi, 1 * mi}[i], 0, 100, 10, 0, nil)
		dp, ds = append(dp, a), append(ds, b)
	}
	nodefsOnly := cfg(func(c *syncConfig) {
		delete(c.EvictionHard, "imagefs.available")
		delete(c.EvictionHard, "imagefs.inodesFree")
	})
	add("disk: garbage collection is not enough", sync0(nodefsOnly, false, false, dp, ds, x2, one(10, calm, false, false)))
	add("disk: nothing is collected for nodefs when images have their own", sync0(cfg(nil), true, false, dp, ds, one(0, full, true, false), one(10, calm, true, false)))
	imgFull := st(func(s *nodeState) { s.imgB = i64(20*gi + shift) })
	add("disk: imagefs of its own", sync0(cfg(nil), true, false, dp, ds, one(0, imgFull, true, false), one(10, calm, true, false)))
	add("disk: split image and container filesystems", sync0(cfg(nil), true, true, dp, ds, one(0, imgFull, true, true), one(10, full, true, true), one(20, calm, true, true)))
	reclaimMem := one(0, st(func(s *nodeState) { s.imgB = i64(20 * gi); s.mem = i64(9 * gi) }), true, false)
	reclaimMem.AfterReclaim = st(func(s *nodeState) { s.mem = i64(300 * mi) }).node(at(1), true, false)
	add("disk: relief that meets another threshold does not count", sync0(cfg(nil), true, false, dp, ds, reclaimMem, one(10, calm, true, false)))
	pidc := cfg(func(c *syncConfig) { c.EvictionHard["pid.available"] = "10%" })
	pids := st(func(s *nodeState) { s.pids = i64(3000 - shift) })
	add("pid pressure", sync0(pidc, false, false, p, s, one(0, calm, false, false), one(10, pids, false, false), one(20, calm, false, false)))
	add("memory before disk", sync0(cfg(nil), true, false, p, s, one(0, st(func(s *nodeState) { s.mem = i64(100 * mi); s.nodeB = i64(1 * gi) }), true, false), one(10, calm, true, false)))
	off := cfg(func(c *syncConfig) { c.evictionConfig = evictionConfig{}; c.LocalStorageCapacityIsolation = false })
	add("no thresholds and no local storage isolation: nothing happens", sync0(off, false, false, p, s, one(0, low, false, false), one(10, low, false, false)))
	// Local storage limits.
	lp, ls := L{}, L{}
	mkLocal := func(n string, size string, used int64, eph string, total int64, climit string, root, logs int64, prio any) {
		c := M{"name": "c"}
		lim := M{}
		if climit != "" {
			lim["ephemeral-storage"] = climit
		}
		if eph != "" {
			lim["ephemeral-storage"] = eph
		}
		if len(lim) > 0 {
			c["resources"] = M{"limits": lim, "requests": lim}
		}
		spec := M{"containers": L{c}}
		if prio != nil {
			spec["priority"] = prio
		}
		stt := M{"podRef": M{"name": n, "namespace": "default", "uid": "uid-" + n}, "startTime": t0Text, "containers": L{M{"name": "c", "startTime": t0Text,
			"rootfs": M{"time": t0Text, "usedBytes": root, "inodesUsed": 1}, "logs": M{"time": t0Text, "usedBytes": logs, "inodesUsed": 1}}}, "ephemeral-storage": M{"time": t0Text, "usedBytes": total}}
		if size != "" {
			e := M{}
			if size != "-" {
				e["sizeLimit"] = size
			}
			spec["volumes"] = L{M{"name": "scratch", "emptyDir": e}}
			stt["volume"] = L{M{"name": "scratch", "time": t0Text, "usedBytes": used, "inodesUsed": 4}}
		}
		lp = append(lp, M{"metadata": M{"name": n, "namespace": "default", "uid": "uid-" + n}, "spec": spec})
		ls = append(ls, stt)
	}
	mkLocal("emptydir-at-limit", "1Gi", gi, "", 0, "", 0, 0, nil)
	mkLocal("emptydir-over", "1Gi", gi+1, "", 0, "", 0, 0, nil)
	mkLocal("emptydir-zero-limit", "0", gi, "", 0, "", 0, 0, nil)
	mkLocal("emptydir-no-limit", "-", 50*gi, "", 0, "", 0, 0, nil)
	mkLocal("pod-over", "", 0, "2Gi", 2*gi+1+shift, "", 0, 0, nil)
	mkLocal("pod-at-limit", "", 0, "2Gi", 2*gi, "", 0, 0, nil)
	mkLocal("container-over", "", 0, "", 100*mi, "500Mi", 300*mi, 201*mi, nil)
	mkLocal("container-over-without-rootfs", "", 0, "", 100*mi, "500Mi", 10*mi, 501*mi, nil)
	mkLocal("container-at-limit", "", 0, "", 100*mi, "500Mi", 300*mi, 200*mi, nil)
	mkLocal("critical-over", "1Gi", 9*gi, "", 0, "", 0, 0, 2000000000)
	mkLocal("nearly-critical-over", "1Gi", 9*gi, "", 0, "", 0, 0, 1999999999)
	add("local storage: limits, one filesystem", sync0(cfg(nil), false, false, lp, ls, one(0, calm, false, false), one(10, calm, false, false)))
	add("local storage: limits, imagefs of its own", sync0(cfg(nil), true, false, lp, ls, one(0, calm, true, false), one(10, calm, true, false)))
	add("local storage: comes before node pressure", sync0(cfg(nil), false, false, lp, ls, one(0, low, false, false), one(10, low, false, false), one(20, low, false, false)))
	add("local storage: isolation off", sync0(cfg(func(c *syncConfig) { c.LocalStorageCapacityIsolation = false }), false, false, lp, ls, one(0, calm, false, false)))
	// Admission under pressure.
	probes := L{
		M{"metadata": M{"name": "best-effort"}, "spec": M{"containers": L{M{"name": "c"}}}},
		M{"metadata": M{"name": "best-effort-tolerating"}, "spec": M{"containers": L{M{"name": "c"}}, "tolerations": L{M{"key": "node.kubernetes.io/memory-pressure", "operator": "Exists", "effect": "NoSchedule"}}}},
		M{"metadata": M{"name": "tolerates-everything"}, "spec": M{"containers": L{M{"name": "c"}}, "tolerations": L{M{"operator": "Exists"}}}},
		M{"metadata": M{"name": "burstable"}, "spec": M{"containers": L{M{"name": "c", "resources": M{"requests": M{"memory": "1Mi"}}}}}},
		M{"metadata": M{"name": "critical"}, "spec": M{"priority": 2000000000, "containers": L{M{"name": "c"}}}},
		M{"metadata": M{"name": "static", "annotations": M{"kubernetes.io/config.source": "file"}}, "spec": M{"containers": L{M{"name": "c"}}}},
	}
	ad := sync0(cfg(nil), true, false, p, s, one(0, calm, true, false), one(10, low, true, false), one(20, full, true, false), one(30, calm, true, false), one(320, calm, true, false))
	ad.AdmitProbes = probes
	add("admission under pressure", ad)

	// Where upstream picks by map order, every outcome that it can have is listed.
	anyOf := func(n string, in syncInput) {
		o := g.anySync(in)
		l := L{}
		for _, x := range o {
			l = append(l, M{"steps": x})
		}
		g.add(n, in, M{"anyOf": l})
	}
	both := cfg(func(c *syncConfig) {
		c.EvictionSoft, c.EvictionSoftGracePeriod = strMap{"memory.available": "1Gi"}, strMap{"memory.available": "1m"}
		c.MaxPodGracePeriod = 45 + shift
	})
	anyOf("unordered: hard and soft memory thresholds at once", sync0(both, false, false, p, s, one(0, softLow, false, false), one(60, low, false, false)))
	twoDisks := st(func(s *nodeState) { s.nodeB = i64(3 * gi); s.imgI = i64(1000) })
	anyOf("unordered: nodefs space and imagefs inodes at once", sync0(cfg(nil), true, false, dp, ds, one(0, twoDisks, true, false)))
	anyOf("unordered: one filesystem, nodefs and imagefs thresholds at once", sync0(cfg(nil), false, false, dp, ds, x2, one(10, calm, false, false)))

	// Random timelines.
	want := g.n(110)
	for i := 0; want > 0 && i < 20*g.n(110); i++ {
		if add(fmt.Sprintf("random %d", i), g.randomSync()) {
			want--
		}
	}
	stats["eviction-sync"] = fmt.Sprintf("killed %d, steps that act %d, timelines dropped as unordered %d", kills, acted, dropped)
}

func (g *gen) randomSync() syncInput {
	shape := pick(g, [2]bool{false, false}, [2]bool{true, false}, [2]bool{true, false}, [2]bool{true, true})
	img, ctr := shape[0], shape[1]
	hard := strMap{"memory.available": pick(g, "100Mi", "500Mi", "5%"), "nodefs.available": pick(g, "10%", "5Gi"), "nodefs.inodesFree": "5%", "imagefs.available": pick(g, "15%", "10%"), "imagefs.inodesFree": "5%"}
	if g.chance(0.4) {
		hard["pid.available"] = pick(g, "10%", "1000")
	}
	c := syncConfig{evictionConfig: evictionConfig{EvictionHard: hard}, PressureTransitionPeriod: pick(g, "5m0s", "30s", "0s", "2m"), LocalStorageCapacityIsolation: g.chance(0.8)}
	if g.chance(0.6) {
		c.EnforceNodeAllocatable = []string{"pods"}
	}
	focus := pick(g, "memory", "memory", "allocatable", "nodefs", "nodefsInodes", "imagefs", "imagefsInodes", "pid", "local", "local")
	if focus == "pid" && hard["pid.available"] == "" {
		hard["pid.available"] = "10%"
	}
	if !img && focus != "imagefs" && focus != "imagefsInodes" && g.chance(0.8) {
		delete(hard, "imagefs.available")
		delete(hard, "imagefs.inodesFree")
	}
	if focus == "allocatable" {
		c.EnforceNodeAllocatable = []string{"pods"}
		hard["memory.available"] = "500Mi"
	}
	if focus == "local" {
		c.LocalStorageCapacityIsolation = true
	}
	softSignal := strMap{"memory": "memory.available", "nodefs": "nodefs.available", "imagefs": "imagefs.available", "pid": "pid.available", "nodefsInodes": "nodefs.inodesFree", "imagefsInodes": "imagefs.inodesFree"}[focus]
	softOnly := false
	if softSignal != "" && g.chance(0.5) {
		c.EvictionSoft = strMap{softSignal: pick(g, "20%", "25%")}
		c.EvictionSoftGracePeriod = strMap{softSignal: pick(g, "30s", "1m", "1m30s", "0s")}
		c.MaxPodGracePeriod = pick(g, int64(0), 30, 60, 120)
		softOnly = g.chance(0.7)
	}
	if softSignal != "" && g.chance(0.5) {
		c.EvictionMinimumReclaim = strMap{softSignal: pick(g, "5%", "500Mi", "1Gi")}
		if focus == "nodefsInodes" || focus == "imagefsInodes" || focus == "pid" {
			c.EvictionMinimumReclaim[softSignal] = pick(g, "5%", "500")
		}
	}
	in := syncInput{Config: c, ImageFs: img, ContainerFs: ctr}
	for j := 0; j < int(g.between(2, 5)); j++ {
		p, s := g.pod(j, podOpts{usage: true, priority: true, limits: focus == "local", critical: g.chance(0.4), time: t0Text})
		in.Pods, in.PodStats = append(in.Pods, p), append(in.PodStats, s)
	}
	// frac picks how much is left: calm, soft, hard, or just above (to test the minimum reclaim).
	frac := func(capacity int64, level int) int64 {
		f := 0.0
		switch level {
		case 0:
			f = 0.4 + 0.4*g.r.Float64()
		case 1:
			f = 0.155 + 0.04*g.r.Float64()
		case 2:
			f = 0.001 + 0.02*g.r.Float64()
		case 3:
			f = 0.03 + 0.2*g.r.Float64()
		}
		return int64(f * float64(capacity))
	}
	set := func(s *nodeState, level int) {
		switch focus {
		case "memory":
			s.mem = i64(frac(s.memCap, level))
		case "allocatable":
			s.alloc = i64(frac(s.allocCap, level))
		case "nodefs":
			s.nodeB = i64(frac(s.nodeCap, level))
		case "nodefsInodes":
			s.nodeI = i64(frac(s.nodeICap, level))
		case "imagefs":
			s.imgB = i64(frac(s.imgCap, level))
		case "imagefsInodes":
			s.imgI = i64(frac(s.imgICap, level))
		case "pid":
			s.pids = i64(frac(s.pidCap, level))
		}
	}
	sec := int64(0)
	level := 0
	for j := 0; j < int(g.between(3, 6)); j++ {
		if j == 0 || g.chance(0.55) {
			if softOnly {
				level = pick(g, 0, 1, 1, 1)
			} else {
				level = pick(g, 0, 2, 2, 3)
			}
		}
		s := baseState()
		set(&s, level)
		step := syncStep{At: at(sec), Node: s.node(at(sec), img, ctr)}
		if g.chance(0.08) && j > 0 {
			step.Node = s.node(at(max(sec-45, 0)), img, ctr)
		}
		if level > 0 && g.chance(0.5) {
			a := baseState()
			set(&a, pick(g, 0, 0, level, 3))
			step.AfterReclaim = a.node(at(sec+1), img, ctr)
		}
		in.Steps = append(in.Steps, step)
		sec += pick(g, int64(10), 10, 30, 31, 60, 90, 120, 300)
	}
	return in
}
