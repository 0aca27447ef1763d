package main

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"k8s.io/kubernetes/pkg/kubelet/eviction"
)

// rankOrder answers upstream's order, and false where the order depends on how the input was ordered (a tie).
func rankOrder(imageFs, containerFs bool, signal string, pods, stats L) ([]string, bool) {
	var first []string
	r := rand.New(rand.NewPCG(1, 2))
	for k := 0; k < 12; k++ {
		in := toPods(pods)
		if k > 0 {
			r.Shuffle(len(in), func(i, j int) { in[i], in[j] = in[j], in[i] })
		}
		if !eviction.ExportRank(imageFs, containerFs, signal, in, toStats(stats)) {
			return nil, false
		}
		if first == nil {
			first = podNames(in)
		} else if !slices.Equal(first, podNames(in)) {
			return nil, false
		}
	}
	return first, true
}

const t0Text = "2025-01-01T00:00:00Z"

func memPod(name string, prio any, req string, ws int64) (M, M) {
	spec := M{"containers": L{M{"name": "c", "resources": M{"requests": M{"memory": req}}}}}
	if req == "" {
		spec = M{"containers": L{M{"name": "c"}}}
	}
	if prio != nil {
		spec["priority"] = prio
	}
	return M{"metadata": M{"name": name, "namespace": "default", "uid": "uid-" + name}, "spec": spec},
		M{"podRef": M{"name": name, "namespace": "default", "uid": "uid-" + name}, "startTime": t0Text, "containers": L{}, "memory": M{"time": t0Text, "workingSetBytes": ws}}
}

func diskPod(name string, req string, root, logs, vol, rootInodes, logInodes, volInodes int64, volSource M) (M, M) {
	spec := M{"containers": L{M{"name": "c"}}}
	if req != "" {
		spec = M{"containers": L{M{"name": "c", "resources": M{"requests": M{"ephemeral-storage": req}}}}}
	}
	if volSource != nil {
		v := M{"name": "v"}
		for k, x := range volSource {
			v[k] = x
		}
		spec["volumes"] = L{v}
	}
	st := M{"podRef": M{"name": name, "namespace": "default", "uid": "uid-" + name}, "startTime": t0Text, "containers": L{M{"name": "c", "startTime": t0Text,
		"rootfs": M{"time": t0Text, "usedBytes": root, "inodesUsed": rootInodes}, "logs": M{"time": t0Text, "usedBytes": logs, "inodesUsed": logInodes}}}}
	if volSource != nil {
		st["volume"] = L{M{"name": "v", "time": t0Text, "usedBytes": vol, "inodesUsed": volInodes}}
	}
	return M{"metadata": M{"name": name, "namespace": "default", "uid": "uid-" + name}, "spec": spec}, st
}

func genRank(g *gen) {
	dropped := 0
	add := func(n, signal string, img, ctr bool, pods, st L) bool {
		order, ok := rankOrder(img, ctr, signal, pods, st)
		if !ok {
			dropped++
			return false
		}
		g.add(n, M{"signal": signal, "dedicatedImageFs": img, "dedicatedContainerFs": ctr, "pods": pods, "podStats": st}, M{"order": order})
		return true
	}
	list := func(f func(add func(p, s M))) (L, L) {
		p, s := L{}, L{}
		f(func(a, b M) {
			p = append(p, a)
			if b != nil {
				s = append(s, b)
			}
		})
		return p, s
	}
	k := int64(1)

	p, s := list(func(a func(p, s M)) {
		a(memPod("below-low", 0, "500Mi", 400*mi*k/k))
		a(memPod("above-high", 1000, "100Mi", 400*mi))
		a(memPod("above-low", 0, "100Mi", 300*mi))
		a(memPod("best-effort", 0, "", 150*mi))
		a(memPod("exactly-at-request", -100, "200Mi", 200*mi))
	})
	add("memory: over requests first, then priority, then how far over", "memory.available", false, false, p, s)
	add("memory: allocatable ranks alike", "allocatableMemory.available", false, false, p, s)
	p, s = list(func(a func(p, s M)) {
		a(memPod("no-stats-high", 5000, "500Mi", 0))
		s1, s2 := memPod("over", 0, "100Mi", 800*mi)
		a(s1, s2)
		a(memPod("under", 0, "900Mi", 800*mi))
		a(memPod("over-more", 0, "100Mi", 900*mi))
	})
	s = s[1:]
	add("memory: a pod without stats goes first", "memory.available", false, false, p, s)
	add("pid: a pod without stats is ordered by priority first", "pid.available", false, false, p, s)
	p, s = list(func(a func(p, s M)) {
		for i, n := range []int64{5, 900, 30, 4000} {
			x, y := memPod(fmt.Sprintf("p%d", i), []any{nil, 10, nil, 10}[i], "", 10)
			y["process_stats"] = M{"process_count": n * k}
			a(x, y)
		}
	})
	add("pid: priority, then process count", "pid.available", false, false, p, s)
	p, s = list(func(a func(p, s M)) {
		a(diskPod("root-heavy", "", 5*gi, 1*mi, 0, 10, 1, 0, nil))
		a(diskPod("log-heavy", "", 1*mi, 3*gi, 0, 20, 2, 0, nil))
		a(diskPod("emptydir-heavy", "", 2*mi, 2*mi, 4*gi, 30, 3, 9000, M{"emptyDir": M{}}))
		a(diskPod("memory-emptydir", "", 3*mi, 3*mi, 6*gi, 40, 4, 12000, M{"emptyDir": M{"medium": "Memory"}}))
		a(diskPod("hostpath-heavy", "", 4*mi, 4*mi, 7*gi, 50, 5, 15000, M{"hostPath": M{"path": "/x"}}))
		a(diskPod("claim-heavy", "", 5*mi, 5*mi, 9*gi, 60, 6, 18000, M{"persistentVolumeClaim": M{"claimName": "x"}}))
		a(diskPod("configmap", "", 6*mi, 6*mi, 8*gi, 70, 7, 20000, M{"configMap": M{"name": "x"}}))
	})
	for _, fs := range [][2]bool{{false, false}, {true, false}, {true, true}} {
		for _, sig := range []string{"nodefs.available", "nodefs.inodesFree", "imagefs.available", "imagefs.inodesFree", "containerfs.available", "containerfs.inodesFree"} {
			add(fmt.Sprintf("disk: what counts, %s, image fs %v, container fs %v", sig, fs[0], fs[1]), sig, fs[0], fs[1], p, s)
		}
	}
	p, s = list(func(a func(p, s M)) {
		a(diskPod("big-request", "6Gi", 5*gi, 1*mi, 0, 50000, 1, 0, nil))
		a(diskPod("small-request-over", "1Gi", 1*gi, 1*mi, 0, 10, 2, 0, nil))
		a(diskPod("no-request", "", 300*mi, 1*mi, 0, 70, 3, 0, nil))
		a(diskPod("over-more", "1Gi", 2*gi, 4*mi, 0, 20, 4, 0, nil))
	})
	add("disk: requests count", "nodefs.available", false, false, p, s)
	add("inodes: the storage request is taken off the inode count", "nodefs.inodesFree", false, false, p, s)

	signals := []string{"memory.available", "memory.available", "allocatableMemory.available", "nodefs.available", "nodefs.available", "nodefs.inodesFree", "imagefs.available", "imagefs.inodesFree", "containerfs.available", "containerfs.inodesFree", "pid.available"}
	want := g.n(120)
	for i := 0; want > 0 && i < 20*g.n(120); i++ {
		fs := pick(g, [2]bool{false, false}, [2]bool{true, false}, [2]bool{true, true})
		pods, st := L{}, L{}
		n := int(g.between(4, 8))
		missing := -1
		if g.chance(0.12) {
			missing = g.r.IntN(n)
		}
		for j := 0; j < n; j++ {
			pd, ps := g.pod(j, podOpts{usage: true, priority: true, podLevel: true, time: t0Text})
			pods = append(pods, pd)
			if j != missing {
				st = append(st, ps)
			}
		}
		if add(fmt.Sprintf("random %d", i), pick(g, signals...), fs[0], fs[1], pods, st) {
			want--
		}
	}
	stats["eviction-rank"] = fmt.Sprintf("dropped for ties %d", dropped)
}
