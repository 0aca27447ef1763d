package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sort"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/client-go/tools/record"
	statsapi "k8s.io/kubelet/pkg/apis/stats/v1alpha1"
	kubecontainer "k8s.io/kubernetes/pkg/kubelet/container"
	"k8s.io/kubernetes/pkg/kubelet/images"
)

type imagePolicy struct {
	High   int    `json:"imageGCHighThresholdPercent"`
	Low    int    `json:"imageGCLowThresholdPercent"`
	MinAge string `json:"imageMinimumGCAge"`
	MaxAge string `json:"imageMaximumGCAge"`
}

type imageIn struct {
	ID     string   `json:"id"`
	Size   int64    `json:"sizeBytes"`
	Pinned bool     `json:"pinned,omitempty"`
	Tags   []string `json:"repoTags,omitempty"`
}

type fsIn struct {
	Capacity  *int64 `json:"capacityBytes"`
	Available *int64 `json:"availableBytes"`
	Error     string `json:"error,omitempty"`
}

type imageStep struct {
	AtMs         int64    `json:"atMs"`
	Action       string   `json:"action"`
	Pull         []string `json:"pull,omitempty"`
	Gone         []string `json:"removedByOthers,omitempty"`
	InUse        []string `json:"inUse,omitempty"`
	ImageVolumes []string `json:"imageVolumes,omitempty"`
	FS           *fsIn    `json:"imageFs,omitempty"`
	RemoveErrors []string `json:"removeErrors,omitempty"`
}

type imageInput struct {
	Policy imagePolicy `json:"policy"`
	Images []imageIn   `json:"images"`
	Steps  []imageStep `json:"steps"`
}

type fakeImages struct {
	images.ExportRuntime
	meta    map[string]imageIn
	present []string
	step    *imageStep
	deleted []string
	freed   int64
	r       *rand.Rand
}

func (f *fakeImages) ListImages(context.Context) ([]kubecontainer.Image, error) {
	out := []kubecontainer.Image{}
	for _, id := range f.present {
		m := f.meta[id]
		out = append(out, kubecontainer.Image{ID: id, Size: m.Size, Pinned: m.Pinned, RepoTags: m.Tags})
	}
	f.r.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	return out, nil
}

func (f *fakeImages) GetPods(context.Context, bool) ([]*kubecontainer.Pod, error) {
	out := []*kubecontainer.Pod{}
	for i, id := range f.step.InUse {
		out = append(out, &kubecontainer.Pod{Name: fmt.Sprintf("p%d", i), Containers: []*kubecontainer.Container{{Name: "c", ImageID: id, Image: id}}})
	}
	if len(f.step.ImageVolumes) > 0 {
		out = append(out, &kubecontainer.Pod{Name: "volumes", Containers: []*kubecontainer.Container{{Name: "volumes", ID: kubecontainer.ContainerID{ID: "volumes"}}}})
	}
	return out, nil
}

func (f *fakeImages) volumes(containerID string) []string {
	if containerID == "volumes" {
		return f.step.ImageVolumes
	}
	return nil
}

func (f *fakeImages) RemoveImage(_ context.Context, s kubecontainer.ImageSpec) error {
	if slices.Contains(f.step.RemoveErrors, s.Image) {
		return fmt.Errorf("cannot remove %s", s.Image)
	}
	f.deleted = append(f.deleted, s.Image)
	f.freed += f.meta[s.Image].Size
	f.present = slices.DeleteFunc(f.present, func(x string) bool { return x == s.Image })
	return nil
}

// ImageFsStats reports the step's filesystem.
func (f *fakeImages) ImageFsStats(context.Context) (*statsapi.FsStats, *statsapi.FsStats, error) {
	if f.step.FS == nil {
		return nil, nil, errors.New("no image filesystem in this step")
	}
	if f.step.FS.Error != "" {
		return nil, nil, errors.New(f.step.FS.Error)
	}
	u := func(v *int64) *uint64 {
		if v == nil {
			return nil
		}
		x := uint64(*v)
		return &x
	}
	s := &statsapi.FsStats{CapacityBytes: u(f.step.FS.Capacity), AvailableBytes: u(f.step.FS.Available)}
	return s, s, nil
}

// runImages plays a timeline; ok is false where a tie makes upstream's choice arbitrary.
func runImages(t *testing.T, in imageInput, order uint64) (out M, ok bool) {
	minAge, err := time.ParseDuration(in.Policy.MinAge)
	must(err)
	maxAge, err := time.ParseDuration(in.Policy.MaxAge)
	must(err)
	ok = true
	synctest.Test(t, func(t *testing.T) {
		ctx := context.Background()
		f := &fakeImages{meta: map[string]imageIn{}, step: &imageStep{}, r: rand.New(rand.NewPCG(order, 5))}
		f.Volumes = f.volumes
		for _, i := range in.Images {
			f.meta[i.ID] = i
		}
		m, err := images.ExportNewImageGC(f, f, &record.FakeRecorder{}, images.ImageGCPolicy{HighThresholdPercent: in.Policy.High, LowThresholdPercent: in.Policy.Low, MinAge: minAge, MaxAge: maxAge})
		if err != nil {
			out = M{"policyError": err.Error()}
			return
		}
		start := time.Now()
		steps := L{}
		for i := range in.Steps {
			s := &in.Steps[i]
			time.Sleep(start.Add(time.Duration(s.AtMs) * time.Millisecond).Sub(time.Now()))
			f.step, f.deleted, f.freed = s, []string{}, 0
			f.present = append(f.present, s.Pull...)
			f.present = slices.DeleteFunc(f.present, func(x string) bool { return slices.Contains(s.Gone, x) })
			var err error
			if s.Action == "detect" {
				must(m.Detect(ctx, time.Now()))
			} else {
				// Look once before, at this same time, so that the records are those that the collection will sort.
				must(m.Detect(ctx, time.Now()))
				before := m.Records()
				if s.Action == "garbageCollect" {
					err = m.GarbageCollect(ctx, start)
				} else {
					err = m.DeleteUnused(ctx)
				}
				type key struct{ used, detected time.Time }
				del, left := map[key]int{}, map[key]int{}
				unordered := false
				for id, r := range before {
					k := key{r.LastUsed, r.FirstDetected}
					inUse := r.LastUsed.Equal(time.Now())
					switch {
					case slices.Contains(f.deleted, id):
						del[k]++
					case inUse || r.Pinned:
					default:
						left[k]++
					}
				}
				for k, n := range del {
					if n > 1 {
						unordered = true
					}
					if n > 0 && left[k] > 0 {
						ok = false
					}
				}
				row := M{"deleted": f.deleted, "unordered": unordered, "freedBytes": f.freed, "error": errText(err)}
				if unordered {
					sort.Strings(f.deleted)
				}
				row["deleted"] = f.deleted
				steps = append(steps, row)
				continue
			}
			steps = append(steps, M{"deleted": f.deleted, "unordered": false, "freedBytes": f.freed, "error": nil})
		}
		rest := sorted(f.present)
		out = M{"steps": steps, "remaining": rest}
	})
	return out, ok
}

func genImageGC(g *gen) {
	dropped, cases, deletes := 0, 0, 0
	add := func(n string, in imageInput) bool {
		o, ok := runImages(g.t, in, 1)
		if ok {
			for k := uint64(2); k < 14; k++ {
				again, ok2 := runImages(g.t, in, k)
				if !ok2 || string(encode(g.t, again)) != string(encode(g.t, o)) {
					ok = false
					break
				}
			}
		}
		if !ok {
			dropped++
			return false
		}
		cases++
		if steps, has := o["steps"].(L); has {
			for _, s := range steps {
				if len(s.(M)["deleted"].([]string)) > 0 {
					deletes++
					break
				}
			}
		}
		g.add(n, in, o)
		return true
	}
	pol := func(h, l int, minAge, maxAge string) imagePolicy { return imagePolicy{h, l, minAge, maxAge} }
	img := func(n int, size int64) []imageIn {
		out := []imageIn{}
		for i := 0; i < n; i++ {
			out = append(out, imageIn{ID: fmt.Sprintf("sha256:%02d", i), Size: size + int64(i)*mi})
		}
		return out
	}
	ids := func(is []imageIn) []string {
		out := []string{}
		for _, i := range is {
			out = append(out, i.ID)
		}
		return out
	}
	fs := func(c, a int64) *fsIn { return &fsIn{Capacity: &c, Available: &a} }
	// One pull per minute, so that no two images tie.
	pulls := func(is []imageIn) []imageStep {
		out := []imageStep{}
		for i, x := range is {
			out = append(out, imageStep{AtMs: int64(i) * 60000, Action: "detect", Pull: []string{x.ID}})
		}
		return out
	}
	h, l := 85, 80
	k := int64(0)

	is := img(6, 500*mi+k)
	last := int64(6*60000) + 600000
	gc := func(at int64, f *fsIn, use ...string) imageStep {
		return imageStep{AtMs: at, Action: "garbageCollect", InUse: use, FS: f}
	}
	at := func(percentUsed float64) *fsIn { return fs(10*gi, 10*gi-int64(percentUsed/100*float64(10*gi))) }
	add("below the high threshold", imageInput{pol(h, l, "2m", "0s"), is, append(pulls(is), gc(last, at(float64(h)-2)))})
	add("exactly at the high threshold", imageInput{pol(h, l, "2m", "0s"), is, append(pulls(is), gc(last, at(float64(h))))})
	add("just below the high threshold in whole percents", imageInput{pol(h, l, "2m", "0s"), is, append(pulls(is), gc(last, fs(10*gi, 10*gi*int64(100-h)/100+1)))})
	add("one whole percent below", imageInput{pol(h, l, "2m", "0s"), is, append(pulls(is), gc(last, fs(10*gi, 10*gi*int64(101-h)/100+1)))})
	add("full, more wanted than there is", imageInput{pol(h, l, "2m", "0s"), is[:2], append(pulls(is[:2]), gc(last, fs(100*gi, 0)))})
	add("no images at all", imageInput{pol(h, l, "2m", "0s"), []imageIn{}, []imageStep{gc(60000, at(99))}})
	add("capacity zero", imageInput{pol(h, l, "2m", "0s"), is, append(pulls(is), gc(last, fs(0, 0)))})
	add("capacity not reported", imageInput{pol(h, l, "2m", "0s"), is, append(pulls(is), gc(last, &fsIn{}))})
	add("available over capacity", imageInput{pol(h, l, "2m", "0s"), is, append(pulls(is), gc(last, fs(10*gi, 11*gi)))})
	add("stats fail", imageInput{pol(h, l, "2m", "0s"), is, append(pulls(is), gc(last, &fsIn{Error: "no stats yet"}))})
	add("high equal to low deletes one image even when nothing is to be freed", imageInput{pol(h, h, "2m", "0s"), is, append(pulls(is), gc(last, at(float64(h))))})
	add("high equal to low, a little above", imageInput{pol(h, h, "2m", "0s"), is, append(pulls(is), gc(last, fs(10*gi, 10*gi*int64(100-h)/100+30*mi)))})
	add("high 100 low 0", imageInput{pol(100, 0, "0s", "0s"), is, append(pulls(is), gc(last, fs(10*gi, 0)))})
	add("high 100, one byte left", imageInput{pol(100, 99, "0s", "0s"), is, append(pulls(is), gc(last, fs(10*gi, 1)))})
	add("high 0 low 0", imageInput{pol(0, 0, "0s", "0s"), is, append(pulls(is), gc(last, fs(10*gi, 10*gi)))})
	add("policy: low over high", imageInput{pol(l, h, "2m", "0s"), is, pulls(is)[:1]})
	add("policy: high over a hundred", imageInput{pol(101, l, "2m", "0s"), is, pulls(is)[:1]})
	add("policy: low below zero", imageInput{pol(h, -1, "2m", "0s"), is, pulls(is)[:1]})
	add("in use is kept", imageInput{pol(h, l, "2m", "0s"), is, append(pulls(is), gc(last, fs(10*gi, 0), "sha256:00", "sha256:02"))})
	used := append(pulls(is), imageStep{AtMs: 400000, Action: "detect", InUse: []string{"sha256:00", "sha256:01"}}, imageStep{AtMs: 460000, Action: "detect", InUse: []string{"sha256:00"}})
	add("least recently used first, never used before all", imageInput{pol(h, l, "2m", "0s"), is, append(used, gc(last, fs(10*gi, gi/2)))})
	pin := append([]imageIn{}, is...)
	pin[0].Pinned, pin[3].Pinned = true, true
	pin[1].Tags = []string{"pause:3.10"}
	add("pinned is kept", imageInput{pol(h, l, "2m", "0s"), pin, append(pulls(pin), gc(last, fs(10*gi, 0)))})
	add("minimum age, exactly", imageInput{pol(h, l, "5m", "0s"), is, append(pulls(is), gc(5*60000+120000, fs(10*gi, 0)))})
	add("minimum age, one millisecond short", imageInput{pol(h, l, "5m", "0s"), is, append(pulls(is), gc(5*60000+119999, fs(10*gi, 0)))})
	fail := gc(last, fs(10*gi, gi))
	fail.RemoveErrors = []string{"sha256:00"}
	add("one image cannot be removed", imageInput{pol(h, l, "2m", "0s"), is, append(pulls(is), fail, gc(last+60000, fs(10*gi, 2*gi)))})
	fail2 := gc(last, fs(10*gi, gi))
	fail2.RemoveErrors = ids(is)
	add("no image can be removed", imageInput{pol(h, l, "2m", "0s"), is, append(pulls(is), fail2)})
	add("maximum age: not before the kubelet has run that long", imageInput{pol(h, l, "2m", "30m"), is, append(pulls(is), gc(1800000, at(10)))})
	add("maximum age: images never used go at once", imageInput{pol(h, l, "2m", "30m"), is, append(pulls(is), imageStep{AtMs: 1500000, Action: "detect", InUse: []string{"sha256:05"}}, gc(1800001, at(10)))})
	add("maximum age: counts from the last use", imageInput{pol(h, l, "2m", "30m"), is, append(pulls(is),
		imageStep{AtMs: 600000, Action: "detect", InUse: ids(is)}, gc(1800001, at(10)), gc(2400000, at(10)), gc(2400001, at(10)))})
	add("maximum age beats minimum age", imageInput{pol(h, l, "2h", "10m"), is, append(pulls(is), gc(600001, at(10)))})
	mf := gc(1800001, at(99))
	mf.RemoveErrors = []string{"sha256:01", "sha256:02"}
	add("maximum age: errors stop the pass before the space check", imageInput{pol(h, l, "2m", "30m"), is, append(pulls(is), mf)})
	add("maximum age and space in one pass", imageInput{pol(h, l, "2m", "30m"), is, append(pulls(is), imageStep{AtMs: 1000000, Action: "detect", InUse: []string{"sha256:01", "sha256:03"}}, gc(1800001, fs(10*gi, gi)))})
	add("all of one age go together", imageInput{pol(h, l, "2m", "0s"), is, []imageStep{{AtMs: 0, Action: "detect", Pull: ids(is)}, gc(last, fs(10*gi, 0))}})
	add("delete unused images", imageInput{pol(h, l, "2m", "0s"), pin, append(pulls(pin), imageStep{AtMs: last, Action: "deleteUnusedImages", InUse: []string{"sha256:04"}})})
	add("delete unused images minds the minimum age", imageInput{pol(h, l, "5m", "0s"), is, append(pulls(is), imageStep{AtMs: 480000, Action: "deleteUnusedImages"})})
	du := imageStep{AtMs: last, Action: "deleteUnusedImages", RemoveErrors: []string{"sha256:02", "sha256:04"}}
	add("delete unused images with errors", imageInput{pol(h, l, "2m", "0s"), is, append(pulls(is), du)})
	add("removed by others and pulled again is new", imageInput{pol(h, l, "5m", "0s"), is, append(pulls(is),
		imageStep{AtMs: 500000, Action: "detect", Gone: []string{"sha256:00"}}, imageStep{AtMs: 560000, Action: "detect", Pull: []string{"sha256:00"}}, gc(700000, fs(10*gi, 0)), gc(860000, fs(10*gi, 0)))})
	add("seen first by the collection itself", imageInput{pol(h, l, "1m", "0s"), is, []imageStep{{AtMs: 0, Action: "garbageCollect", Pull: ids(is), FS: fs(10*gi, 0)}, gc(60000, fs(10*gi, 0))}})
	vol := gc(last, fs(10*gi, 0))
	vol.ImageVolumes = []string{"sha256:01", "sha256:05"}
	add("image volumes", imageInput{pol(h, l, "2m", "0s"), is, append(pulls(is), vol)})

	want := g.n(150)
	for i := 0; want > 0 && i < 20*g.n(150); i++ {
		if add(fmt.Sprintf("random %d", i), g.randomImages()) {
			want--
		}
	}
	stats["image-gc"] = fmt.Sprintf("cases that delete %d of %d, dropped for ties %d", deletes, cases, dropped)
}

func (g *gen) randomImages() imageInput {
	high := int(g.between(50, 95))
	p := imagePolicy{High: high, Low: high - int(pick(g, int64(1), 2, 5, 5, 10, 20)), MinAge: pick(g, "2m", "2m0s", "0s", "30s", "10m"), MaxAge: pick(g, "0s", "0s", "0s", "15m", "1h")}
	n := int(g.between(4, 12))
	in := imageInput{Policy: p}
	var total int64
	for i := 0; i < n; i++ {
		m := imageIn{ID: fmt.Sprintf("sha256:%03x", g.r.IntN(4096)*16+i), Size: g.between(20*mi, 1500*mi), Pinned: g.chance(0.07)}
		if g.chance(0.3) {
			m.Tags = []string{fmt.Sprintf("app:%d", i)}
		}
		total += m.Size
		in.Images = append(in.Images, m)
	}
	var have []string
	now := int64(0)
	next := 0
	use := func() []string { return subset(g, 0.3, have...) }
	for next < n {
		s := imageStep{AtMs: now, Action: "detect"}
		k := 1
		if g.chance(0.08) {
			k = 2
		}
		for ; k > 0 && next < n; k-- {
			s.Pull = append(s.Pull, in.Images[next].ID)
			next++
		}
		have = append(have, s.Pull...)
		s.InUse = use()
		in.Steps = append(in.Steps, s)
		now += pick(g, int64(5000), 30000, 60000, 300000)
	}
	for k := int(g.between(1, 3)); k > 0; k-- {
		now += pick(g, int64(0), 1000, 60000, 120000, 600000, 3600000)
		s := imageStep{AtMs: now, Action: pick(g, "garbageCollect", "garbageCollect", "garbageCollect", "garbageCollect", "garbageCollect", "deleteUnusedImages", "detect"), InUse: use()}
		if s.Action == "garbageCollect" {
			capacity := total * g.between(2, 5)
			avail := capacity*int64(100-p.Low)/100 - int64(float64(total)*(1.1*g.r.Float64()-0.1))
			avail = min(max(avail, 0), capacity)
			s.FS = &fsIn{Capacity: &capacity, Available: &avail}
			if g.chance(0.02) {
				s.FS = &fsIn{Error: "stats are not ready"}
			}
		}
		if s.Action != "detect" && g.chance(0.15) {
			s.RemoveErrors = subset(g, 0.2, have...)
		}
		if g.chance(0.1) {
			s.Gone = subset(g, 0.1, have...)
		}
		in.Steps = append(in.Steps, s)
	}
	return in
}
