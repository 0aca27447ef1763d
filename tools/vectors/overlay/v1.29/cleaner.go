package cleaner

// Added to the upstream package at build time (go build -overlay). Only exposes unexported functions; decides nothing.

import (
	"context"

	capi "k8s.io/api/certificates/v1"
)

// ExportHandle calls handle.
func (ccc *CSRCleanerController) ExportHandle(ctx context.Context, csr *capi.CertificateSigningRequest) error {
	return ccc.handle(ctx, csr)
}
