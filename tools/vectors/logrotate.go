package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"time"

	internalapi "k8s.io/cri-api/pkg/apis"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
	kubecontainer "k8s.io/kubernetes/pkg/kubelet/container"
	"k8s.io/kubernetes/pkg/kubelet/logs"
)

type logFile struct {
	Name string `json:"name"`
	Size int64  `json:"sizeBytes"`
}

type logInput struct {
	MaxSize    string    `json:"containerLogMaxSize"`
	MaxFiles   int       `json:"containerLogMaxFiles"`
	Now        string    `json:"now"`
	State      string    `json:"containerState"`
	ReopenFail bool      `json:"reopenFails,omitempty"`
	Files      []logFile `json:"files"`
}

type logCRI struct {
	internalapi.RuntimeService
	path, state string
	fail        bool
}

func (f *logCRI) ListContainers(context.Context, *runtimeapi.ContainerFilter) ([]*runtimeapi.Container, error) {
	return []*runtimeapi.Container{{Id: "c", State: criStates[f.state], Metadata: &runtimeapi.ContainerMetadata{Name: "app"}}}, nil
}
func (f *logCRI) ContainerStatus(context.Context, string, bool) (*runtimeapi.ContainerStatusResponse, error) {
	return &runtimeapi.ContainerStatusResponse{Status: &runtimeapi.ContainerStatus{Id: "c", State: criStates[f.state], LogPath: f.path}}, nil
}
func (f *logCRI) ReopenContainerLog(context.Context, string) error {
	if f.fail {
		return fmt.Errorf("cannot reopen")
	}
	h, err := os.OpenFile(f.path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err == nil {
		h.Close()
	}
	return err
}

func logAnswer(in logInput) M {
	now, err := time.Parse(time.RFC3339, in.Now)
	must(err)
	dir, err := os.MkdirTemp("", "vectors")
	must(err)
	defer os.RemoveAll(dir)
	for _, f := range in.Files {
		h, err := os.Create(filepath.Join(dir, f.Name))
		must(err)
		must(h.Truncate(f.Size))
		must(h.Close())
	}
	m, err := logs.ExportNew(&logCRI{path: filepath.Join(dir, "0.log"), state: in.State, fail: in.ReopenFail}, kubecontainer.RealOS{}, in.MaxSize, in.MaxFiles, func() time.Time { return now })
	if err != nil {
		return M{"ok": false, "error": err.Error()}
	}
	on, err := logs.ExportRotate(context.Background(), m)
	es, err2 := os.ReadDir(dir)
	must(err2)
	files := L{}
	for _, e := range es {
		i, err := e.Info()
		must(err)
		f := M{"name": e.Name(), "sizeBytes": i.Size()}
		if strings.HasSuffix(e.Name(), ".gz") {
			f["sizeBytes"] = nil
		}
		files = append(files, f)
	}
	return M{"ok": true, "error": errText(err), "rotationOn": on, "filesAfter": files}
}

func genLogs(g *gen) {
	rotated := 0
	add := func(n string, in logInput) {
		sort.Slice(in.Files, func(i, j int) bool { return in.Files[i].Name < in.Files[j].Name })
		a := logAnswer(in)
		if fs, ok := a["filesAfter"].(L); ok {
			was := map[string]bool{}
			for _, f := range in.Files {
				was[f.Name] = true
			}
			for _, f := range fs {
				if !was[f.(M)["name"].(string)] {
					rotated++
					break
				}
			}
		}
		g.add(n, in, a)
	}
	now := "2025-03-04T05:06:07Z"

	fl := func(kv ...any) []logFile {
		out := []logFile{}
		for i := 0; i < len(kv); i += 2 {
			out = append(out, logFile{kv[i].(string), int64(kv[i+1].(int))})
		}
		return out
	}
	old := fl("0.log", 11000, "0.log.20250101-000000.gz", 10, "0.log.20250102-000000.gz", 10, "0.log.20250103-000000.gz", 10, "0.log.20250104-000000", 10500)
	add("small log stays", logInput{"10Ki", 5, now, "running", false, fl("0.log", 10239)})
	add("exactly at the size", logInput{"10Ki", 5, now, "running", false, fl("0.log", 10240)})
	add("first rotation", logInput{"10Ki", 5, now, "running", false, fl("0.log", 20000)})
	for _, n := range []int{2, 3, 4, 5, 6, 10} {
		add(fmt.Sprintf("at most %d files", n), logInput{"10Ki", n, now, "running", false, old})
	}
	add("exited container", logInput{"10Ki", 5, now, "exited", false, old})
	add("leftovers are cleaned", logInput{"10Ki", 5, now, "running", false, fl("0.log", 20000, "0.log.20250101-000000", 5, "0.log.20250101-000000.gz", 5, "0.log.20250102-000000.tmp", 7)})
	add("leftovers stay when the log is small", logInput{"10Ki", 5, now, "running", false, fl("0.log", 2, "0.log.20250102-000000.tmp", 7)})
	add("reopen fails", logInput{"10Ki", 5, now, "running", true, old})
	add("log is missing", logInput{"10Ki", 5, now, "running", false, fl("0.log.20250102-000000.gz", 7)})
	add("size zero", logInput{"0", 5, now, "running", false, fl("0.log", 0)})
	add("negative size turns rotation off", logInput{"-1", 5, now, "running", false, old})
	add("one file is refused", logInput{"10Ki", 1, now, "running", false, old})
	add("size that is no quantity", logInput{"10KB", 5, now, "running", false, old})
	add("size with a fraction", logInput{"10.5Ki", 5, now, "running", false, old})
	add("size with a fraction of a byte", logInput{"1.5", 5, now, "running", false, old})

	for i := 0; i < g.n(110); i++ {
		in := logInput{MaxSize: pick(g, "10Ki", "1Ki", "64Ki", "10k", "0.5Ki", "20000"), MaxFiles: pick(g, 2, 3, 4, 5, 7), Now: now, State: pick(g, "running", "running", "running", "running", "running", "running", "exited"), ReopenFail: g.chance(0.05)}
		in.Files = fl("0.log", int(g.between(0, 40000)))
		for d := 0; d < int(g.between(0, 7)); d++ {
			n := fmt.Sprintf("0.log.2025010%d-%06d", d+1, g.between(0, 235959))
			switch g.r.IntN(6) {
			case 0:
				in.Files = append(in.Files, logFile{n, g.between(1, 9000)})
			case 1:
				in.Files = append(in.Files, logFile{n + ".tmp", g.between(1, 900)})
			case 2:
				in.Files = append(in.Files, logFile{n, g.between(1, 9000)}, logFile{n + ".gz", g.between(1, 900)})
			default:
				in.Files = append(in.Files, logFile{n + ".gz", g.between(1, 900)})
			}
		}
		add(fmt.Sprintf("random %d", i), in)
	}
	stats["log-rotation"] = fmt.Sprintf("rotated %d", rotated)
}
