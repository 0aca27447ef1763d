package main

import (
	"fmt"
	"math"
	"sort"
	"strconv"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/kubernetes/pkg/kubelet/eviction"
	evictionapi "k8s.io/kubernetes/pkg/kubelet/eviction/api"
)

type strMap = map[string]string

// evictionConfig holds the KubeletConfiguration fields that decide the thresholds.
type evictionConfig struct {
	EnforceNodeAllocatable  []string `json:"enforceNodeAllocatable,omitempty"`
	EvictionHard            strMap   `json:"evictionHard,omitempty"`
	EvictionSoft            strMap   `json:"evictionSoft,omitempty"`
	EvictionSoftGracePeriod strMap   `json:"evictionSoftGracePeriod,omitempty"`
	EvictionMinimumReclaim  strMap   `json:"evictionMinimumReclaim,omitempty"`
}

func (c evictionConfig) parse() ([]evictionapi.Threshold, error) {
	return eviction.ParseThresholdConfig(c.EnforceNodeAllocatable, c.EvictionHard, c.EvictionSoft, c.EvictionSoftGracePeriod, c.EvictionMinimumReclaim)
}

func pct(f float32) any {
	if f64 := float64(f); !math.IsNaN(f64) && !math.IsInf(f64, 0) {
		return f64
	}
	return fmt.Sprint(f)
}

func thresholdValue(v evictionapi.ThresholdValue) M {
	if v.Quantity != nil {
		q := v.Quantity.DeepCopy()
		return M{"quantity": q.String(), "value": strconv.FormatInt(q.Value(), 10)}
	}
	return M{"percentage": pct(v.Percentage)}
}

func thresholdJSON(t evictionapi.Threshold) M {
	m := M{"signal": string(t.Signal), "operator": string(t.Operator), "value": thresholdValue(t.Value),
		"gracePeriod": t.GracePeriod.String(), "gracePeriodMs": float64(t.GracePeriod) / float64(time.Millisecond), "minReclaim": nil}
	if t.MinReclaim != nil {
		m["minReclaim"] = thresholdValue(*t.MinReclaim)
	}
	return m
}

// sortThresholds gives a stable order: upstream's own order follows map iteration.
func sortThresholds(ts []evictionapi.Threshold) []evictionapi.Threshold {
	out := append([]evictionapi.Threshold{}, ts...)
	sort.SliceStable(out, func(i, j int) bool {
		a, b := out[i], out[j]
		if a.Signal != b.Signal {
			return a.Signal < b.Signal
		}
		return a.GracePeriod < b.GracePeriod
	})
	return out
}

func parseAnswer(c evictionConfig) M {
	ts, err := c.parse()
	if err != nil {
		return M{"ok": false, "error": err.Error()}
	}
	l := L{}
	for _, t := range sortThresholds(ts) {
		l = append(l, thresholdJSON(t))
	}
	return M{"ok": true, "thresholds": l}
}

var (
	memSignals   = []string{"memory.available"}
	diskSignals  = []string{"nodefs.available", "imagefs.available"}
	inodeSignals = []string{"nodefs.inodesFree", "imagefs.inodesFree"}
	userSignals  = []string{"memory.available", "nodefs.available", "nodefs.inodesFree", "imagefs.available", "imagefs.inodesFree", "pid.available"}
)

func (g *gen) percentText() string {
	switch g.r.IntN(5) {
	case 0:
		return fmt.Sprintf("%d.%d%%", g.between(0, 40), g.between(1, 9))
	case 1:
		return fmt.Sprintf("%d.%02d%%", g.between(0, 99), g.between(1, 99))
	default:
		return fmt.Sprintf("%d%%", g.between(1, 40))
	}
}

func (g *gen) sizeText(signal string) string {
	switch signal {
	case "nodefs.inodesFree", "imagefs.inodesFree", "containerfs.inodesFree":
		return pick(g, "500k", "1M", "100000", "2e5", "65536", "1Mi")
	case "pid.available":
		return pick(g, "1k", "1000", "2000", "500", "4096")
	case "memory.available", "allocatableMemory.available":
		return pick(g, "100Mi", "200Mi", "256Mi", "500Mi", "1Gi", "1.5Gi", "750M", "1e9", "104857600", "0.5Gi", "1234567890")
	}
	return pick(g, "1Gi", "5Gi", "10Gi", "20G", "7.5Gi", "1e10", "500Mi", "10737418240", "15Gi")
}

func (g *gen) thresholdText(signal string) string {
	if g.chance(0.5) {
		return g.percentText()
	}
	return g.sizeText(signal)
}

func (g *gen) durationText() string {
	return pick(g, "30s", "1m", "1m30s", "2m", "90s", "5m", "0s", "1h", "1.5m", "1500ms", "10s", "1h30m", "2m0.5s")
}

func (g *gen) evictionConfig() evictionConfig {
	c := evictionConfig{EvictionHard: strMap{}}
	for _, s := range subset(g, 0.6, userSignals...) {
		c.EvictionHard[s] = g.thresholdText(s)
	}
	if g.chance(0.1) {
		c.EvictionHard[pick(g, "containerfs.available", "containerfs.inodesFree", "allocatableMemory.available")] = g.percentText()
	}
	if g.chance(0.6) {
		c.EvictionSoft, c.EvictionSoftGracePeriod = strMap{}, strMap{}
		for _, s := range subset(g, 0.4, userSignals...) {
			c.EvictionSoft[s] = g.thresholdText(s)
			c.EvictionSoftGracePeriod[s] = g.durationText()
		}
		if g.chance(0.2) {
			s := pick(g, userSignals...)
			c.EvictionSoftGracePeriod[s] = g.durationText()
		}
	}
	if g.chance(0.5) {
		c.EvictionMinimumReclaim = strMap{}
		for _, s := range subset(g, 0.5, userSignals...) {
			if g.chance(0.4) {
				c.EvictionMinimumReclaim[s] = g.percentText()
			} else {
				c.EvictionMinimumReclaim[s] = g.sizeText(s)
			}
		}
	}
	if g.chance(0.7) {
		c.EnforceNodeAllocatable = pick(g, []string{"pods"}, []string{"pods", "kube-reserved"}, []string{"none"}, []string{"kube-reserved"}, []string{"pods", "system-reserved", "kube-reserved"})
	}
	return c
}

// spoil breaks one entry of one map. Two broken entries in one map would make upstream's error depend on map order.
func (g *gen) spoil(c *evictionConfig) {
	set := func(m *strMap, k, v string) {
		if *m == nil {
			*m = strMap{}
		}
		(*m)[k] = v
	}
	s := pick(g, userSignals...)
	badValue := pick(g, "-1Gi", "0", "abc", "", "110%", "-5%", "%", "x%", "1e", "5 %", "10%%5", "0Mi", "-0.1%", "1000%", "1gb", "Inf%", "-Inf%")
	badSignal := pick(g, "memory.avail", "imagefs.inodesfree", "memory", "", "cpu.available", "nodefs.inodes", "Memory.available", "pid.availables", "containerfs.inodes")
	switch g.r.IntN(9) {
	case 0, 1:
		set(&c.EvictionHard, s, badValue)
	case 2:
		set(&c.EvictionHard, badSignal, "10%")
	case 3:
		set(&c.EvictionSoft, s, badValue)
		set(&c.EvictionSoftGracePeriod, s, "1m")
	case 4:
		c.EvictionSoft = strMap{s: "10%"}
		c.EvictionSoftGracePeriod = nil
	case 5:
		set(&c.EvictionSoftGracePeriod, s, pick(g, "-1m", "5", "", "1d", "m", "1 m", "1m 30s", "one minute", "-0.5s"))
	case 6:
		set(&c.EvictionSoftGracePeriod, badSignal, "1m")
	case 7:
		set(&c.EvictionMinimumReclaim, s, pick(g, "-1Gi", "abc", "0%", "-3%", "%", "", "10 Mi", "-500M"))
	case 8:
		set(&c.EvictionMinimumReclaim, badSignal, "1Gi")
	}
}

func genThresholds(g *gen) {
	hard := func(kv ...string) evictionConfig {
		c := evictionConfig{EvictionHard: strMap{}}
		for i := 0; i+1 < len(kv); i += 2 {
			c.EvictionHard[kv[i]] = kv[i+1]
		}
		return c
	}
	type named struct {
		n string
		c evictionConfig
	}
	cs := []named{
		{"empty", evictionConfig{}},
		{"linux defaults", hard("memory.available", "100Mi", "nodefs.available", "10%", "nodefs.inodesFree", "5%", "imagefs.available", "15%", "imagefs.inodesFree", "5%")},
		{"eks optimised image defaults", hard("memory.available", "100Mi", "nodefs.available", "10%", "nodefs.inodesFree", "5%")},
		{"zero percent is ignored", hard("memory.available", "0%", "nodefs.available", "10%")},
		{"hundred percent is ignored", hard("memory.available", "100%", "nodefs.available", "10%")},
		{"zero with a decimal is kept", hard("nodefs.available", "0.0%")},
		{"hundred with a decimal is kept", hard("nodefs.available", "100.0%")},
		{"two percent signs", hard("nodefs.available", "10%%")},
		{"not a number percent", hard("nodefs.available", "NaN%")},
		{"exponent percent", hard("nodefs.available", "1e1%")},
		{"hex percent", hard("nodefs.available", "0x10p0%")},
		{"zero quantity", hard("memory.available", "0")},
		{"negative quantity", hard("memory.available", "-100Mi")},
		{"pods enforcement copies the hard memory threshold", evictionConfig{EnforceNodeAllocatable: []string{"pods"}, EvictionHard: strMap{"memory.available": "100Mi"}, EvictionMinimumReclaim: strMap{"memory.available": "50Mi"}}},
		{"pods enforcement does not copy a soft one", evictionConfig{EnforceNodeAllocatable: []string{"pods"}, EvictionSoft: strMap{"memory.available": "100Mi"}, EvictionSoftGracePeriod: strMap{"memory.available": "30s"}}},
		{"soft with a zero grace period is hard", evictionConfig{EnforceNodeAllocatable: []string{"pods"}, EvictionSoft: strMap{"memory.available": "5%"}, EvictionSoftGracePeriod: strMap{"memory.available": "0s"}}},
		{"soft without grace", evictionConfig{EvictionSoft: strMap{"memory.available": "5%"}}},
		{"grace without soft", evictionConfig{EvictionSoftGracePeriod: strMap{"memory.available": "30s"}}},
		{"minimum reclaim zero quantity", evictionConfig{EvictionHard: strMap{"nodefs.available": "10%"}, EvictionMinimumReclaim: strMap{"nodefs.available": "0"}}},
		{"minimum reclaim zero percent", evictionConfig{EvictionHard: strMap{"nodefs.available": "10%"}, EvictionMinimumReclaim: strMap{"nodefs.available": "0%"}}},
		{"minimum reclaim over a hundred percent", evictionConfig{EvictionHard: strMap{"nodefs.available": "10%"}, EvictionMinimumReclaim: strMap{"nodefs.available": "250%"}}},
		{"errors: hard before soft", evictionConfig{EvictionHard: strMap{"memory.available": "oops"}, EvictionSoft: strMap{"nope": "1"}}},
		{"errors: soft before grace", evictionConfig{EvictionSoft: strMap{"nope": "1"}, EvictionSoftGracePeriod: strMap{"memory.available": "oops"}}},
		{"errors: grace before minimum reclaim", evictionConfig{EvictionSoftGracePeriod: strMap{"memory.available": "oops"}, EvictionMinimumReclaim: strMap{"nope": "1"}}},
		{"errors: minimum reclaim before missing grace", evictionConfig{EvictionSoft: strMap{"memory.available": "5%"}, EvictionMinimumReclaim: strMap{"nope": "1"}}},
	}

	for _, c := range cs {
		g.add(c.n, c.c, parseAnswer(c.c))
	}
	errs := 0
	for i := 0; i < g.n(300); i++ {
		c := g.evictionConfig()
		if g.chance(0.32) {
			g.spoil(&c)
		}
		a := parseAnswer(c)
		if a["ok"] == false {
			errs++
		}
		g.add(fmt.Sprintf("random %d", i), c, a)
	}
	stats["thresholds"] = fmt.Sprintf("random errors %d", errs)
}

type observation struct {
	Available int64 `json:"available"`
	Capacity  int64 `json:"capacity"`
}

func metAnswer(c evictionConfig, obs map[string]observation, enforce bool) (M, int, int) {
	ts, err := c.parse()
	must(err)
	ts = sortThresholds(ts)
	o := map[evictionapi.Signal]eviction.ExportObservation{}
	for s, v := range obs {
		f := resource.BinarySI
		if s == "pid.available" || s == "nodefs.inodesFree" || s == "imagefs.inodesFree" {
			f = resource.DecimalSI
		}
		o[evictionapi.Signal(s)] = eviction.ExportObservation{Available: resource.NewQuantity(v.Available, f), Capacity: resource.NewQuantity(v.Capacity, f)}
	}
	met := eviction.ExportThresholdsMet(ts, o, enforce)
	isMet := func(t evictionapi.Threshold) bool {
		for _, m := range met {
			if m.Signal == t.Signal && m.GracePeriod == t.GracePeriod && m.Value == t.Value {
				return true
			}
		}
		return false
	}
	l := L{}
	nm := 0
	for _, t := range ts {
		row := M{"signal": string(t.Signal), "gracePeriod": t.GracePeriod.String(), "observed": false, "quantity": nil, "minReclaim": nil, "met": isMet(t)}
		if v, ok := o[t.Signal]; ok {
			q := evictionapi.GetThresholdQuantity(t.Value, v.Capacity)
			row["observed"] = true
			row["quantity"] = M{"value": strconv.FormatInt(q.Value(), 10), "canonical": q.String()}
			if t.MinReclaim != nil {
				r := evictionapi.GetThresholdQuantity(*t.MinReclaim, v.Capacity)
				row["minReclaim"] = M{"value": strconv.FormatInt(r.Value(), 10), "canonical": r.String()}
			}
		}
		if row["met"] == true {
			nm++
		}
		l = append(l, row)
	}
	return M{"thresholds": l}, nm, len(ts)
}

func genThresholdsMet(g *gen) {
	type fx struct {
		n       string
		c       evictionConfig
		o       map[string]observation
		enforce bool
	}
	gi := int64(1) << 30
	mk := func(s, v string) evictionConfig { return evictionConfig{EvictionHard: strMap{s: v}} }
	at := func(s string, a, c int64) map[string]observation { return map[string]observation{s: {a, c}} }
	fs := []fx{
		{"exactly at the quantity", mk("memory.available", "100Mi"), at("memory.available", 104857600, 8*gi), false},
		{"one byte below", mk("memory.available", "100Mi"), at("memory.available", 104857599, 8*gi), false},
		{"ten percent of 100Gi is not exact", mk("nodefs.available", "10%"), at("nodefs.available", 10737418240, 100*gi), false},
		{"ten percent of 100Gi, where it ends", mk("nodefs.available", "10%"), at("nodefs.available", 10737418400, 100*gi), false},
		{"ten percent of 100Gi, just under", mk("nodefs.available", "10%"), at("nodefs.available", 10737418399, 100*gi), false},
		{"zero capacity", mk("nodefs.available", "10%"), at("nodefs.available", 0, 0), false},
		{"no observation", mk("pid.available", "10%"), at("nodefs.available", 0, 10), false},
		{"fraction quantity is compared exactly", mk("memory.available", "1.5"), at("memory.available", 1, 10), false},
		{"fraction quantity rounded up is not met", mk("memory.available", "1.5"), at("memory.available", 2, 10), false},
		{"minimum reclaim keeps it met", evictionConfig{EvictionHard: strMap{"nodefs.available": "10Gi"}, EvictionMinimumReclaim: strMap{"nodefs.available": "5Gi"}}, at("nodefs.available", 15*gi-1, 100*gi), true},
		{"minimum reclaim reached", evictionConfig{EvictionHard: strMap{"nodefs.available": "10Gi"}, EvictionMinimumReclaim: strMap{"nodefs.available": "5Gi"}}, at("nodefs.available", 15*gi, 100*gi), true},
		{"minimum reclaim not asked for", evictionConfig{EvictionHard: strMap{"nodefs.available": "10Gi"}, EvictionMinimumReclaim: strMap{"nodefs.available": "5Gi"}}, at("nodefs.available", 11*gi, 100*gi), false},
		{"hard and soft", evictionConfig{EvictionHard: strMap{"memory.available": "5%"}, EvictionSoft: strMap{"memory.available": "10%"}, EvictionSoftGracePeriod: strMap{"memory.available": "1m"}}, at("memory.available", gi/2, 8*gi), false},
	}

	met, all := 0, 0
	add := func(n string, c evictionConfig, o map[string]observation, e bool) {
		a, m, t := metAnswer(c, o, e)
		met, all = met+m, all+t
		g.add(n, M{"config": c, "observations": o, "enforceMinReclaim": e}, a)
	}
	for _, f := range fs {
		add(f.n, f.c, f.o, f.enforce)
	}
	for i := 0; i < g.n(260); i++ {
		c := g.evictionConfig()
		ts, err := c.parse()
		if err != nil || len(ts) == 0 {
			continue
		}
		o := map[string]observation{}
		enforce := g.chance(0.5)
		for _, t := range sortThresholds(ts) {
			if g.chance(0.05) {
				continue
			}
			s := string(t.Signal)
			if _, ok := o[s]; ok && g.chance(0.5) {
				continue
			}
			var capacity int64
			switch s {
			case "pid.available":
				capacity = pick(g, int64(32768), 4194304, 65536, g.between(1000, 100000))
			case "nodefs.inodesFree", "imagefs.inodesFree", "containerfs.inodesFree":
				capacity = g.between(100000, 60000000)
			case "memory.available", "allocatableMemory.available":
				capacity = pick(g, 2*gi, 4*gi, 8*gi, 16*gi, g.between(gi, 64*gi))
			default:
				capacity = pick(g, 20*gi, 80*gi, 100*gi, g.between(10*gi, 500*gi), 107362627584)
			}
			q := evictionapi.GetThresholdQuantity(t.Value, resource.NewQuantity(capacity, resource.BinarySI))
			if enforce && t.MinReclaim != nil && g.chance(0.7) {
				q.Add(*evictionapi.GetThresholdQuantity(*t.MinReclaim, resource.NewQuantity(capacity, resource.BinarySI)))
			}
			v := q.Value()
			a := v
			switch g.r.IntN(6) {
			case 0:
				a = v - 1
			case 1:
				a = v + 1
			case 2:
			case 3:
				a = int64(float64(v) * (0.3 + 0.69*g.r.Float64()))
			case 4:
				a = int64(float64(v) * (1.01 + g.r.Float64()))
			default:
				a = g.between(0, capacity)
			}
			o[s] = observation{max(min(a, capacity), 0), capacity}
		}
		add(fmt.Sprintf("random %d", i), c, o, enforce)
	}
	stats["thresholds-met"] = fmt.Sprintf("met %d of %d thresholds", met, all)
}
