package main

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"math/big"
	"sort"
	"testing"
	"testing/synctest"
	"time"

	batch "k8s.io/api/batch/v1"
	capi "k8s.io/api/certificates/v1"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/kubernetes/pkg/controller/certificates/cleaner"
	"k8s.io/kubernetes/pkg/controller/podgc"
	"k8s.io/kubernetes/pkg/controller/ttlafterfinished"
)

type gcPodIn struct {
	Name      string `json:"name"`
	Namespace string `json:"namespace"`
	Phase     string `json:"phase"`
	Reason    string `json:"reason,omitempty"`
	Created   string `json:"creationTimestamp"`
	Node      string `json:"nodeName,omitempty"`
	Deleting  bool   `json:"deleting,omitempty"`
}

type gcNodeIn struct {
	Name         string `json:"name"`
	Ready        bool   `json:"ready"`
	OutOfService bool   `json:"outOfServiceTaint,omitempty"`
}

type podGCInput struct {
	Threshold int        `json:"terminatedPodGCThreshold"`
	Pods      []gcPodIn  `json:"pods"`
	Nodes     []gcNodeIn `json:"nodes"`
}

func podGCAnswer(t *testing.T, in podGCInput) M {
	var out M
	synctest.Test(t, func(t *testing.T) {
		ctx := context.Background()
		var objs []runtime.Object
		var pods []*v1.Pod
		for _, p := range in.Pods {
			ts, err := time.Parse(time.RFC3339, p.Created)
			must(err)
			pod := &v1.Pod{ObjectMeta: metav1.ObjectMeta{Name: p.Name, Namespace: p.Namespace, CreationTimestamp: metav1.NewTime(ts)}, Spec: v1.PodSpec{NodeName: p.Node}, Status: v1.PodStatus{Phase: v1.PodPhase(p.Phase), Reason: p.Reason}}
			if p.Deleting {
				d := metav1.NewTime(ts.Add(time.Minute))
				pod.DeletionTimestamp = &d
				pod.Finalizers = []string{"example.com/wait"}
			}
			pods = append(pods, pod)
			objs = append(objs, pod)
		}
		var nodes []*v1.Node
		for _, n := range in.Nodes {
			node := &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: n.Name}}
			st := v1.ConditionFalse
			if n.Ready {
				st = v1.ConditionTrue
			}
			node.Status.Conditions = []v1.NodeCondition{{Type: v1.NodeReady, Status: st}}
			if n.OutOfService {
				node.Spec.Taints = []v1.Taint{{Key: v1.TaintNodeOutOfService, Effect: v1.TaintEffectNoExecute}}
			}
			nodes = append(nodes, node)
			objs = append(objs, node)
		}
		client := fake.NewSimpleClientset(objs...)
		f := informers.NewSharedInformerFactory(client, 0)
		pi, ni := f.Core().V1().Pods(), f.Core().V1().Nodes()
		c := podgc.NewPodGC(ctx, client, pi, ni, in.Threshold)
		for _, p := range pods {
			must(pi.Informer().GetStore().Add(p))
		}
		for _, n := range nodes {
			must(ni.Informer().GetStore().Add(n))
		}
		pass := func() []string {
			client.ClearActions()
			c.ExportedGC(ctx)
			seen := map[string]bool{}
			for _, a := range client.Actions() {
				if d, ok := a.(clienttesting.DeleteAction); ok {
					seen[d.GetNamespace()+"/"+d.GetName()] = true
				}
			}
			l := []string{}
			for k := range seen {
				l = append(l, k)
			}
			sort.Strings(l)
			for _, p := range pods {
				if seen[p.Namespace+"/"+p.Name] {
					must(pi.Informer().GetStore().Delete(p))
				}
			}
			return l
		}
		first := pass()
		time.Sleep(41 * time.Second)
		synctest.Wait()
		second := pass()
		c.ExportStop()
		time.Sleep(5 * time.Second) // the queue's goroutines end on their next tick
		synctest.Wait()
		out = M{"firstPass": first, "after41s": second}
	})
	return out
}

func genPodGC(g *gen) {
	deleting := 0
	add := func(n string, in podGCInput) {
		if in.Nodes == nil {
			in.Nodes = []gcNodeIn{}
		}
		a := podGCAnswer(g.t, in)
		if len(a["firstPass"].([]string)) > 0 {
			deleting++
		}
		g.add(n, in, a)
	}
	t := func(min int) string { return at(int64(min) * 60) }
	pods := []gcPodIn{{"old", "default", "Succeeded", "", t(0), "n1", false}, {"failed", "default", "Failed", "", t(5), "n1", false}, {"evicted", "default", "Failed", "Evicted", t(90), "n1", false},
		{"newest", "apps", "Succeeded", "", t(100), "n1", false}, {"running", "apps", "Running", "", t(1), "n1", false}, {"pending", "apps", "Pending", "", t(2), "", false}, {"unknown", "apps", "Unknown", "", t(3), "n1", false}, {"evicted-but-done", "apps", "Succeeded", "Evicted", t(6), "n1", false}}
	nodes := []gcNodeIn{{"n1", true, false}}
	for _, th := range []int{0, 1, 2, 3, 4, 5, 100, -1} {
		add(fmt.Sprintf("threshold %d", th), podGCInput{th, pods, nodes})
	}
	same := []gcPodIn{{"b", "default", "Failed", "", t(0), "n1", false}, {"a", "default", "Failed", "", t(0), "n1", false}, {"c", "default", "Failed", "", t(0), "n1", false}}
	add("same time: by name", podGCInput{1, same, nodes})
	add("pods on a node that is gone", podGCInput{100, []gcPodIn{{"here", "default", "Running", "", t(0), "n1", false}, {"lost", "default", "Running", "", t(0), "n2", false}, {"lost-done", "default", "Succeeded", "", t(0), "n2", false}, {"nowhere", "default", "Pending", "", t(0), "", false}}, nodes})
	add("terminating without a node", podGCInput{100, []gcPodIn{{"a", "default", "Pending", "", t(0), "", true}, {"b", "default", "Running", "", t(0), "n1", true}, {"c", "default", "Pending", "", t(0), "", false}}, nodes})
	add("terminating on a node that is out of service", podGCInput{100, []gcPodIn{{"a", "default", "Running", "", t(0), "down", true}, {"b", "default", "Running", "", t(0), "down", false}, {"c", "default", "Running", "", t(0), "tainted-ready", true}, {"d", "default", "Running", "", t(0), "notready", true}},
		[]gcNodeIn{{"down", false, true}, {"tainted-ready", true, true}, {"notready", false, false}}})

	for i := 0; i < g.n(110); i++ {
		in := podGCInput{Threshold: int(g.between(0, 8)), Nodes: []gcNodeIn{{"n1", true, false}, {"n2", g.chance(0.5), g.chance(0.4)}}}
		for p := 0; p < int(g.between(3, 14)); p++ {
			in.Pods = append(in.Pods, gcPodIn{fmt.Sprintf("p%d", p), pick(g, "default", "apps"), pick(g, "Succeeded", "Failed", "Failed", "Running", "Pending"), pick(g, "", "", "", "Evicted", "NodeLost"), t(g.r.IntN(3000)), pick(g, "n1", "n1", "n2", "n2", "gone", ""), g.chance(0.12)})
		}
		add(fmt.Sprintf("random %d", i), in)
	}
	stats["pod-gc"] = fmt.Sprintf("cases that delete %d", deleting)
}

type csrCond struct {
	Type  string `json:"type"`
	AgeMs *int64 `json:"lastUpdateAgeMs"` // null: no time recorded
}

type csrInput struct {
	AgeMs       *int64    `json:"ageMs"` // null: no creation time
	Conditions  []csrCond `json:"conditions"`
	Certificate string    `json:"certificate"` // none, valid, garbage
	ExpiresInMs int64     `json:"certificateExpiresInMs"`
}

var (
	csrKey  ed25519.PrivateKey
	csrOnce bool
)

func csrAnswer(t *testing.T, in csrInput) M {
	var deleted bool
	if !csrOnce {
		_, k, err := ed25519.GenerateKey(rand.Reader)
		must(err)
		csrKey, csrOnce = k, true
	}
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(24 * 365 * time.Hour)
		now := time.Now()
		ago := func(ms *int64) metav1.Time {
			if ms == nil {
				return metav1.Time{}
			}
			return metav1.NewTime(now.Add(-time.Duration(*ms) * time.Millisecond))
		}
		csr := &capi.CertificateSigningRequest{ObjectMeta: metav1.ObjectMeta{Name: "csr", CreationTimestamp: ago(in.AgeMs)}}
		for _, c := range in.Conditions {
			csr.Status.Conditions = append(csr.Status.Conditions, capi.CertificateSigningRequestCondition{Type: capi.RequestConditionType(c.Type), Status: v1.ConditionTrue, LastUpdateTime: ago(c.AgeMs)})
		}
		switch in.Certificate {
		case "valid":
			tpl := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: now.Add(-1000 * time.Hour), NotAfter: now.Add(time.Duration(in.ExpiresInMs) * time.Millisecond)}
			der, err := x509.CreateCertificate(rand.Reader, tpl, tpl, csrKey.Public(), csrKey)
			must(err)
			csr.Status.Certificate = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
		case "garbage":
			csr.Status.Certificate = []byte("garbage")
		}
		client := fake.NewSimpleClientset(csr)
		f := informers.NewSharedInformerFactory(client, 0)
		c := cleaner.NewCSRCleanerController(client.CertificatesV1().CertificateSigningRequests(), f.Certificates().V1().CertificateSigningRequests())
		must(c.ExportHandle(context.Background(), csr))
		for _, a := range client.Actions() {
			if a.GetVerb() == "delete" {
				deleted = true
			}
		}
	})
	return M{"deleted": deleted}
}

func genCSR(g *gen) {
	deleted := 0
	add := func(n string, in csrInput) {
		if in.Conditions == nil {
			in.Conditions = []csrCond{}
		}
		a := csrAnswer(g.t, in)
		if a["deleted"] == true {
			deleted++
		}
		g.add(n, in, a)
	}
	h := int64(3600000)
	c := func(typ string, age int64) []csrCond { return []csrCond{{typ, &age}} }
	for _, d := range []int64{-1, 0, 1} {
		add(fmt.Sprintf("pending a day, %+d ms", d), csrInput{i64(24*h + d), nil, "none", 0})
		add(fmt.Sprintf("approved and issued an hour ago, %+d ms", d), csrInput{i64(2 * h), c("Approved", h+d), "valid", 100 * h})
		add(fmt.Sprintf("denied an hour ago, %+d ms", d), csrInput{i64(2 * h), c("Denied", h+d), "none", 0})
		add(fmt.Sprintf("failed an hour ago, %+d ms", d), csrInput{i64(2 * h), c("Failed", h+d), "none", 0})
		add(fmt.Sprintf("certificate ends, %+d s", d), csrInput{i64(h / 2), c("Approved", h/2), "valid", d * 1000})
	}
	add("approved, never issued, long ago", csrInput{i64(1000 * h), c("Approved", 999*h), "none", 0})
	add("pending without a creation time", csrInput{nil, nil, "none", 0})
	add("denied without a time", csrInput{i64(1000 * h), []csrCond{{"Denied", nil}}, "none", 0})
	add("issued, certificate is garbage", csrInput{i64(h / 2), c("Approved", h/2), "garbage", 0})
	add("issued without approval", csrInput{i64(1000 * h), nil, "valid", 1000 * h})

	for i := 0; i < g.n(110); i++ {
		in := csrInput{AgeMs: i64(g.between(0, 50*h)), Certificate: pick(g, "none", "none", "valid", "valid", "valid", "garbage"), ExpiresInMs: 1000 * g.between(-7200, 72000)}
		if g.chance(0.7) {
			in.Conditions = c(pick(g, "Approved", "Approved", "Approved", "Denied", "Failed"), g.between(0, 3*h))
			if g.chance(0.15) {
				in.Conditions = append(in.Conditions, c(pick(g, "Denied", "Failed"), g.between(0, 3*h))...)
			}
		}
		add(fmt.Sprintf("random %d", i), in)
	}
	stats["csr-cleaner"] = fmt.Sprintf("deleted %d", deleted)
}

type jobCond struct {
	Type   string `json:"type"`
	Status string `json:"status"`
	Time   string `json:"lastTransitionTime,omitempty"`
}

type ttlInput struct {
	TTL        *int32    `json:"ttlSecondsAfterFinished"`
	Conditions []jobCond `json:"conditions"`
	Now        string    `json:"now"`
}

func ttlAnswer(in ttlInput) M {
	now, err := time.Parse(time.RFC3339, in.Now)
	must(err)
	j := &batch.Job{ObjectMeta: metav1.ObjectMeta{Name: "job", Namespace: "default"}, Spec: batch.JobSpec{TTLSecondsAfterFinished: in.TTL}}
	for _, c := range in.Conditions {
		jc := batch.JobCondition{Type: batch.JobConditionType(c.Type), Status: v1.ConditionStatus(c.Status)}
		if c.Time != "" {
			ts, err := time.Parse(time.RFC3339, c.Time)
			must(err)
			jc.LastTransitionTime = metav1.NewTime(ts)
		}
		j.Status.Conditions = append(j.Status.Conditions, jc)
	}
	needed, left, err := ttlafterfinished.ExportTimeLeft(j, now)
	m := M{"needsCleanup": needed, "leftMs": nil, "expired": nil, "error": errText(err)}
	if left != nil {
		m["leftMs"], m["expired"] = left.Milliseconds(), *left <= 0
	}
	return m
}

func genTTL(g *gen) {
	needed := 0
	add := func(n string, in ttlInput) {
		if in.Conditions == nil {
			in.Conditions = []jobCond{}
		}
		a := ttlAnswer(in)
		if a["needsCleanup"] == true {
			needed++
		}
		g.add(n, in, a)
	}
	i32 := func(v int32) *int32 { return &v }
	done := func(typ string, sec int64) []jobCond { return []jobCond{{typ, "True", at(sec)}} }
	add("no ttl", ttlInput{nil, done("Complete", 0), at(1000)})
	add("not finished", ttlInput{i32(10), nil, at(1000)})
	add("suspended", ttlInput{i32(10), done("Suspended", 0), at(1000)})
	add("condition false", ttlInput{i32(10), []jobCond{{"Complete", "False", at(0)}}, at(1000)})
	for _, d := range []int64{99, 100, 101} {
		add(fmt.Sprintf("complete, %d of 100 s", d), ttlInput{i32(100), done("Complete", 0), at(d)})
		add(fmt.Sprintf("failed, %d of 100 s", d), ttlInput{i32(100), done("Failed", 0), at(d)})
	}
	add("ttl zero", ttlInput{i32(0), done("Complete", 50), at(50)})
	add("finished in the future", ttlInput{i32(10), done("Complete", 500), at(50)})
	add("no finish time", ttlInput{i32(10), []jobCond{{"Complete", "True", ""}}, at(50)})
	add("failure target is not the end", ttlInput{i32(10), done("FailureTarget", 0), at(50)})

	for i := 0; i < g.n(110); i++ {
		in := ttlInput{Now: at(g.between(0, 8000))}
		if g.chance(0.9) {
			in.TTL = i32(int32(g.between(0, 6000)))
		}
		if g.chance(0.9) {
			in.Conditions = done(pick(g, "Complete", "Complete", "Failed", "Suspended"), g.between(0, 8000))
		}
		add(fmt.Sprintf("random %d", i), in)
	}
	stats["job-ttl"] = fmt.Sprintf("needing cleanup %d", needed)
}
