// Command vectors drives the upstream kubelet packages over seeded scenarios and writes what they answer as JSON.
// It only calls upstream functions: every expected value in the files is upstream's own answer.
package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"testing"

	"github.com/go-logr/logr"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/klog/v2"
)

// M is a JSON object.
type M = map[string]any

// L is a JSON array.
type L = []any

// Case is one vector.
type Case struct {
	Name     string `json:"name"`
	Input    any    `json:"input"`
	Expected any    `json:"expected"`
}

type gen struct {
	t     *testing.T
	r     *rand.Rand
	n     func(base int) int // how many random cases for this base
	cases []Case
	seen  map[string]bool
}

func (g *gen) add(name string, in, out any) {
	if g.seen[name] {
		for i := 2; ; i++ {
			if n := fmt.Sprintf("%s-%d", name, i); !g.seen[n] {
				name = n
				break
			}
		}
	}
	g.seen[name] = true
	g.cases = append(g.cases, Case{name, in, out})
}

func (g *gen) chance(p float64) bool { return g.r.Float64() < p }
func (g *gen) between(a, b int64) int64 {
	if b <= a {
		return a
	}
	return a + g.r.Int64N(b-a+1)
}
func pick[T any](g *gen, xs ...T) T { return xs[g.r.IntN(len(xs))] }

// subset keeps each element with probability p.
func subset[T any](g *gen, p float64, xs ...T) []T {
	out := []T{}
	for _, x := range xs {
		if g.chance(p) {
			out = append(out, x)
		}
	}
	return out
}

type family struct {
	name string
	f    func(*gen)
}

var families = []family{
	{"quantity", genQuantity},
	{"thresholds", genThresholds},
	{"thresholds-met", genThresholdsMet},
	{"eviction-rank", genRank},
	{"eviction-sync", genSync},
	{"image-gc", genImageGC},
	{"container-gc", genContainerGC},
	{"kubelet-validation", genValidation},
	{"kubelet-defaults", genDefaults},
	{"oom-score", genOOM},
	{"allocatable", genAllocatable},
	{"log-rotation", genLogs},
	{"pod-gc", genPodGC},
	{"csr-cleaner", genCSR},
	{"job-ttl", genTTL},
}

var (
	seed    = flag.Uint64("seed", 20250101, "seed of the random cases")
	scale   = flag.Float64("n", 1, "how many random cases, as a multiple of the usual count")
	out     = flag.String("out", "", "folder to write the files into")
	only    = flag.String("only", "", "comma-separated families (all when empty)")
	version = flag.String("k8s", "", "upstream version, for the record")
)

func main() {
	testing.Init()
	flag.Parse()
	if *out == "" {
		fmt.Fprintln(os.Stderr, "-out is needed")
		os.Exit(2)
	}
	klog.SetLogger(logr.Discard())
	utilruntime.ErrorHandlers = nil // they sleep by a clock that outlives each fake time
	// The testing package gives us the *testing.T that testing/synctest needs for its fake time.
	testing.Main(func(string, string) (bool, error) { return true, nil }, []testing.InternalTest{{Name: "vectors", F: generate}}, nil, nil)
}

func generate(t *testing.T) {
	if err := os.MkdirAll(*out, 0o755); err != nil {
		t.Fatal(err)
	}
	want := map[string]bool{}
	for _, f := range strings.Split(*only, ",") {
		if f != "" {
			want[f] = true
		}
	}
	counts := M{}
	for i, f := range families {
		if len(want) > 0 && !want[f.name] {
			continue
		}
		g := &gen{
			t: t, r: rand.New(rand.NewPCG(*seed, uint64(i+1)*7919)), seen: map[string]bool{},
			n: func(base int) int { return int(float64(base) * *scale) },
		}
		f.f(g)
		write(t, filepath.Join(*out, f.name+".json"), g.cases)
		counts[f.name] = len(g.cases)
		fmt.Fprintf(os.Stderr, "%-20s %5d  %s\n", f.name, len(g.cases), stats[f.name])
	}
	if len(want) == 0 {
		b := encode(t, M{"upstream": "k8s.io/kubernetes v" + *version, "cases": counts})
		if err := os.WriteFile(filepath.Join(*out, "index.json"), append(b, '\n'), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// stats are one-line summaries that the generators leave for the log.
var stats = map[string]string{}

func encode(t *testing.T, v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		t.Fatal(err)
	}
	return bytes.TrimRight(b.Bytes(), "\n")
}

// write puts one case on each line, so that a diff shows which case changed.
func write(t *testing.T, path string, cases []Case) {
	var b bytes.Buffer
	b.WriteString("[\n")
	for i, c := range cases {
		b.Write(encode(t, c))
		if i < len(cases)-1 {
			b.WriteByte(',')
		}
		b.WriteByte('\n')
	}
	b.WriteString("]\n")
	if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

// into decodes a plain JSON value into an upstream type, so that the input in the file is all that upstream saw.
func into(v, to any) {
	b, err := json.Marshal(v)
	must(err)
	d := json.NewDecoder(bytes.NewReader(b))
	if minor() >= 33 { // older API types lack some fields; an API server would drop them as well
		d.DisallowUnknownFields()
	}
	must(d.Decode(to))
}

// minor is the 34 of 1.34.4.
func minor() int {
	var m, p int
	_, err := fmt.Sscanf(*version, "1.%d.%d", &m, &p)
	must(err)
	return m
}

func sorted(xs []string) []string {
	out := append([]string{}, xs...)
	sort.Strings(out)
	return out
}

func errText(err error) any {
	if err == nil {
		return nil
	}
	return err.Error()
}
