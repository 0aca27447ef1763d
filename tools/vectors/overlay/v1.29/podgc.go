package podgc

// Added to the upstream package at build time (go build -overlay). Only exposes unexported functions; decides nothing.

import "context"

// ExportedGC calls gc.
func (gcc *PodGCController) ExportedGC(ctx context.Context) { gcc.gc(ctx) }

// ExportStop ends the queue's goroutines.
func (gcc *PodGCController) ExportStop() { gcc.nodeQueue.ShutDown() }
