package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"sort"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/types"
	internalapi "k8s.io/cri-api/pkg/apis"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
	kubecontainer "k8s.io/kubernetes/pkg/kubelet/container"
	"k8s.io/kubernetes/pkg/kubelet/kuberuntime"
	"k8s.io/kubernetes/pkg/kubelet/logs"
)

type gcPolicy struct {
	MinAge          string `json:"minimumContainerTTLDuration"`
	MaxPerContainer int    `json:"maximumDeadContainersPerContainer"`
	MaxTotal        int    `json:"maximumDeadContainers"`
}

type gcPod struct {
	UID   string `json:"uid"`
	Name  string `json:"name"`
	State string `json:"state"` // running, terminated, deleted
}

type gcContainer struct {
	ID      string `json:"id"`
	PodUID  string `json:"podUID"`
	Name    string `json:"name"`
	Sandbox string `json:"sandbox"`
	State   string `json:"state"` // running, exited, created, unknown
	AgeMs   int64  `json:"ageMs"`
}

type gcSandbox struct {
	ID     string `json:"id"`
	PodUID string `json:"podUID"`
	Ready  bool   `json:"ready"`
	AgeMs  int64  `json:"ageMs"`
}

type gcLink struct {
	Path     string `json:"path"`
	Dangling bool   `json:"dangling"`
}

type gcInput struct {
	Policy         gcPolicy      `json:"policy"`
	AllSources     bool          `json:"allSourcesReady"`
	EvictAll       bool          `json:"evictNonDeletedPods"`
	Pods           []gcPod       `json:"pods"`
	Containers     []gcContainer `json:"containers"`
	Sandboxes      []gcSandbox   `json:"sandboxes"`
	LogDirs        []string      `json:"podLogDirs,omitempty"`
	Links          []gcLink      `json:"logLinks,omitempty"`
	StopErrors     []string      `json:"stopErrors,omitempty"`
	RemoveErrors   []string      `json:"removeErrors,omitempty"`
	SandboxesStuck []string      `json:"sandboxStopErrors,omitempty"`
}

type fakeCRI struct {
	internalapi.RuntimeService
	in                           *gcInput
	containers                   []*runtimeapi.Container
	sandboxes                    []*runtimeapi.PodSandbox
	stopped, removed, removedBox []string
}

var criStates = map[string]runtimeapi.ContainerState{"running": runtimeapi.ContainerState_CONTAINER_RUNNING, "exited": runtimeapi.ContainerState_CONTAINER_EXITED,
	"created": runtimeapi.ContainerState_CONTAINER_CREATED, "unknown": runtimeapi.ContainerState_CONTAINER_UNKNOWN}

func (f *fakeCRI) ListContainers(context.Context, *runtimeapi.ContainerFilter) ([]*runtimeapi.Container, error) {
	return slices.Clone(f.containers), nil
}
func (f *fakeCRI) ListPodSandbox(context.Context, *runtimeapi.PodSandboxFilter) ([]*runtimeapi.PodSandbox, error) {
	return slices.Clone(f.sandboxes), nil
}
func (f *fakeCRI) ContainerStatus(_ context.Context, id string, _ bool) (*runtimeapi.ContainerStatusResponse, error) {
	for _, c := range f.containers {
		if c.Id == id {
			return &runtimeapi.ContainerStatusResponse{Status: &runtimeapi.ContainerStatus{Id: id, Metadata: c.Metadata, State: c.State, CreatedAt: c.CreatedAt, Labels: c.Labels, Annotations: c.Annotations}}, nil
		}
	}
	return nil, fmt.Errorf("container %q not found", id)
}
func (f *fakeCRI) StopContainer(_ context.Context, id string, _ int64) error {
	if slices.Contains(f.in.StopErrors, id) {
		return fmt.Errorf("cannot stop %s", id)
	}
	f.stopped = append(f.stopped, id)
	return nil
}
func (f *fakeCRI) RemoveContainer(_ context.Context, id string) error {
	if slices.Contains(f.in.RemoveErrors, id) {
		return fmt.Errorf("cannot remove %s", id)
	}
	f.removed = append(f.removed, id)
	f.containers = slices.DeleteFunc(f.containers, func(c *runtimeapi.Container) bool { return c.Id == id })
	return nil
}
func (f *fakeCRI) StopPodSandbox(_ context.Context, id string) error {
	if slices.Contains(f.in.SandboxesStuck, id) {
		return fmt.Errorf("cannot stop %s", id)
	}
	return nil
}
func (f *fakeCRI) RemovePodSandbox(_ context.Context, id string) error {
	f.removedBox = append(f.removedBox, id)
	f.sandboxes = slices.DeleteFunc(f.sandboxes, func(c *runtimeapi.PodSandbox) bool { return c.Id == id })
	return nil
}

type fakeOS struct {
	kubecontainer.RealOS
	in                        *gcInput
	removedDirs, removedLinks []string
	gone                      map[string]bool
}

type dirEntry struct {
	os.DirEntry
	name string
}

func (d dirEntry) Name() string { return d.name }

func (f *fakeOS) ReadDir(string) ([]os.DirEntry, error) {
	out := []os.DirEntry{}
	for _, d := range f.in.LogDirs {
		out = append(out, dirEntry{name: d})
	}
	return out, nil
}
func (f *fakeOS) RemoveAll(p string) error {
	f.removedDirs = append(f.removedDirs, p)
	return nil
}
func (f *fakeOS) Glob(string) ([]string, error) {
	out := []string{}
	for _, l := range f.in.Links {
		if !f.gone[l.Path] {
			out = append(out, l.Path)
		}
	}
	return out, nil
}
func (f *fakeOS) Stat(p string) (os.FileInfo, error) {
	for _, l := range f.in.Links {
		if l.Path == p && !l.Dangling {
			return nil, nil
		}
	}
	return nil, os.ErrNotExist
}
func (f *fakeOS) Remove(p string) error {
	for _, l := range f.in.Links {
		if l.Path == p && !f.gone[p] {
			f.gone[p] = true
			f.removedLinks = append(f.removedLinks, p)
			return nil
		}
	}
	return os.ErrNotExist
}

type podStates map[types.UID]string

func (p podStates) IsPodTerminationRequested(u types.UID) bool { return p[u] != "running" }
func (p podStates) ShouldPodContentBeRemoved(u types.UID) bool {
	return p[u] == "deleted" || p[u] == ""
}
func (p podStates) ShouldPodRuntimeBeRemoved(u types.UID) bool { return p[u] != "running" }

func runGC(t *testing.T, in gcInput) M {
	var out M
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(1000 * time.Hour)
		now := time.Now()
		minAge, err := time.ParseDuration(in.Policy.MinAge)
		must(err)
		states := podStates{}
		names := map[string]string{}
		for _, p := range in.Pods {
			states[types.UID(p.UID)] = p.State
			names[p.UID] = p.Name
		}
		f := &fakeCRI{in: &in}
		unit, boxPod := map[string]string{}, map[string]string{}
		for _, c := range in.Containers {
			unit[c.ID] = c.PodUID + "/" + c.Name
			f.containers = append(f.containers, &runtimeapi.Container{Id: c.ID, PodSandboxId: c.Sandbox, State: criStates[c.State], CreatedAt: now.Add(-time.Duration(c.AgeMs) * time.Millisecond).UnixNano(),
				Metadata: &runtimeapi.ContainerMetadata{Name: c.Name}, Labels: map[string]string{"io.kubernetes.pod.uid": c.PodUID, "io.kubernetes.pod.name": names[c.PodUID], "io.kubernetes.pod.namespace": "default", "io.kubernetes.container.name": c.Name}})
		}
		for _, s := range in.Sandboxes {
			boxPod[s.ID] = s.PodUID
			st := runtimeapi.PodSandboxState_SANDBOX_NOTREADY
			if s.Ready {
				st = runtimeapi.PodSandboxState_SANDBOX_READY
			}
			f.sandboxes = append(f.sandboxes, &runtimeapi.PodSandbox{Id: s.ID, State: st, CreatedAt: now.Add(-time.Duration(s.AgeMs) * time.Millisecond).UnixNano(), Metadata: &runtimeapi.PodSandboxMetadata{Uid: s.PodUID, Name: names[s.PodUID], Namespace: "default"}})
		}
		o := &fakeOS{in: &in, gone: map[string]bool{}}
		gc := kuberuntime.ExportNewGC(f, o, logs.NewStubContainerLogManager(), states, "/var/log/pods")
		err = gc.GarbageCollect(context.Background(), kubecontainer.GCPolicy{MinAge: minAge, MaxPerPodContainer: in.Policy.MaxPerContainer, MaxContainers: in.Policy.MaxTotal}, in.AllSources, in.EvictAll)
		byUnit, byPod := map[string][]string{}, map[string][]string{}
		for _, id := range f.removed {
			byUnit[unit[id]] = append(byUnit[unit[id]], id)
		}
		for _, id := range f.removedBox {
			byPod[boxPod[id]] = append(byPod[boxPod[id]], id)
		}
		dirs := []string{}
		for _, d := range o.removedDirs {
			dirs = append(dirs, strings.TrimPrefix(d, "/var/log/pods/"))
		}
		out = M{"removedContainers": sorted(f.removed), "removedContainersByUnit": byUnit, "stoppedContainers": sorted(f.stopped),
			"removedSandboxes": sorted(f.removedBox), "removedSandboxesByPod": byPod, "removedPodLogDirs": sorted(dirs), "removedLogLinks": sorted(o.removedLinks), "error": errText(err)}
	})
	return out
}

func genContainerGC(g *gen) {
	dropped, deletes := 0, 0
	add := func(n string, in gcInput) bool {
		if in.Pods == nil {
			in.Pods = []gcPod{}
		}
		if in.Containers == nil {
			in.Containers = []gcContainer{}
		}
		if in.Sandboxes == nil {
			in.Sandboxes = []gcSandbox{}
		}
		o := runGC(g.t, in)
		w := string(encode(g.t, o))
		for k := 0; k < 12; k++ {
			if w != string(encode(g.t, runGC(g.t, in))) {
				dropped++
				return false
			}
		}
		if len(o["removedContainers"].([]string))+len(o["removedSandboxes"].([]string)) > 0 {
			deletes++
		}
		g.add(n, in, o)
		return true
	}
	pod := func(uid, st string) gcPod { return gcPod{UID: uid, Name: "pod-" + uid, State: st} }
	ctr := func(id, uid, name, st string, age int64) gcContainer {
		return gcContainer{ID: id, PodUID: uid, Name: name, Sandbox: "box-" + uid, State: st, AgeMs: age}
	}
	def := gcPolicy{"0s", 1, -1}
	hour := int64(3600000)

	three := []gcContainer{ctr("c-new", "a", "app", "exited", 1*hour), ctr("c-mid", "a", "app", "exited", 2*hour), ctr("c-old", "a", "app", "exited", 3*hour)}
	run := []gcPod{pod("a", "running")}
	add("defaults: the newest dead container of a running pod stays", gcInput{Policy: def, AllSources: true, Pods: run, Containers: three})
	add("two may stay", gcInput{Policy: gcPolicy{"0s", 2, -1}, AllSources: true, Pods: run, Containers: three})
	add("none may stay", gcInput{Policy: gcPolicy{"0s", 0, -1}, AllSources: true, Pods: run, Containers: three})
	add("no limit for one container", gcInput{Policy: gcPolicy{"0s", -1, -1}, AllSources: true, Pods: run, Containers: three})
	add("no limit for one container, two in all", gcInput{Policy: gcPolicy{"0s", -1, 2}, AllSources: true, Pods: run, Containers: three})
	add("none in all", gcInput{Policy: gcPolicy{"0s", -1, 0}, AllSources: true, Pods: run, Containers: three})
	add("minimum age, exactly", gcInput{Policy: gcPolicy{fmt.Sprintf("%dms", 2*hour), 0, -1}, AllSources: true, Pods: run, Containers: three})
	add("minimum age, a millisecond over", gcInput{Policy: gcPolicy{fmt.Sprintf("%dms", 2*hour+1), 0, -1}, AllSources: true, Pods: run, Containers: three})
	add("deleted pod: all go", gcInput{Policy: def, AllSources: true, Pods: []gcPod{pod("a", "deleted")}, Containers: three})
	add("deleted pod, sources not ready", gcInput{Policy: def, AllSources: false, Pods: []gcPod{pod("a", "deleted")}, Containers: three})
	add("pod nobody knows: all go", gcInput{Policy: def, AllSources: true, Containers: three})
	add("terminated pod stays", gcInput{Policy: def, AllSources: true, Pods: []gcPod{pod("a", "terminated")}, Containers: three})
	add("terminated pod goes when all unused are wanted", gcInput{Policy: def, AllSources: true, EvictAll: true, Pods: []gcPod{pod("a", "terminated")}, Containers: three})
	add("terminated pod, all unused wanted, sources not ready", gcInput{Policy: def, AllSources: false, EvictAll: true, Pods: []gcPod{pod("a", "terminated")}, Containers: three})
	states := []gcContainer{ctr("c-run", "a", "app", "running", 5*hour), ctr("c-created", "a", "app", "created", 4*hour), ctr("c-unknown", "a", "app", "unknown", 3*hour), ctr("c-exited", "a", "app", "exited", 2*hour)}
	add("states: running stays, unknown is stopped first", gcInput{Policy: gcPolicy{"0s", 0, -1}, AllSources: true, Pods: run, Containers: states})
	add("states: unknown cannot be stopped", gcInput{Policy: gcPolicy{"0s", 0, -1}, AllSources: true, Pods: run, Containers: states, StopErrors: []string{"c-unknown"}})
	add("remove fails and is not retried on a younger one", gcInput{Policy: def, AllSources: true, Pods: run, Containers: three, RemoveErrors: []string{"c-old"}})
	many := []gcContainer{}
	for i := 0; i < 9; i++ {
		u := string(rune('a' + i%3))
		many = append(many, ctr(fmt.Sprintf("c%d", i), u, pick(g, "app"), "exited", int64(10+i*7)*60000))
	}
	abc := []gcPod{pod("a", "running"), pod("b", "running"), pod("c", "running")}
	for _, n := range []int{2, 3, 4, 5, 6, 8, 9} {
		add(fmt.Sprintf("in all %d over three pods", n), gcInput{Policy: gcPolicy{"0s", -1, n}, AllSources: true, Pods: abc, Containers: many})
	}
	box := func(id, uid string, ready bool, age int64) gcSandbox { return gcSandbox{id, uid, ready, age} }
	boxes := []gcSandbox{box("s-new", "a", false, 1*hour), box("s-mid", "a", false, 2*hour), box("s-old", "a", false, 3*hour)}
	add("sandboxes: the newest stays", gcInput{Policy: def, AllSources: true, Pods: run, Sandboxes: boxes})
	add("sandboxes: deleted pod", gcInput{Policy: def, AllSources: true, Pods: []gcPod{pod("a", "deleted")}, Sandboxes: boxes})
	add("sandboxes: deleted pod, sources not ready", gcInput{Policy: def, AllSources: false, Pods: []gcPod{pod("a", "deleted")}, Sandboxes: boxes})
	add("sandboxes: terminated pod, all unused wanted", gcInput{Policy: def, AllSources: true, EvictAll: true, Pods: []gcPod{pod("a", "terminated")}, Sandboxes: boxes})
	add("sandboxes: an old one is ready", gcInput{Policy: def, AllSources: true, Pods: run, Sandboxes: []gcSandbox{box("s-new", "a", false, hour), box("s-ready", "a", true, 2*hour), box("s-old", "a", false, 3*hour)}})
	add("sandboxes: an old one has a container left", gcInput{Policy: def, AllSources: true, Pods: run, Sandboxes: boxes, Containers: []gcContainer{{ID: "c", PodUID: "a", Name: "app", Sandbox: "s-old", State: "exited", AgeMs: hour}}})
	add("sandboxes: its last container goes in the same pass", gcInput{Policy: def, AllSources: true, Pods: []gcPod{pod("a", "deleted")}, Sandboxes: boxes, Containers: []gcContainer{{ID: "c", PodUID: "a", Name: "app", Sandbox: "s-old", State: "exited", AgeMs: hour}}})
	add("sandboxes: one will not stop", gcInput{Policy: def, AllSources: true, Pods: []gcPod{pod("a", "deleted")}, Sandboxes: boxes, SandboxesStuck: []string{"s-mid"}})
	dirs := []string{"default_pod-a_a", "default_pod-b_b", "default_pod-c_c", "default_pod-z_z", "zz"}
	mixed := []gcPod{pod("a", "running"), pod("b", "terminated"), pod("c", "deleted")}
	add("log folders", gcInput{Policy: def, AllSources: true, Pods: mixed, LogDirs: dirs})
	add("log folders, sources not ready", gcInput{Policy: def, AllSources: false, Pods: mixed, LogDirs: dirs})
	add("log folders, all unused wanted", gcInput{Policy: def, AllSources: true, EvictAll: true, Pods: mixed, LogDirs: dirs})
	links := []gcLink{{"/var/log/containers/pod-a_default_app-c-new.log", false}, {"/var/log/containers/pod-a_default_app-aaaaaa.log", true}, {"/var/log/containers/pod-a_default_app-short.log", true},
		{"/var/log/containers/pod-a_default_app-livecontainer.log", true}, {"/var/log/containers/pod-a_default_app-deadcontainer.log", true}}
	add("log links", gcInput{Policy: gcPolicy{"0s", 5, -1}, AllSources: true, Pods: run, Links: links, Containers: []gcContainer{ctr("livecontainer", "a", "app", "running", hour), ctr("deadcontainer", "a", "app", "exited", hour)}})

	want := g.n(150)
	for i := 0; want > 0 && i < 10*g.n(150); i++ {
		in := gcInput{Policy: gcPolicy{pick(g, "0s", "0s", "1m", "1h"), pick(g, 1, 1, 1, 0, 2, 3, -1), pick(g, -1, -1, 0, 2, 4, 7)}, AllSources: g.chance(0.85), EvictAll: g.chance(0.3)}
		ages := map[int64]bool{}
		age := func() int64 {
			for {
				a := g.between(1000, 8*3600000)
				if !ages[a] {
					ages[a] = true
					return a
				}
			}
		}
		for p := 0; p < int(g.between(1, 4)); p++ {
			uid := fmt.Sprintf("u%d", p)
			st := pick(g, "running", "running", "running", "terminated", "deleted", "")
			if st != "" {
				in.Pods = append(in.Pods, pod(uid, st))
			}
			var boxIDs []string
			for s := 0; s < int(g.between(1, 3)); s++ {
				id := fmt.Sprintf("box-%s-%d", uid, s)
				boxIDs = append(boxIDs, id)
				in.Sandboxes = append(in.Sandboxes, box(id, uid, s == 0 && st == "running" && g.chance(0.8), age()))
			}
			for c := 0; c < int(g.between(1, 2)); c++ {
				for k := 0; k < int(g.between(0, 4)); k++ {
					in.Containers = append(in.Containers, gcContainer{ID: fmt.Sprintf("c-%s-%d-%d", uid, c, k), PodUID: uid, Name: fmt.Sprintf("app%d", c), Sandbox: pick(g, boxIDs...), State: pick(g, "exited", "exited", "exited", "exited", "running", "unknown", "created"), AgeMs: age()})
				}
			}
			if g.chance(0.5) {
				in.LogDirs = append(in.LogDirs, "default_pod-"+uid+"_"+uid)
			}
		}
		g.r.Shuffle(len(in.Containers), func(i, j int) { in.Containers[i], in.Containers[j] = in.Containers[j], in.Containers[i] })
		g.r.Shuffle(len(in.Sandboxes), func(i, j int) { in.Sandboxes[i], in.Sandboxes[j] = in.Sandboxes[j], in.Sandboxes[i] })
		if g.chance(0.1) && len(in.Containers) > 0 {
			in.RemoveErrors = []string{in.Containers[0].ID}
		}
		if g.chance(0.1) && len(in.Containers) > 0 {
			in.StopErrors = []string{in.Containers[len(in.Containers)-1].ID}
		}
		sort.Strings(in.LogDirs)
		if add(fmt.Sprintf("random %d", i), in) {
			want--
		}
	}
	stats["container-gc"] = fmt.Sprintf("cases that remove %d, dropped %d", deletes, dropped)
}
