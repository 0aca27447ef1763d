package app

// Added to the upstream package at build time (go build -overlay). Only exposes unexported functions; decides nothing.

import (
	"context"
	"encoding/json"

	v1 "k8s.io/api/core/v1"
	"k8s.io/component-base/configz"
	kubeletconfiginternal "k8s.io/kubernetes/pkg/kubelet/apis/config"
)

// ExportLoad calls loadConfigFile.
func ExportLoad(path string) (*kubeletconfiginternal.KubeletConfiguration, error) {
	return loadConfigFile(context.Background(), path)
}

// ExportConfigz answers what /configz would show under "kubeletconfig".
func ExportConfigz(kc *kubeletconfiginternal.KubeletConfiguration) (json.RawMessage, error) {
	cz, err := configz.New("kubeletconfig")
	if err != nil {
		return nil, err
	}
	defer configz.Delete("kubeletconfig")
	if err := setConfigz(cz, kc); err != nil {
		return nil, err
	}
	return json.Marshal(cz)
}

// ExportParseResourceList calls parseResourceList.
func ExportParseResourceList(m map[string]string) (v1.ResourceList, error) {
	return parseResourceList(m)
}
