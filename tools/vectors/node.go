package main

import (
	"context"
	"fmt"
	"regexp"
	"sort"

	v1 "k8s.io/api/core/v1"
	"k8s.io/kubernetes/cmd/kubelet/app"
	v1qos "k8s.io/kubernetes/pkg/apis/core/v1/helper/qos"
	"k8s.io/kubernetes/pkg/kubelet/cadvisor"
	"k8s.io/kubernetes/pkg/kubelet/cm"
	"k8s.io/kubernetes/pkg/kubelet/eviction"
	"k8s.io/kubernetes/pkg/kubelet/nodestatus"
	"k8s.io/kubernetes/pkg/kubelet/qos"
)

func oomAnswer(pod M, capacity int64) M {
	p := &v1.Pod{}
	into(pod, p)
	scores := M{}
	for i := range p.Spec.InitContainers {
		scores[p.Spec.InitContainers[i].Name] = qos.GetContainerOOMScoreAdjust(p, &p.Spec.InitContainers[i], capacity)
	}
	for i := range p.Spec.Containers {
		scores[p.Spec.Containers[i].Name] = qos.GetContainerOOMScoreAdjust(p, &p.Spec.Containers[i], capacity)
	}
	return M{"qosClass": string(v1qos.GetPodQOS(p)), "oomScoreAdjust": scores}
}

func genOOM(g *gen) {
	classes := map[string]int{}
	add := func(n string, pod M, capacity int64) {
		a := oomAnswer(pod, capacity)
		classes[a["qosClass"].(string)]++
		g.add(n, M{"pod": pod, "memoryCapacityBytes": capacity}, a)
	}
	res := func(req, lim M) M {
		m := M{}
		if req != nil {
			m["requests"] = req
		}
		if lim != nil {
			m["limits"] = lim
		}
		return m
	}
	mk := func(f func(spec M), cs ...M) M {
		l := L{}
		for i, r := range cs {
			c := M{"name": fmt.Sprintf("c%d", i)}
			if r != nil {
				c["resources"] = r
			}
			l = append(l, c)
		}
		spec := M{"containers": l}
		if f != nil {
			f(spec)
		}
		return M{"metadata": M{"name": "p", "namespace": "default"}, "spec": spec}
	}
	capacity := 16 * gi

	both := func(cpu, mem string) M { return res(M{"cpu": cpu, "memory": mem}, M{"cpu": cpu, "memory": mem}) }
	type named struct {
		n string
		p M
	}
	cases := []named{
		{"best effort", mk(nil, nil)},
		{"guaranteed", mk(nil, both("100m", "1Gi"))},
		{"limits only are requests too", mk(nil, res(nil, M{"cpu": "1", "memory": "1Gi"}))},
		{"guaranteed in other words", mk(nil, res(M{"cpu": "1000m", "memory": "1024Mi"}, M{"cpu": "1", "memory": "1Gi"}))},
		{"cpu only", mk(nil, res(M{"cpu": "100m"}, nil))},
		{"one of two without resources", mk(nil, both("1", "1Gi"), nil)},
		{"zero requests", mk(nil, res(M{"cpu": "0", "memory": "0"}, nil))},
		{"zero limits", mk(nil, res(M{"cpu": "0", "memory": "0"}, M{"cpu": "0", "memory": "0"}))},
		{"request larger than the node", mk(nil, res(M{"memory": "64Gi"}, nil))},
		{"request of half the node", mk(nil, res(M{"memory": fmt.Sprint(capacity / 2)}, nil))},
		{"request of all the node", mk(nil, res(M{"memory": fmt.Sprint(capacity)}, nil))},
		{"request just under a thousandth", mk(nil, res(M{"memory": fmt.Sprint(capacity/1000 - 1)}, nil))},
		{"request just over a thousandth", mk(nil, res(M{"memory": fmt.Sprint(capacity/1000 + 1)}, nil))},
		{"request of 997 thousandths", mk(nil, res(M{"memory": fmt.Sprint(capacity/1000*997 + 1000)}, nil))},
		{"only ephemeral storage", mk(nil, res(M{"ephemeral-storage": "1Gi"}, nil))},
		{"extended resource only", mk(nil, res(M{"example.com/gpu": "1"}, M{"example.com/gpu": "1"}))},
		{"node critical", mk(func(s M) { s["priority"] = 2000001000; s["priorityClassName"] = "system-node-critical" }, nil)},
		{"cluster critical", mk(func(s M) { s["priority"] = 2000000000; s["priorityClassName"] = "system-cluster-critical" }, nil)},
		{"node critical by name only", mk(func(s M) { s["priorityClassName"] = "system-node-critical" }, nil)},
		{"sidecar follows the smallest regular container", mk(func(s M) {
			s["initContainers"] = L{M{"name": "sc", "restartPolicy": "Always", "resources": res(M{"memory": "10Mi"}, nil)}}
		}, res(M{"memory": "4Gi"}, nil), res(M{"memory": "2Gi"}, nil))},
		{"large sidecar keeps its own", mk(func(s M) {
			s["initContainers"] = L{M{"name": "sc", "restartPolicy": "Always", "resources": res(M{"memory": "6Gi"}, nil)}}
		}, res(M{"memory": "4Gi"}, nil), res(M{"memory": "2Gi"}, nil))},
		{"plain init container", mk(func(s M) { s["initContainers"] = L{M{"name": "i", "resources": res(M{"memory": "10Mi"}, nil)}} }, res(M{"memory": "4Gi"}, nil))},
		{"init container breaks guaranteed", mk(func(s M) { s["initContainers"] = L{M{"name": "i"}} }, both("1", "1Gi"))},
	}

	for _, c := range cases {
		add(c.n, c.p, capacity)
	}
	podLevel := mk(func(s M) { s["resources"] = res(M{"memory": "6Gi", "cpu": "1"}, nil) }, res(M{"memory": "1Gi"}, nil), nil)
	add("pod level requests are shared out", podLevel, capacity)
	add("pod level guaranteed", mk(func(s M) { s["resources"] = both("1", "2Gi") }, nil, res(M{"memory": "1Gi"}, nil)), capacity)

	for i := 0; i < g.n(220); i++ {
		p, _ := g.pod(i, podOpts{priority: true, podLevel: true, critical: g.chance(0.15)})
		if g.chance(0.08) {
			p["spec"].(M)["priorityClassName"] = pick(g, "system-node-critical", "system-cluster-critical")
			p["spec"].(M)["priority"] = 2000000000 + int(g.between(0, 1))*1000
		}
		if g.chance(0.2) {
			for _, k := range []string{"containers", "initContainers"} {
				if l, ok := p["spec"].(M)[k].(L); ok {
					for _, c := range l {
						c.(M)["resources"] = both(pick(g, "1", "500m"), pick(g, "256Mi", "1Gi"))
					}
				}
			}
		}
		add(fmt.Sprintf("random %d", i), p, pick(g, 1*gi, 2*gi, 4*gi, 8*gi, 16*gi, 64*gi, g.between(gi/2, 512*gi)))
	}
	stats["oom-score"] = fmt.Sprint(classes)
}

type nodeIn struct {
	Cores     int               `json:"cpuCores"`
	Memory    int64             `json:"memoryBytes"`
	Ephemeral int64             `json:"ephemeralStorageBytes"`
	HugePages map[string]uint64 `json:"hugePages,omitempty"` // page size in KiB -> count
	MaxPods   int               `json:"maxPods"`
	PerCore   int               `json:"podsPerCore"`
	Kube      strMap            `json:"kubeReserved,omitempty"`
	System    strMap            `json:"systemReserved,omitempty"`
	Hard      strMap            `json:"evictionHard,omitempty"`
}

var overReserved = regexp.MustCompile(`Resource "([^"]+)" has an? `)

func listJSON(r v1.ResourceList) M {
	m := M{}
	for k, v := range r {
		m[string(k)] = M{"canonical": v.String(), "milliValue": fmt.Sprint(v.MilliValue())}
	}
	return m
}

func allocatableAnswer(in nodeIn) M {
	kube, err := app.ExportParseResourceList(in.Kube)
	if err != nil {
		return M{"ok": false, "error": "kubeReserved: " + err.Error()}
	}
	system, err := app.ExportParseResourceList(in.System)
	if err != nil {
		return M{"ok": false, "error": "systemReserved: " + err.Error()}
	}
	hard, err := eviction.ParseThresholdConfig([]string{}, in.Hard, nil, nil, nil)
	if err != nil {
		return M{"ok": false, "error": "evictionHard: " + err.Error()}
	}
	info := &nodestatus.ExportMachine{NumCores: in.Cores, MemoryCapacity: uint64(in.Memory)}
	for k, n := range in.HugePages {
		var size uint64
		fmt.Sscan(k, &size)
		info.HugePages = append(info.HugePages, nodestatus.ExportHugePages{PageSize: size, NumPages: n})
	}
	eph := nodestatus.ExportEphemeralStorage(uint64(in.Ephemeral))
	capacity := cadvisor.CapacityFromMachineInfo(info)
	for k, v := range eph {
		capacity[k] = v
	}
	reservation, absolute, err := cm.ExportReservation(capacity, kube, system, hard)
	// Upstream's message prints pointers, so only the resources that it names are kept.
	over := []string{}
	if err != nil {
		for _, m := range overReserved.FindAllStringSubmatch(err.Error(), -1) {
			over = append(over, m[1])
		}
	}
	sort.Strings(over)
	node := &v1.Node{}
	set := nodestatus.ExportMachineInfo(in.MaxPods, in.PerCore, info, eph, reservation)
	must(set(context.Background(), node))
	return M{"ok": true, "reservation": listJSON(reservation), "podsCgroupLimit": listJSON(absolute), "capacity": listJSON(node.Status.Capacity), "allocatable": listJSON(node.Status.Allocatable), "overReserved": over}
}

func genAllocatable(g *gen) {
	errs := 0
	add := func(n string, in nodeIn) {
		a := allocatableAnswer(in)
		if a["ok"] == false {
			errs++
		}
		g.add(n, in, a)
	}
	base := nodeIn{Cores: 2, Memory: 8127053824, Ephemeral: 21462233088, MaxPods: 29, Hard: strMap{"memory.available": "100Mi", "nodefs.available": "10%", "nodefs.inodesFree": "5%"}}

	with := func(f func(*nodeIn)) nodeIn {
		n := base
		n.Hard = strMap{}
		for k, v := range base.Hard {
			n.Hard[k] = v
		}
		f(&n)
		return n
	}
	cases := []struct {
		n string
		f func(*nodeIn)
	}{
		{"no reservations", func(n *nodeIn) {}},
		{"as an EKS bootstrap writes it", func(n *nodeIn) {
			n.Kube = strMap{"cpu": "70m", "ephemeral-storage": "1Gi", "memory": "574Mi"}
		}},
		{"both reservations", func(n *nodeIn) {
			n.Kube = strMap{"cpu": "80m", "memory": "893Mi"}
			n.System = strMap{"cpu": "100m", "memory": "0.5Gi", "ephemeral-storage": "2G"}
		}},
		{"no eviction thresholds", func(n *nodeIn) { n.Hard = nil }},
		{"memory threshold in percent", func(n *nodeIn) { n.Hard["memory.available"] = "7.5%" }},
		{"nodefs threshold in bytes", func(n *nodeIn) { n.Hard["nodefs.available"] = "3Gi" }},
		{"reserve more memory than there is", func(n *nodeIn) { n.Kube = strMap{"memory": "64Gi"} }},
		{"reserve more of everything than there is", func(n *nodeIn) { n.System = strMap{"memory": "64Gi", "cpu": "100", "ephemeral-storage": "1Ti"} }},
		{"pid reservation", func(n *nodeIn) { n.Kube = strMap{"pid": "1000"} }},
		{"unknown resource", func(n *nodeIn) { n.Kube = strMap{"disk": "1Gi"} }},
		{"negative reservation", func(n *nodeIn) { n.System = strMap{"memory": "-1Gi"} }},
		{"reservation that is no quantity", func(n *nodeIn) { n.System = strMap{"cpu": "lots"} }},
		{"bad threshold", func(n *nodeIn) { n.Hard["memory.available"] = "lots" }},
		{"pods per core", func(n *nodeIn) { n.PerCore = 5 }},
		{"pods per core above the maximum", func(n *nodeIn) { n.PerCore = 100 }},
		{"huge pages come off memory", func(n *nodeIn) { n.HugePages = map[string]uint64{"2048": 512} }},
		{"fractions of a core", func(n *nodeIn) { n.Kube = strMap{"cpu": "0.0015"}; n.System = strMap{"cpu": "1500u"} }},
		{"ignored threshold", func(n *nodeIn) { n.Hard["memory.available"] = "0%" }},
	}

	for _, c := range cases {
		add(c.n, with(c.f))
	}
	cpu := func() string { return pick(g, "60m", "70m", "100m", "0.25", "1", "1500m", "0") }
	mem := func() string {
		return pick(g, "255Mi", "574Mi", "893Mi", "1Gi", "0.3Gi", "1G", "750000000", "1843Mi", "2.5Gi")
	}
	eph := func() string { return pick(g, "1Gi", "2G", "500Mi", "1e9", "10Gi") }
	for i := 0; i < g.n(170); i++ {
		n := nodeIn{Cores: pick(g, 1, 2, 4, 8, 16, 64), Memory: g.between(gi, 128*gi), Ephemeral: g.between(8*gi, 500*gi), MaxPods: pick(g, 4, 17, 29, 58, 110, 234), PerCore: pick(g, 0, 0, 0, 10), Hard: strMap{}}
		if g.chance(0.8) {
			n.Kube = strMap{}
			if g.chance(0.7) {
				n.Kube["cpu"] = cpu()
			}
			if g.chance(0.8) {
				n.Kube["memory"] = mem()
			}
			if g.chance(0.5) {
				n.Kube["ephemeral-storage"] = eph()
			}
		}
		if g.chance(0.5) {
			n.System = strMap{}
			if g.chance(0.7) {
				n.System["cpu"] = cpu()
			}
			if g.chance(0.7) {
				n.System["memory"] = mem()
			}
			if g.chance(0.3) {
				n.System["ephemeral-storage"] = eph()
			}
			if g.chance(0.1) {
				n.System["pid"] = "1000"
			}
		}
		for _, s := range subset(g, 0.7, userSignals...) {
			n.Hard[s] = g.thresholdText(s)
		}
		if g.chance(0.06) {
			n.HugePages = map[string]uint64{"2048": uint64(g.between(1, 300))}
		}
		if g.chance(0.05) {
			n.Kube = strMap{pick(g, "memory", "cpu"): pick(g, "-1", "x", "1 Gi", "1gb")}
		}
		add(fmt.Sprintf("random %d", i), n)
	}
	stats["allocatable"] = fmt.Sprintf("errors %d", errs)
}
