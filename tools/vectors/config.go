package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"time"

	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/kubernetes/cmd/kubelet/app"
	kubeletconfig "k8s.io/kubernetes/pkg/kubelet/apis/config"
	"k8s.io/kubernetes/pkg/kubelet/apis/config/validation"
	"k8s.io/kubernetes/pkg/kubelet/eviction"
	"k8s.io/kubernetes/pkg/kubelet/images"
	"k8s.io/kubernetes/pkg/kubelet/logs"
)

// load puts the configuration in a file and reads it the way the kubelet does.
func load(cfg M) (kc *kubeletconfig.KubeletConfiguration, err error) {
	// Upstream's defaulting may panic (an unknown feature gate, for one): the kubelet would crash.
	defer func() {
		if r := recover(); r != nil {
			kc, err = nil, fmt.Errorf("panic: %v", r)
		}
	}()
	full := M{"apiVersion": "kubelet.config.k8s.io/v1beta1", "kind": "KubeletConfiguration"}
	for k, v := range cfg {
		full[k] = v
	}
	dir, err := os.MkdirTemp("", "vectors")
	must(err)
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "kubelet.json")
	b, err := json.Marshal(full)
	must(err)
	must(os.WriteFile(path, b, 0o600))
	kc, err = app.ExportLoad(path)
	if err != nil {
		return nil, fmt.Errorf("%s", strings.ReplaceAll(err.Error(), path, "<file>"))
	}
	return kc, nil
}

func validationAnswer(cfg M) M {
	kc, err := load(cfg)
	if err != nil {
		return M{"loadError": err.Error(), "errors": nil, "startup": nil}
	}
	err = validation.ValidateKubeletConfiguration(kc, utilfeature.DefaultFeatureGate)
	out := []string{}
	if err != nil {
		if agg, ok := err.(interface{ Errors() []error }); ok {
			for _, e := range agg.Errors() {
				out = append(out, e.Error())
			}
		} else {
			out = append(out, err.Error())
		}
	}
	sort.Strings(out)
	// What validation lets through and the kubelet refuses later, while it starts.
	startup := M{}
	_, err = eviction.ParseThresholdConfig(kc.EnforceNodeAllocatable, kc.EvictionHard, kc.EvictionSoft, kc.EvictionSoftGracePeriod, kc.EvictionMinimumReclaim)
	startup["eviction"] = errText(err)
	_, err = app.ExportParseResourceList(kc.KubeReserved)
	startup["kubeReserved"] = errText(err)
	_, err = app.ExportParseResourceList(kc.SystemReserved)
	startup["systemReserved"] = errText(err)
	_, err = logs.ExportNew(nil, nil, kc.ContainerLogMaxSize, int(kc.ContainerLogMaxFiles), time.Now)
	startup["containerLogs"] = errText(err)
	_, err = images.ExportNewImageGC(nil, nil, nil, images.ImageGCPolicy{HighThresholdPercent: int(kc.ImageGCHighThresholdPercent), LowThresholdPercent: int(kc.ImageGCLowThresholdPercent)})
	startup["imageGC"] = errText(err)
	return M{"loadError": nil, "errors": out, "startup": startup}
}

// field is a KubeletConfiguration field with good and bad values.
type field struct {
	name      string
	good, bad L
}

func fields() []field {
	return []field{
		{"imageGCHighThresholdPercent", L{85, 90, 100, 75}, L{101, 0, 80, -1, 250}},
		{"imageGCLowThresholdPercent", L{80, 70, 0, 50}, L{85, 86, 100, 101, -1}},
		{"imageMinimumGCAge", L{"2m", "0s", "1h"}, L{"200h", "-1m"}},
		{"imageMaximumGCAge", L{"0s", "168h", "24h30m"}, L{"1m", "2m", "-1s", "1ms"}},
		{"maxPods", L{110, 58, 0, 250}, L{-1, -110}},
		{"podsPerCore", L{0, 10}, L{-1}},
		{"containerLogMaxSize", L{"10Mi", "50Mi", "1Gi"}, L{"-1", "abc", "0", "10MB"}},
		{"containerLogMaxFiles", L{5, 2, 10}, L{1, 0, -3}},
		{"containerLogMaxWorkers", L{1, 4}, L{0, -1}},
		{"containerLogMonitorInterval", L{"10s", "3s", "1m"}, L{"2.999s", "0s", "1s", "-10s"}},
		{"evictionPressureTransitionPeriod", L{"5m", "30s"}, L{"-5m"}},
		{"evictionMaxPodGracePeriod", L{0, 60}, L{-1}},
		{"evictionHard", L{M{"memory.available": "100Mi"}, M{"nodefs.available": "10%"}}, L{M{"memory.available": "lots"}, M{"nothing": "1"}}},
		{"evictionSoft", L{M{"memory.available": "1Gi"}}, L{M{"memory.available": "1Gi", "x": "y"}}},
		{"evictionMinimumReclaim", L{M{"nodefs.available": "1Gi"}}, L{M{"nodefs.available": "-1Gi"}}},
		{"nodeStatusMaxImages", L{50, -1, 0}, L{-2, -100}},
		{"registryPullQPS", L{5, 0, 20}, L{-1}},
		{"registryBurst", L{10, 0}, L{-5}},
		{"maxParallelImagePulls", L{1}, L{0, -2, 5}},
		{"serializeImagePulls", L{true, false}, L{true}},
		{"eventBurst", L{100}, L{-1}},
		{"eventRecordQPS", L{50, 0}, L{-1}},
		{"kubeAPIQPS", L{50}, L{-1}},
		{"kubeAPIBurst", L{100}, L{-1}},
		{"maxOpenFiles", L{1000000}, L{-1}},
		{"oomScoreAdj", L{-999, 0}, L{1001, -1001}},
		{"kubeReserved", L{M{"cpu": "80m", "memory": "893Mi"}}, L{M{"cpu": "lots"}}},
		{"systemReserved", L{M{"memory": "100Mi"}}, L{M{"disk": "1Gi"}}},
		{"enforceNodeAllocatable", L{L{"pods"}, L{"none"}, L{}}, L{L{"pods", "pods"}, L{"none", "pods"}, L{"system-reserved"}, L{"pods", "kube-reserved"}, L{"everything"}, L{"pods", "system-reserved", "system-reserved-compressible"}, L{"kube-reserved-compressible", "kube-reserved"}}},
		{"systemReservedCgroup", L{"/system.slice"}, L{""}},
		{"kubeReservedCgroup", L{"/runtime.slice"}, L{""}},
		{"reservedSystemCPUs", L{"0-1", "0,3"}, L{"a", "3-1"}},
		{"cgroupsPerQOS", L{true}, L{false}},
		{"systemCgroups", L{""}, L{"/system"}},
		{"nodeLeaseDurationSeconds", L{40}, L{-1}},
		{"healthzPort", L{10248, 0}, L{70000, -1}},
		{"readOnlyPort", L{0, 10255}, L{65536}},
		{"port", L{10250}, L{-5, 65536}},
		{"shutdownGracePeriod", L{"0s", "30s"}, L{"500ms", "-1s"}},
		{"shutdownGracePeriodCriticalPods", L{"0s"}, L{"10s", "100ms"}},
		{"memoryThrottlingFactor", L{0.9, 1.0}, L{0, 1.5, -0.1}},
		{"podLogsDir", L{"/var/log/pods", "/data/logs"}, L{"/var/log/../log/pods", "/var/log/pods/", "/journal/é"}},
		{"memorySwap", L{M{"swapBehavior": "NoSwap"}, M{}}, L{M{"swapBehavior": "UnlimitedSwap"}, M{"swapBehavior": "x"}}},
		{"topologyManagerPolicy", L{"none", "best-effort"}, L{"some"}},
		{"topologyManagerScope", L{"container", "pod"}, L{"node"}},
		{"hairpinMode", L{"promiscuous-bridge", "none"}, L{"bridge"}},
		{"iptablesMasqueradeBit", L{14}, L{32, -1}},
		{"cpuCFSQuotaPeriod", L{"100ms"}, L{"10ms", "2s", "0.1ms"}},
		{"reservedMemory", L{}, L{L{M{"numaNode": 0, "limits": M{"memory": "1Gi"}}}, L{M{"numaNode": 0, "limits": M{"cpu": "1"}}}, L{M{"numaNode": 0, "limits": M{"memory": "0"}}}}},
		{"featureGates", L{M{"ImageMaximumGCAge": true}, M{}}, L{M{"NoSuchGate": true}, M{"RotateKubeletServerCertificate": false}, M{"MemoryQoS": true}, M{"CustomCPUCFSQuotaPeriod": true}, M{"NodeSwap": false}}},
		{"serverTLSBootstrap", L{true, false}, L{true}},
		{"crashLoopBackOff", L{}, L{M{"maxContainerRestartPeriod": "10s"}, M{"maxContainerRestartPeriod": "1h"}}},
		{"enableSystemLogQuery", L{false}, L{true}},
		{"mergeDefaultEvictionSettings", L{true, false}, L{}},
	}
}

// known leaves out fields that this version does not know; the file loader would refuse them.
func (g *gen) known(fs []field) []field {
	out := []field{}
	for _, f := range fs {
		v := append(append(L{}, f.good...), f.bad...)
		if _, err := load(M{f.name: v[0]}); err == nil || !strings.Contains(err.Error(), "unknown field") {
			out = append(out, f)
		}
	}
	return out
}

func genValidation(g *gen) {
	withErrors, cases := 0, 0
	add := func(n string, cfg M) {
		a := validationAnswer(cfg)
		if e, ok := a["errors"].([]string); !ok || len(e) > 0 {
			withErrors++
		}
		cases++
		g.add(n, cfg, a)
	}
	fs := g.known(fields())
	add("nothing set", M{})
	add("an ordinary EKS node", M{"maxPods": 58, "kubeReserved": M{"cpu": "80m", "ephemeral-storage": "1Gi", "memory": "893Mi"}, "evictionHard": M{"memory.available": "100Mi", "nodefs.available": "10%", "nodefs.inodesFree": "5%"},
		"serializeImagePulls": false, "serverTLSBootstrap": true, "systemReservedCgroup": "/system", "kubeReservedCgroup": "/runtime", "featureGates": M{"RotateKubeletServerCertificate": true}})
	hand := []M{
		{"imageGCHighThresholdPercent": 80}, {"imageGCLowThresholdPercent": 85}, {"imageGCHighThresholdPercent": 50, "imageGCLowThresholdPercent": 50}, {"imageGCHighThresholdPercent": 0, "imageGCLowThresholdPercent": 0},
		{"imageGCHighThresholdPercent": 100, "imageGCLowThresholdPercent": 99}, {"imageGCHighThresholdPercent": -5, "imageGCLowThresholdPercent": -6}, {"imageGCHighThresholdPercent": 120, "imageGCLowThresholdPercent": 110},
		{"imageMaximumGCAge": "2m"}, {"imageMaximumGCAge": "2m1s"}, {"imageMaximumGCAge": "-1h"}, {"imageMaximumGCAge": "10m", "imageMinimumGCAge": "10m"}, {"imageMaximumGCAge": "10m", "imageMinimumGCAge": "1h"},
		{"containerLogMaxFiles": 1}, {"containerLogMaxFiles": 2}, {"containerLogMonitorInterval": "3s"}, {"containerLogMonitorInterval": "2s"}, {"containerLogMaxSize": "nonsense"},
		{"evictionHard": M{"nodefs.available": "200%"}}, {"evictionSoft": M{"memory.available": "1Gi"}}, {"maxPods": -1, "podsPerCore": -1, "nodeStatusMaxImages": -2},
		{"enforceNodeAllocatable": L{"system-reserved"}}, {"enforceNodeAllocatable": L{"system-reserved"}, "systemReservedCgroup": "/sys"}, {"enforceNodeAllocatable": L{"none", "pods"}}, {"enforceNodeAllocatable": L{"pods"}, "cgroupsPerQOS": false}, {"enforceNodeAllocatable": L{}, "cgroupsPerQOS": false},
		{"maxParallelImagePulls": 3}, {"maxParallelImagePulls": 3, "serializeImagePulls": false}, {"maxParallelImagePulls": 0}, {"maxParallelImagePulls": 1, "serializeImagePulls": true},
		{"reservedSystemCPUs": "0-1", "kubeReservedCgroup": "/x"}, {"featureGates": M{"Nope": true}, "imageGCHighThresholdPercent": 101}, {"kubeReserved": M{"cpu": "no"}},
	}

	for _, cfg := range hand {
		ok := true
		for k := range cfg {
			if _, err := load(M{k: cfg[k]}); err != nil && strings.Contains(err.Error(), "unknown field") {
				ok = false
			}
		}
		if ok {
			b, _ := json.Marshal(cfg)
			add("by hand "+string(b), cfg)
		}
	}
	for _, f := range fs {
		bad := f.bad

		if len(bad) > 2 {
			bad = bad[:2]
		}
		for i, v := range bad {
			add(fmt.Sprintf("only %s %d", f.name, i), M{f.name: v})
		}
	}
	for i := 0; i < g.n(170); i++ {
		cfg := M{}
		pBad := pick(g, 0.0, 0.1, 0.35)
		for _, f := range subset(g, 0.2, fs...) {
			vals := f.good
			if len(f.bad) > 0 && (g.chance(pBad) || len(vals) == 0) {
				if pBad == 0 {
					continue
				}
				vals = f.bad
			}
			cfg[f.name] = vals[g.r.IntN(len(vals))]
		}
		add(fmt.Sprintf("random %d", i), cfg)
	}
	stats["kubelet-validation"] = fmt.Sprintf("with errors %d of %d", withErrors, cases)
}

func defaultsAnswer(cfg M) M {
	kc, err := load(cfg)
	if err != nil {
		return M{"ok": false, "error": err.Error()}
	}
	b, err := app.ExportConfigz(kc)
	must(err)
	return M{"ok": true, "kubeletconfig": b}
}

func genDefaults(g *gen) {
	errs := 0
	add := func(n string, cfg M) {
		a := defaultsAnswer(cfg)
		if a["ok"] == false {
			errs++
		}
		g.add(n, cfg, a)
	}
	fs := g.known(fields())
	add("nothing set", M{})
	hand := []M{
		{"evictionHard": M{}}, {"evictionHard": M{"memory.available": "200Mi"}}, {"evictionHard": M{"memory.available": "200Mi"}, "mergeDefaultEvictionSettings": true}, {"evictionHard": nil}, {"evictionHard": M{"imagefs.available": "0%"}, "mergeDefaultEvictionSettings": true}, {"mergeDefaultEvictionSettings": true},
		{"imageGCHighThresholdPercent": 0, "imageGCLowThresholdPercent": 0}, {"imageMinimumGCAge": "0s"}, {"imageMaximumGCAge": "90m"}, {"maxPods": 0}, {"podPidsLimit": 0}, {"podPidsLimit": 1024}, {"enforceNodeAllocatable": L{}}, {"enforceNodeAllocatable": nil}, {"containerLogMaxSize": ""}, {"containerLogMaxFiles": 0}, {"containerLogMonitorInterval": "0s"},
		{"evictionPressureTransitionPeriod": "0s"}, {"registryPullQPS": 0, "registryBurst": 0}, {"nodeStatusMaxImages": -1}, {"nodeStatusUpdateFrequency": "10s"}, {"nodeStatusUpdateFrequency": "20s", "nodeStatusReportFrequency": "0s"}, {"serializeImagePulls": false}, {"serializeImagePulls": false, "maxParallelImagePulls": 5},
		{"maxPods": "many"}, {"imageGCHighThresholdPercnt": 85}, {"imageMinimumGCAge": 120}, {"imageMinimumGCAge": "2 minutes"}, {"evictionHard": "memory.available<100Mi"}, {"evictionHard": M{"memory.available": 100}}, {"authentication": M{"anonymous": M{"enabled": false}}}, {"featureGates": M{"A": "b"}},
		{"logging": M{"format": "json", "verbosity": 4}}, {"cgroupsPerQOS": false}, {"kubeReserved": M{"cpu": "80m"}}, {"port": 0, "readOnlyPort": 0}, {"volumePluginDir": ""}, {"localStorageCapacityIsolation": false}, {"tlsMinVersion": "VersionTLS12"},
	}

	for _, cfg := range hand {
		b, _ := json.Marshal(cfg)
		add("by hand "+string(b), cfg)
	}
	for i := 0; i < g.n(70); i++ {
		cfg := M{}
		for _, f := range subset(g, 0.15, fs...) {
			if len(f.good) == 0 {
				continue
			}
			cfg[f.name] = f.good[g.r.IntN(len(f.good))]
		}
		add(fmt.Sprintf("random %d", i), cfg)
	}
	stats["kubelet-defaults"] = fmt.Sprintf("errors %d", errs)
}
